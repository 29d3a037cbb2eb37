#include "doctor/recipes/conda_pins.h"

#include <vector>

#include "doctor/recipes/alignment_parts.h"
#include "doctor/versions.h"

namespace mynah::doctor {

Resolved resolve_any_build(const RecipeColumn& column, std::string_view package) {
  Resolved resolved = resolve(column, package);
  const std::vector<Specifier>& clauses = resolved.range.clauses;
  if (resolved.by != nullptr && !resolved.version && resolved.by->requirement->url == "conda" &&
      clauses.size() == 1 && clauses.front().relation == Specifier::Relation::Equal &&
      clauses.front().version.release.size() > 2) {
    resolved.version = clauses.front().version;
  }
  return resolved;
}

int cudnn_of_conda(const RecipeColumn& column, const Knowledge& knowledge) {
  const Resolved torch = resolve_any_build(column, "torch");
  const bool conda = torch.version && torch.by->requirement->url == "conda";
  const TorchRelease* const release = conda ? knowledge.torch_release(*torch.version) : nullptr;
  int found = 0;
  for (const TorchVariant& variant :
       release != nullptr ? release->variants : std::vector<TorchVariant>()) {
    const int major = variant.cudnn.empty() ? 0 : major_version(variant.cudnn);
    if (major != 0 && found != 0 && major != found) {
      return 0;
    }
    found = major != 0 ? major : found;
  }
  return found;
}

}  // namespace mynah::doctor
