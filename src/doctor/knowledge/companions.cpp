#include "doctor/knowledge/companions.h"

#include <algorithm>
#include <vector>

namespace mynah::doctor {

namespace {

// All pairs of one release of torch; empty: not known.
std::vector<CompanionPair> pairs_of(std::string_view package, const TorchRelease& release,
                                    const Knowledge& knowledge) {
  const std::optional<Claim>& claim = series_of_companion(package, release);
  const auto minor = Version::parse(claim ? claim->value : "");
  const auto torch = Version::parse(release.torch);
  if (!minor || !torch) {
    return {};
  }
  const std::vector<Version> own = releases_of_minor(package, *minor, knowledge);
  const std::vector<Version> torches = releases_of_minor("torch", *torch, knowledge);
  if (own.size() != torches.size()) {
    return {};
  }
  std::vector<CompanionPair> pairs;
  for (size_t i = 0; i < own.size(); ++i) {
    CompanionPair& pair = pairs.emplace_back();
    pair.verified = claim->verified;
    pair.source = claim->source;
    pair.torch = torches[i];
    pair.companion = own[i];
  }
  return pairs;
}

std::optional<CompanionPair> pair_where(std::string_view package, const Knowledge& knowledge,
                                        Version CompanionPair::* side, const Version& version) {
  for (const TorchRelease& release : knowledge.torch) {
    for (CompanionPair& pair : pairs_of(package, release, knowledge)) {
      if (pair.*side == version.public_part()) {
        return std::move(pair);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

const std::optional<Claim>& series_of_companion(std::string_view package,
                                                const TorchRelease& release) {
  return package == "torchaudio" ? release.torchaudio : release.torchvision;
}

std::optional<CompanionPair> pair_of_companion(std::string_view package, const Version& companion,
                                               const Knowledge& knowledge) {
  return pair_where(package, knowledge, &CompanionPair::companion, companion);
}

std::optional<CompanionPair> pair_of_torch(std::string_view package, const Version& torch,
                                           const Knowledge& knowledge) {
  return pair_where(package, knowledge, &CompanionPair::torch, torch);
}

std::vector<Version> releases_of_minor(std::string_view package, const Version& minor,
                                       const Knowledge& knowledge) {
  std::vector<Version> found;
  const PackageReleases* const listed = knowledge.releases_of(package);
  if (listed == nullptr) {
    return found;
  }
  for (const Version& version : listed->releases) {
    if (version.release_at(0) == minor.release_at(0) &&
        version.release_at(1) == minor.release_at(1)) {
      found.push_back(version);
    }
  }
  std::ranges::sort(found);
  return found;
}

bool has_build(std::string_view package, const Version& companion, std::string_view variant,
               const Knowledge& knowledge) {
  const auto pair = pair_of_companion(package, companion, knowledge);
  const TorchRelease* release = pair ? knowledge.torch_release(pair->torch) : nullptr;
  return release == nullptr || !variant.starts_with("cu") ||
         std::ranges::find(release->variants, variant, &TorchVariant::cuda) !=
             release->variants.end();
}

}  // namespace mynah::doctor
