#include <algorithm>
#include <charconv>
#include <set>
#include <string>

#include <fmt/format.h>

#include "doctor/characters.h"
#include "doctor/errors/patterns.h"
#include "doctor/knowledge/knowledge_files.h"
#include "formats/byte_reader.h"

namespace mynah::doctor {

namespace {

std::unexpected<Error> refused(std::string_view where, std::string_view why) {
  return fail(ErrorCode::InvalidInput, fmt::format("{}: {}", where, why));
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 6 && std::ranges::all_of(text, is_digit);
}

// "12.0", and where `family` is allowed "9.0a" and "10.0f".
bool is_capability(std::string_view text, bool family) {
  if (family && (text.ends_with('a') || text.ends_with('f'))) {
    text.remove_suffix(1);
  }
  const size_t dot = text.find('.');
  return dot != std::string_view::npos && is_number(text.substr(0, dot)) &&
         is_number(text.substr(dot + 1));
}

Status check_capabilities(std::string_view where, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (!is_capability(text, true)) {
      return refused(where,
                     fmt::format("wanted compute capabilities such as 12.0 or 9.0a, found {}",
                                 in_quotes(text)));
    }
  }
  return {};
}

Status check_version(std::string_view where, std::string_view text) {
  if (!text.empty() && !Version::parse(text)) {
    return refused(where, fmt::format("wanted a version, found {}", in_quotes(text)));
  }
  return {};
}

Status check_range(std::string_view where, const VersionRange& range) {
  if (range.below && *range.below <= range.from) {
    return refused(where, fmt::format("versions from {} on, below {}: none", range.from.text(),
                                      range.below->text()));
  }
  return {};
}

Status check_source(std::string_view where, const Source& fact) {
  if (fact.verified && fact.source.empty()) {
    return refused(where, "is verified, and names no source");
  }
  return {};
}

Status check_claim(std::string_view where, const std::optional<Claim>& claim) {
  return claim ? check_source(where, *claim) : Status{};
}

Status check_cards(const Knowledge& knowledge) {
  std::set<std::string> known;
  for (const Architecture& fact : knowledge.architectures) {
    const std::string where = "cards.json: architecture " + fact.compute_capability;
    if (!is_capability(fact.compute_capability, false) ||
        !known.insert(fact.compute_capability).second) {
      return refused(where, "wanted a compute capability that comes once");
    }
    MYNAH_TRY_STATUS(check_source(where, fact));
    MYNAH_TRY_STATUS(check_version(where, fact.first_toolkit.value));
    MYNAH_TRY_STATUS(check_source(where, fact.first_toolkit));
    for (const auto& claim : {fact.dropped_in, fact.last_driver, fact.first_driver}) {
      MYNAH_TRY_STATUS(check_claim(where, claim));
      MYNAH_TRY_STATUS(check_version(where, claim ? claim->value : ""));
    }
  }
  for (const Product& fact : knowledge.products) {
    const std::string where = "cards.json: product " + in_quotes(fact.name);
    if (!known.contains(fact.compute_capability)) {
      return refused(where, "its compute capability is none of the architectures");
    }
    MYNAH_TRY_STATUS(check_source(where, fact));
    // Two names that a look-up cannot tell apart would make it answer for the wrong card.
    const Product* const found = knowledge.card(fact.name);
    if (found == nullptr || found->compute_capability != fact.compute_capability) {
      return refused(where, "another product is called the same");
    }
  }
  return {};
}

Status check_drivers(const Knowledge& knowledge) {
  for (size_t i = 0; i < knowledge.branches.size(); ++i) {
    const DriverBranch& fact = knowledge.branches[i];
    const std::string where = fmt::format("drivers.json: branch {}", fact.branch);
    if (i > 0 && knowledge.branches[i - 1].branch >= fact.branch) {
      return refused(where, "wanted branches in ascending order");
    }
    MYNAH_TRY_STATUS(check_version(where, fact.cuda));
    MYNAH_TRY_STATUS(check_source(where, fact));
  }
  for (const PtxVersion& fact : knowledge.ptx_versions) {
    MYNAH_TRY_STATUS(check_version("drivers.json: ptx " + fact.isa, fact.cuda));
    MYNAH_TRY_STATUS(check_source("drivers.json: ptx " + fact.isa, fact));
  }
  for (const DriverFloor& fact : knowledge.floors) {
    const std::string where = "drivers.json: floor of CUDA " + fact.cuda.from.text();
    MYNAH_TRY_STATUS(check_range(where, fact.cuda));
    MYNAH_TRY_STATUS(check_version(where, fact.linux_driver));
    MYNAH_TRY_STATUS(check_version(where, fact.windows_driver));
    MYNAH_TRY_STATUS(check_source(where, fact));
  }
  for (const CudaToolkit& fact : knowledge.toolkits) {
    const std::string where = "toolkits.json: CUDA " + fact.cuda;
    MYNAH_TRY_STATUS(check_version(where, fact.cuda));
    MYNAH_TRY_STATUS(check_version(where, fact.driver_linux));
    MYNAH_TRY_STATUS(check_version(where, fact.driver_windows));
    MYNAH_TRY_STATUS(check_version(where, fact.cccl));
    MYNAH_TRY_STATUS(check_source(where, fact));
    MYNAH_TRY_STATUS(check_source(where, fact.host));
  }
  return {};
}

Status check_torch(const Knowledge& knowledge) {
  for (const TorchRelease& release : knowledge.torch) {
    const std::string where = "torch.json: release " + release.torch;
    MYNAH_TRY_STATUS(check_version(where, release.torch));
    MYNAH_TRY_STATUS(check_source(where, release));
    for (const auto& claim : {release.torchaudio, release.torchvision}) {
      MYNAH_TRY_STATUS(check_claim(where, claim));
      MYNAH_TRY_STATUS(check_version(where, claim ? claim->value : ""));
    }
    MYNAH_TRY_STATUS(check_claim(where, release.torchcodec));
    if (release.torchcodec) {
      MYNAH_TRY_STATUS(SpecifierSet::parse(release.torchcodec->value));
    }
    MYNAH_TRY_STATUS(check_source(where, release.default_variant));
    for (const TorchVariant& variant : release.variants) {
      const std::string of_variant = where + ", " + variant.cuda;
      if (!variant.cuda.starts_with("cu") || !is_number(variant.cuda.substr(2))) {
        return refused(of_variant, "wanted a variant such as cu126");
      }
      MYNAH_TRY_STATUS(check_source(of_variant, variant));
      MYNAH_TRY_STATUS(check_capabilities(of_variant, variant.architectures));
      MYNAH_TRY_STATUS(check_capabilities(of_variant, variant.ptx));
      MYNAH_TRY_STATUS(check_version(of_variant, variant.cudnn));
    }
    if (release.variant(release.default_variant.value) == nullptr) {
      return refused(where, "its default variant is none of its variants");
    }
  }
  return {};
}

template <class T>
Status check_releases(std::string_view file, const std::vector<T>& releases) {
  for (const T& release : releases) {
    const std::string where = fmt::format("{}: release {}", file, release.versions.from.text());
    MYNAH_TRY_STATUS(check_range(where, release.versions));
    MYNAH_TRY_STATUS(check_version(where, release.built_with));
    MYNAH_TRY_STATUS(check_source(where, release));
  }
  return {};
}

Status check_packages(const Knowledge& knowledge) {
  for (const WheelCode& fact : knowledge.wheels) {
    const std::string where =
        fmt::format("wheels.json: {} {}", fact.package, fact.versions.from.text());
    MYNAH_TRY_STATUS(check_range(where, fact.versions));
    MYNAH_TRY_STATUS(check_capabilities(where, fact.architectures));
    MYNAH_TRY_STATUS(check_capabilities(where, fact.ptx));
    MYNAH_TRY_STATUS(check_version(where, fact.cuda));
    MYNAH_TRY_STATUS(check_source(where, fact));
    if (!fact.ptx_isa.empty() && knowledge.ptx(fact.ptx_isa) == nullptr) {
      return refused(where, "its PTX version is none of drivers.json");
    }
  }
  for (const PackageNeeds& fact : knowledge.packages) {
    const std::string where =
        fmt::format("packages.json: {} {}", fact.package, fact.versions.from.text());
    MYNAH_TRY_STATUS(check_range(where, fact.versions));
    MYNAH_TRY_STATUS(check_source(where, fact));
    MYNAH_TRY_STATUS(SpecifierSet::parse(fact.python));
  }
  std::set<std::string> listed;
  for (const PackageReleases& fact : knowledge.releases) {
    const std::string where = "releases.json: " + fact.package;
    MYNAH_TRY_STATUS(check_source(where, fact));
    if (!listed.insert(fact.package).second || fact.releases.empty()) {
      return refused(where, "wanted a package that comes once, with a release");
    }
    if (std::ranges::adjacent_find(fact.releases, std::ranges::less_equal{}) !=
        fact.releases.end()) {
      return refused(where, "wanted releases that get older from one to the next");
    }
  }
  for (const Clash& fact : knowledge.clashes) {
    const std::string where = fmt::format("packages.json: {} with {}", fact.first, fact.second);
    MYNAH_TRY_STATUS(check_source(where, fact));
    if (!fact.error.empty() && knowledge.error(fact.error) == nullptr) {
      return refused(where, "its error is none of errors.json");
    }
  }
  for (const PackageIndex& fact : knowledge.indexes) {
    const std::string where = "packages.json: " + fact.index;
    MYNAH_TRY_STATUS(check_source(where, fact));
    for (const std::string& package : fact.lacks) {
      if (std::ranges::find(fact.has, package) != fact.has.end()) {
        return refused(where, fmt::format("has and lacks {}", in_quotes(package)));
      }
    }
  }
  for (const LlamaWheels& fact : knowledge.llama_wheels) {
    MYNAH_TRY_STATUS(check_source("llama.json: " + fact.cuda, fact));
  }
  return {};
}

Status check_models(const Knowledge& knowledge) {
  for (const ModelMemory& fact : knowledge.models) {
    const std::string where = fmt::format("models.json: {} {}", fact.name, fact.storage);
    if (fact.least_mib == 0 || fact.least_mib > fact.most_mib) {
      return refused(where, "wanted some memory, and no less at most than at least");
    }
    if (knowledge.model(fact.name, fact.storage) != &fact) {
      return refused(where, "comes twice");
    }
    MYNAH_TRY_STATUS(check_source(where, fact));
  }
  return {};
}

Status check_libraries(const Knowledge& knowledge) {
  std::set<std::pair<std::string, int>> known;
  for (const Library& fact : knowledge.libraries) {
    const std::string where = "libraries.json: " + fact.soname;
    if (!known.emplace(fact.name, fact.cuda_major).second) {
      return refused(where, "another library has its name and CUDA version");
    }
    MYNAH_TRY_STATUS(check_source(where, fact));
  }
  for (const Opener& fact : knowledge.openers) {
    MYNAH_TRY_STATUS(check_source("libraries.json: opener " + fact.library, fact));
  }
  for (const Capability& fact : knowledge.capabilities) {
    MYNAH_TRY_STATUS(check_source("containers.json: capability " + fact.name, fact));
  }
  for (const ImageSystem& fact : knowledge.systems) {
    const std::string where = fmt::format("containers.json: {} {}", fact.name, fact.version);
    MYNAH_TRY_STATUS(check_version(where, fact.glibc));
    MYNAH_TRY_STATUS(check_version(where, fact.python));
    MYNAH_TRY_STATUS(check_source(where, fact));
  }
  for (const GlibcWheels& fact : knowledge.glibc_wheels) {
    MYNAH_TRY_STATUS(check_source("wheels.json: glibc_only " + fact.package, fact));
  }
  std::set<std::string> notes;
  for (const Note& fact : knowledge.notes) {
    if (!notes.insert(fact.id).second) {
      return refused("notes", fmt::format("{} comes twice", in_quotes(fact.id)));
    }
    MYNAH_TRY_STATUS(check_source("note " + in_quotes(fact.id), fact));
  }
  return {};
}

// Whether a pattern takes all names of a text.
bool is_fillable(std::string_view text, const std::vector<Pattern>& patterns) {
  const std::vector<std::string> names = names_in(text);
  return std::ranges::any_of(patterns, [&](const Pattern& pattern) {
    const std::vector<std::string> own = pattern.names();
    return std::ranges::all_of(
        names, [&](const std::string& name) { return std::ranges::find(own, name) != own.end(); });
  });
}

// All that a remedy says.
std::string words_of(const Remedy& remedy) {
  std::string words = remedy.command + remedy.text;
  for (const RemedyStep& step : remedy.steps) {
    words += step.command + step.text;
  }
  return words;
}

Status check_error(const Knowledge& knowledge, const KnownError& error) {
  const std::string where = "errors.json: " + error.id;
  std::vector<Pattern> patterns;
  for (const std::string& text : error.patterns) {
    auto pattern = Pattern::parse(text);
    if (!pattern) {
      return std::unexpected(std::move(pattern).error().while_doing(where));
    }
    patterns.push_back(*std::move(pattern));
  }
  if (patterns.empty() || error.remedies.empty() || error.seen.empty()) {
    return refused(where, "wanted a pattern, a remedy and where it was seen");
  }
  if (!names_in(error.title + error.cause).empty()) {
    return refused(where, "wanted a title and a cause without {names}: not every pattern has them");
  }
  for (const Remedy& remedy : error.remedies) {
    if (!is_fillable(words_of(remedy), patterns)) {
      return refused(where, "a remedy has a {name} that no pattern takes");
    }
    if (remedy.steps.size() == 1 || (!remedy.steps.empty() && !remedy.command.empty())) {
      return refused(where, "wanted a command, or two steps or more in place of it");
    }
    if (remedy.text.starts_with("Then ") || remedy.text.starts_with("Or ")) {
      return refused(
          where,
          "a remedy begins with Then or Or: what follows on another is a step of it, and "
          "what stands in its place says so by its place");
    }
  }
  for (const std::string& root : error.follows) {
    if (root == error.id || knowledge.error(root) == nullptr) {
      return refused(where, fmt::format("follows {}, which is no other error", in_quotes(root)));
    }
  }
  const KnownError* plain = knowledge.error(error.instead_of);
  if (error.instead_of.empty() != error.beside.empty() ||
      std::ranges::find(error.beside, "") != error.beside.end() ||
      (!error.instead_of.empty() &&
       (plain == nullptr || plain == &error || !plain->instead_of.empty()))) {
    return refused(where, "wanted another error that it stands for, and what must stand beside it");
  }
  return check_source(where, error);
}

}  // namespace

Status check_knowledge(const Knowledge& knowledge) {
  MYNAH_TRY_STATUS(check_cards(knowledge));
  MYNAH_TRY_STATUS(check_drivers(knowledge));
  MYNAH_TRY_STATUS(check_torch(knowledge));
  MYNAH_TRY_STATUS(check_releases("onnxruntime.json", knowledge.onnxruntime));
  MYNAH_TRY_STATUS(check_releases("ctranslate2.json", knowledge.ctranslate2));
  MYNAH_TRY_STATUS(check_packages(knowledge));
  MYNAH_TRY_STATUS(check_models(knowledge));
  MYNAH_TRY_STATUS(check_libraries(knowledge));
  std::set<std::string> ids;
  for (const KnownError& error : knowledge.errors) {
    if (!ids.insert(error.id).second) {
      return refused("errors.json: " + error.id, "comes twice");
    }
    MYNAH_TRY_STATUS(check_error(knowledge, error));
  }
  return {};
}

}  // namespace mynah::doctor
