#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "doctor/characters.h"
#include "doctor/recipes/alignment_parts.h"
#include "doctor/recipes/recipe_drift.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/torch_index.h"
#include "doctor/verdicts/known_framework.h"
#include "doctor/verdicts/verdict.h"

namespace mynah::doctor {

namespace {

using Edits = std::vector<AlignmentEdit>;

constexpr size_t kMostCandidates = 200;

void add_edit(Edits& edits, AlignmentEdit edit) {
  const auto same = [&](const AlignmentEdit& other) {
    return other.file == edit.file && other.line == edit.line && other.from == edit.from &&
           other.to == edit.to;
  };
  // Columns share files: a line is changed once.
  if (edit.from != edit.to && std::ranges::none_of(edits, same)) {
    edits.push_back(std::move(edit));
  }
}

// The release of a companion that goes with a torch: "2.5.1" for torchaudio, "0.20.*" for
// torchvision. Empty: not known.
std::string companion_of(std::string_view package, const Version& torch,
                         const Knowledge& knowledge) {
  const TorchRelease* release = knowledge.torch_release(torch);
  if (release == nullptr) {
    return {};
  }
  if (package == "torchaudio") {
    return release->torchaudio && release->torchaudio->value == release->torch
               ? torch.public_part().text()
               : "";
  }
  return release->torchvision ? release->torchvision->value + ".*" : "";
}

bool goes_with(const Version& companion, std::string_view package, const Version& torch,
               const Knowledge& knowledge) {
  const std::string wanted = companion_of(package, torch, knowledge);
  const auto set = SpecifierSet::parse("==" + wanted);
  return wanted.empty() || (set && set->contains(companion.public_part()));
}

// Where a pin is changed: a lock is made anew from what its project asks for.
const Asked* written(const RecipeColumn& column, const Asked& asked) {
  const auto all = column.packages.find(asked.requirement->name);
  if (asked.requirement->locked && all != column.packages.end()) {
    for (const Asked& other : all->second) {
      if (!other.requirement->locked && !other.bound) {
        return &other;
      }
    }
  }
  return &asked;
}

AlignmentEdit edit_of(const RecipeColumn& column, const Asked& decides, std::string to,
                      std::string why) {
  const Asked& asked = *written(column, decides);
  AlignmentEdit edit;
  edit.file = asked.recipe->path;
  edit.line = asked.requirement->line;
  edit.from = asked.requirement->name + asked.requirement->specifier;
  edit.to = asked.requirement->name + std::move(to);
  edit.why = std::move(why);
  return edit;
}

// A pin as a file writes it: with the variant where it had one, which then needs no index line.
std::string pin(const Version& version, const Asked& asked) {
  const bool had_local = asked.requirement->specifier.find('+') != std::string::npos;
  return "==" + (had_local ? version : version.public_part()).text();
}

// The index line that gives a variant, where it has to change.
void edit_index(const RecipeColumn& column, const Version& target, const Asked& asked,
                const Knowledge& knowledge, Edits& edits) {
  const std::string variant = target.local_text();
  bool named = false;
  const auto change = [&](const std::string& url, const std::string& file, uint64_t line) {
    const std::string present = variant_of_index(url);
    if (present.empty()) {
      return;
    }
    named = true;
    AlignmentEdit edit;
    edit.file = file;
    edit.line = line;
    edit.from = url;
    edit.to = url.substr(0, url.rfind(present)) + variant;
    edit.why = fmt::format("wheels for {} come from there", variant);
    add_edit(edits, std::move(edit));
  };
  for (const std::string& url : asked.requirement->indexes) {
    change(url, asked.recipe->path, asked.requirement->line);
  }
  if (!asked.requirement->indexes.empty()) {
    return;
  }
  for (const Recipe* recipe : column.recipes) {
    for (const IndexLine& index : recipe->indexes) {
      change(index.url, index.file, index.line);
    }
  }
  const TorchRelease* release = knowledge.torch_release(target);
  if (!named && release != nullptr && release->default_variant.value != variant) {
    AlignmentEdit edit;
    edit.file = asked.recipe->path;
    edit.to = "--extra-index-url " + torch_index(variant);
    edit.why = fmt::format("wheels for {} come from there", variant);
    add_edit(edits, std::move(edit));
  }
}

void align_torch(const RecipeColumn& column, const Version& target, const Knowledge& knowledge,
                 Edits& edits) {
  const Resolved torch = resolve(column, "torch");
  const auto present = torch_of(column, knowledge);
  // One for the processor is meant to be, and of several nobody knows which.
  if (!torch.several.empty() || (present && cuda_of_variant(present->local_text()).empty())) {
    return;
  }
  if (torch.by != nullptr && (!present || *present != target)) {
    add_edit(edits, edit_of(column, *torch.by, pin(target, *torch.by),
                            torch.version ? "the others pin this one"
                                          : "another one comes on another day"));
  }
  if (torch.by != nullptr && (!present || present->local != target.local)) {
    edit_index(column, target, *torch.by, knowledge, edits);
  }
  for (const std::string_view package : {"torchaudio", "torchvision"}) {
    const Resolved companion = resolve(column, package);
    const std::string wanted = companion_of(package, target, knowledge);
    if (companion.by == nullptr || wanted.empty()) {
      continue;
    }
    const bool right_variant = !companion.version || companion.version->local.empty() ||
                               companion.version->local == target.local;
    if (companion.version && right_variant &&
        goes_with(*companion.version, package, target, knowledge)) {
      continue;
    }
    // torchvision's third number is not known here, so its variant comes from the index.
    const auto exact = Version::parse(wanted);
    Version version = exact ? *exact : Version();
    version.local = target.local;
    add_edit(edits,
             edit_of(column, *companion.by, exact ? pin(version, *companion.by) : "==" + wanted,
                     fmt::format("it goes with torch {}", target.public_part().text())));
  }
}

// Whether a package computes on all cards that there are; without a card, any does.
bool serves(std::string_view package, const Version& version, const Machine& machine,
            const Knowledge& knowledge) {
  const auto framework = known_framework(package, version, machine.system, knowledge);
  if (!framework) {
    return machine.cards.empty();
  }
  return std::ranges::all_of(machine.cards, [&](const Card& card) {
    const Judged judged = judge_framework(*framework, &card, machine, knowledge);
    return computes_on_card(judged) || judged.verdict.outcome == Outcome::Unknown;
  });
}

// CTranslate2 pinned where another version comes on another day: the newest that wants the CUDA and
// the cuDNN of the torch beside it, and that computes on the cards with their driver.
void pin_ctranslate2(const RecipeColumn& column, const Version* torch, const Machine& machine,
                     const Knowledge& knowledge, Edits& edits) {
  const Resolved own = resolve(column, "ctranslate2");
  const Derived other = own.by == nullptr ? derived(column, "ctranslate2", knowledge) : Derived();
  if (own.version || !own.several.empty() || (own.by == nullptr && other.by.empty())) {
    return;
  }
  const auto all = stretches("ctranslate2", own.by != nullptr ? own.range : other.range, knowledge);
  const TorchVariant* variant = torch != nullptr ? knowledge.torch_variant(*torch) : nullptr;
  const int cuda = torch != nullptr ? major_version(cuda_of_variant(torch->local_text())) : 0;
  // Another CUDA than torch's only where there is no other: its libraries must then come besides.
  for (const bool same_cuda : {true, false}) {
    for (auto stretch = all.rbegin(); stretch != all.rend(); ++stretch) {
      const bool right_cuda = cuda == 0 || !same_cuda || cuda == stretch->cuda_major;
      const bool right_cudnn = stretch->cudnn_major == 0 || variant == nullptr ||
                               major_version(variant->cudnn) == stretch->cudnn_major;
      if (!stretch->verified || !stretch->below || !right_cudnn || !right_cuda) {
        continue;
      }
      const auto version = Version::parse(last_before(*stretch->below));
      if (!version || !serves("ctranslate2", *version, machine, knowledge)) {
        continue;
      }
      const Asked& asked = own.by != nullptr ? *own.by : *other.asked;
      AlignmentEdit edit;
      edit.file = asked.recipe->path;
      edit.line = own.by != nullptr ? asked.requirement->line : 0;
      edit.from = own.by != nullptr ? "ctranslate2" + asked.requirement->specifier : "";
      edit.to = "ctranslate2==" + version->text();
      edit.why = fmt::format("it wants {}; unpinned, {}", stretch->wants, stretches_text(all));
      add_edit(edits, std::move(edit));
      return;
    }
  }
}

// An image of another CUDA than all wheels: the one of theirs, of the same flavour.
void align_image(const RecipeColumn& column, const Version& target, const Knowledge& knowledge,
                 Edits& edits) {
  const std::string cuda = cuda_of_variant(target.local_text());
  const std::string& image = column.image_says.cuda;
  if (cuda.empty() || image.empty() || major_version(cuda) == major_version(image) ||
      !column.image_says.torch.empty()) {
    return;
  }
  // Tags have three numbers; of versions that are listed with two, the first is sure to be there.
  const std::string prefix = cuda + ".";
  std::string version = prefix + "0";
  for (const CudaToolkit& toolkit : knowledge.toolkits) {
    version = toolkit.cuda.starts_with(prefix) ? toolkit.cuda : version;
  }
  std::string changed = column.image;
  const size_t at = changed.rfind(image);
  if (at == std::string::npos) {
    return;
  }
  changed.replace(at, image.size(), version);
  AlignmentEdit edit;
  const size_t colon = column.image_where.rfind(':');
  edit.file = column.image_where.substr(0, colon);
  for (const char c : column.image_where.substr(std::min(colon + 1, column.image_where.size()))) {
    edit.line = is_digit(c) ? edit.line * 10 + static_cast<uint64_t>(c - '0') : 0;
  }
  edit.from = column.image;
  edit.to = changed;
  edit.why = fmt::format("the wheels are for CUDA {}, and an image of {} demands a newer driver",
                         cuda, image);
  add_edit(edits, std::move(edit));
}

// The version that most columns pin, and of such the newest; everything else that is pinned apart
// goes there.
void align_others(std::span<const RecipeColumn> columns, Edits& edits) {
  static const std::set<std::string, std::less<>> kDone = {"torch", "torchaudio", "torchvision"};
  std::map<std::string, std::map<Version, int>> pins;
  for (const RecipeColumn& column : columns) {
    for (const auto& [name, asked] : column.packages) {
      if (const Resolved resolved = resolve(column, name);
          resolved.version && !kDone.contains(name)) {
        ++pins[name][*resolved.version];
      }
    }
  }
  for (const auto& [name, versions] : pins) {
    if (versions.size() < 2) {
      continue;
    }
    const auto most = std::ranges::max_element(
        versions, [](const auto& a, const auto& b) { return a.second <= b.second; });
    for (const RecipeColumn& column : columns) {
      const Resolved resolved = resolve(column, name);
      if (resolved.version && *resolved.version != most->first && !resolved.locked) {
        add_edit(edits,
                 edit_of(column, *resolved.by, "==" + most->first.text(), "most pin this one"));
      }
    }
  }
}

bool fits_pythons(const Version& torch, std::span<const RecipeColumn> columns,
                  const Knowledge& knowledge) {
  const TorchRelease* release = knowledge.torch_release(torch);
  return std::ranges::all_of(columns, [&](const RecipeColumn& column) {
    const auto python = Version::parse(column.python);
    return release == nullptr || !python || release->python.contains(*python);
  });
}

// What could be aligned on: pinned ones, other variants of theirs, and the first version of every
// release that is known, the newest first.
std::vector<Version> candidates(std::span<const RecipeColumn> columns, const Knowledge& knowledge) {
  std::vector<Version> all;
  const auto add = [&](const Version& version) {
    if (std::ranges::find(all, version) == all.end() && all.size() < kMostCandidates) {
      all.push_back(version);
    }
  };
  const auto add_variants = [&](const Version& version, const TorchRelease& release) {
    for (const TorchVariant& variant : release.variants) {
      if (const auto local = Version::parse("0+" + variant.cuda); local && variant.verified) {
        Version candidate = version.public_part();
        candidate.local = local->local;
        add(candidate);
      }
    }
  };
  for (const RecipeColumn& column : columns) {
    if (const auto torch = torch_of(column, knowledge);
        torch && !cuda_of_variant(torch->local_text()).empty()) {
      add(*torch);
    }
  }
  std::ranges::sort(all, std::ranges::greater());
  const std::vector<Version> pinned = all;
  for (const Version& version : pinned) {
    if (const TorchRelease* release = knowledge.torch_release(version)) {
      add_variants(version, *release);
    }
  }
  if (!pinned.empty()) {
    for (auto release = knowledge.torch.rbegin(); release != knowledge.torch.rend(); ++release) {
      if (const auto version = Version::parse(release->torch + ".0")) {
        add_variants(*version, *release);
      }
    }
  }
  return all;
}

Edits edits_for(std::span<const RecipeColumn> columns, const Version& target,
                const Knowledge& knowledge) {
  Edits edits;
  for (const RecipeColumn& column : columns) {
    align_torch(column, target, knowledge, edits);
    align_image(column, target, knowledge, edits);
  }
  return edits;
}

}  // namespace

std::vector<AlignmentEdit> smallest_edits(std::span<const RecipeColumn> columns,
                                          const Machine& machine, const Knowledge& knowledge,
                                          std::string& target) {
  Edits best;
  std::optional<Version> chosen;
  for (const Version& candidate : candidates(columns, knowledge)) {
    if (!serves("torch", candidate, machine, knowledge) ||
        !fits_pythons(candidate, columns, knowledge)) {
      continue;
    }
    Edits edits = edits_for(columns, candidate, knowledge);
    // Candidates come in the order of how near they are: what is pinned, then its other variants.
    if (!chosen || edits.size() < best.size()) {
      best = std::move(edits);
      chosen = candidate;
    }
  }
  for (const RecipeColumn& column : columns) {
    const bool beside = chosen && column.asks_for("torch");
    pin_ctranslate2(column, beside ? &*chosen : nullptr, machine, knowledge, best);
  }
  align_others(columns, best);
  if (chosen && !best.empty()) {
    target = "torch " + chosen->text();
  }
  return best;
}

std::string edit_command(const AlignmentEdit& edit) {
  const auto plain = [](std::string_view text) {
    return text.find_first_of("'\n|\\&") == std::string_view::npos;
  };
  const bool made = edit.file.ends_with(".lock") || edit.file.ends_with("lock.yml") ||
                    edit.file.ends_with("pylock.toml");  // by a program, from other files
  if (made || !plain(edit.file) || !plain(edit.from) || !plain(edit.to)) {
    return {};
  }
  const bool lists = edit.file.ends_with(".txt") || edit.file.ends_with(".in");
  if (edit.from.empty()) {
    return lists ? fmt::format("echo '{}' >> '{}'", edit.to, edit.file) : std::string();
  }
  // What changes is what is different: "2\.1\.2+cu121" of a pin however it is written.
  const auto differ = std::ranges::mismatch(edit.from, edit.to);
  const auto begin = static_cast<size_t>(differ.in1 - edit.from.begin());
  const size_t sign = begin == 0 ? 0 : edit.from.find_last_of("=<>~!/:", begin - 1) + 1;
  std::string from;
  for (const char c : edit.from.substr(sign)) {
    from += c == '.' || c == '*' || c == '[' || c == '$' || c == '^' ? std::string("\\") + c
                                                                     : std::string(1, c);
  }
  if (from.empty()) {
    return {};
  }
  return fmt::format("sed -i '{}s|{}|{}|' '{}'",
                     lists && edit.line != 0 ? std::to_string(edit.line) : "", from,
                     edit.to.substr(std::min(sign, edit.to.size())), edit.file);
}

}  // namespace mynah::doctor
