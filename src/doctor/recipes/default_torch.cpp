#include "doctor/recipes/default_torch.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/recipe_pythons.h"
#include "doctor/verdicts/known_framework.h"

namespace mynah::doctor {

namespace {

// All others, the newer ones from the nearest on, and behind them the older ones.
std::vector<const TorchRelease*> others(const Version& present, const Knowledge& knowledge) {
  const TorchRelease* const own = knowledge.torch_release(present);
  std::vector<const TorchRelease*> newer;
  std::vector<const TorchRelease*> older;
  for (const TorchRelease& release : knowledge.torch) {
    if (&release != own) {
      (own != nullptr && &release > own ? newer : older).push_back(&release);
    }
  }
  newer.insert(newer.end(), older.rbegin(), older.rend());
  return newer;
}

}  // namespace

std::optional<Version> default_torch(const RecipeColumn& column, const Version& present,
                                     const Knowledge& knowledge,
                                     const std::function<bool(const Framework&)>& works) {
  const Resolved asked = resolve(column, "torch");
  for (const TorchRelease* release : others(present, knowledge)) {
    const auto plain = Version::parse(release->torch + ".0");
    if (!plain || !release->verified || !release->default_variant.verified ||
        (!asked.version && !asked.range.contains(*plain)) ||
        !takes_python(column, "torch", *plain, knowledge)) {
      continue;
    }
    Version torch = with_variant(*plain, knowledge);
    const auto framework = known_framework("torch", torch, System::Linux, knowledge);
    if (!torch.local.empty() && framework && works(*framework)) {
      return torch;
    }
  }
  return std::nullopt;
}

}  // namespace mynah::doctor
