#include "doctor/versions.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/characters.h"
#include "formats/byte_reader.h"

namespace mynah::doctor {

namespace {

constexpr size_t kMostDigits = 18;  // a uint64_t holds any number of so many

// Goes through a version in small letters, part by part. Each step takes what it names, or nothing.
class VersionReader {
 public:
  explicit VersionReader(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }

  [[nodiscard]] bool next_is(std::string_view word) const {
    return text_.substr(at_).starts_with(word);
  }

  bool take(std::string_view word) {
    if (!next_is(word)) {
      return false;
    }
    at_ += word.size();
    return true;
  }

  // Digits as a number. Too many of them are no number, and what is left then is not the end.
  std::optional<uint64_t> number() {
    size_t end = at_;
    uint64_t value = 0;
    while (end < text_.size() && is_digit(text_[end])) {
      value = value * 10 + static_cast<uint64_t>(text_[end] - '0');
      ++end;
      if (end - at_ > kMostDigits) {
        return std::nullopt;
      }
    }
    if (end == at_) {
      return std::nullopt;
    }
    at_ = end;
    return value;
  }

  bool epoch_and_release(Version& version) {
    take("v");
    std::optional<uint64_t> first = number();
    if (first && take("!")) {
      version.epoch = *first;
      first = number();
    }
    if (!first) {
      return false;
    }
    version.release.push_back(*first);
    while (next_is(".") && at_ + 1 < text_.size() && is_digit(text_[at_ + 1])) {
      take(".");
      const std::optional<uint64_t> next = number();
      if (!next) {
        return false;
      }
      version.release.push_back(*next);
    }
    return true;
  }

  void pre_release(Version& version) {
    static constexpr std::pair<std::string_view, char> kWords[] = {
        {"alpha", 'a'}, {"beta", 'b'}, {"preview", 'r'}, {"pre", 'r'},
        {"rc", 'r'},    {"a", 'a'},    {"b", 'b'},       {"c", 'r'}};
    const size_t before = at_;
    take_separator();
    for (const auto& [word, kind] : kWords) {
      if (take(word)) {
        version.pre = {.kind = kind, .number = number_after_separator()};
        return;
      }
    }
    at_ = before;
  }

  void post_release(Version& version) {
    const size_t before = at_;
    if (take("-")) {
      if (const std::optional<uint64_t> implied = number()) {
        version.post = implied;
        return;
      }
      at_ = before;
    }
    take_separator();
    if (take("post") || take("rev") || take("r")) {
      version.post = number_after_separator();
      return;
    }
    at_ = before;
  }

  void dev_release(Version& version) {
    const size_t before = at_;
    take_separator();
    if (take("dev")) {
      version.dev = number_after_separator();
      return;
    }
    at_ = before;
  }

  void local(Version& version) {
    const size_t before = at_;
    if (!take("+")) {
      return;
    }
    do {
      const size_t begin = at_;
      while (at_ < text_.size() && (is_digit(text_[at_]) || is_small_letter(text_[at_]))) {
        ++at_;
      }
      const std::string_view part = text_.substr(begin, at_ - begin);
      const bool all_digits = std::ranges::all_of(part, is_digit);
      if (part.empty() || (all_digits && part.size() > kMostDigits)) {
        version.local.clear();
        at_ = before;
        return;
      }
      if (all_digits) {
        at_ = begin;
        version.local.emplace_back(*number());
      } else {
        version.local.emplace_back(std::string(part));
      }
    } while (take_separator());
  }

  // All but the local part.
  bool public_part(Version& version) {
    if (!epoch_and_release(version)) {
      return false;
    }
    pre_release(version);
    post_release(version);
    dev_release(version);
    return true;
  }

 private:
  bool take_separator() { return take(".") || take("-") || take("_"); }

  uint64_t number_after_separator() {
    const size_t before = at_;
    take_separator();
    const std::optional<uint64_t> value = number();
    if (!value) {
      at_ = before;
    }
    return value.value_or(0);
  }

  std::string_view text_;
  size_t at_ = 0;
};

// What decides between versions of one release: the kind of PEP 440's tuple, by rank. A version
// that is only a development release comes before its pre-releases.
struct Rank {
  int pre_rank;  // 0: before every pre-release, 1: one, 2: behind every one
  Version::PreRelease pre;
  int64_t post;  // -1: none
  uint64_t dev;  // the largest number: none

  auto operator<=>(const Rank&) const = default;
};

Rank rank_of(const Version& version) {
  const bool only_dev = !version.pre && !version.post && version.dev;
  return {.pre_rank = version.pre ? 1
                      : only_dev  ? 0
                                  : 2,
          .pre = version.pre.value_or(Version::PreRelease{}),
          .post = version.post ? static_cast<int64_t>(*version.post) : -1,
          .dev = version.dev.value_or(UINT64_MAX)};
}

constexpr std::pair<std::string_view, Specifier::Relation> kRelations[] = {
    {"===", Specifier::Relation::SameSpelling}, {"==", Specifier::Relation::Equal},
    {"!=", Specifier::Relation::NotEqual},      {"~=", Specifier::Relation::Compatible},
    {">=", Specifier::Relation::AtLeast},       {"<=", Specifier::Relation::AtMost},
    {">", Specifier::Relation::Above},          {"<", Specifier::Relation::Below}};

bool same_prefix(const Version& candidate, const Version& prefix) {
  if (candidate.epoch != prefix.epoch) {
    return false;
  }
  for (size_t i = 0; i < prefix.release.size(); ++i) {
    if (candidate.release_at(i) != prefix.release[i]) {
      return false;
    }
  }
  return true;
}

// Whether they differ in their post and development parts at most.
bool same_release(const Version& candidate, const Version& version) {
  return candidate.base() == version.base() && candidate.pre == version.pre;
}

bool equals(const Version& candidate, const Version& wanted, bool any_below) {
  if (any_below) {
    return same_prefix(candidate, wanted);
  }
  // "==2.7.1" takes 2.7.1+cu126, too; "==2.7.1+cpu" does not.
  return (wanted.local.empty() ? candidate.public_part() : candidate) == wanted;
}

Result<Specifier> parse_specifier(std::string_view text) {
  const auto refused = [&](std::string_view why) {
    return fail(ErrorCode::InvalidInput, fmt::format("specifier {}: {}", in_quotes(text), why));
  };
  const auto* const relation = std::ranges::find_if(
      kRelations, [&](const auto& known) { return text.starts_with(known.first); });
  if (relation == std::end(kRelations)) {
    return refused("wanted ==, !=, ~=, >=, <=, >, < or === and a version");
  }
  Specifier specifier;
  specifier.relation = relation->second;
  const std::string rest = small_letters(trimmed(text.substr(relation->first.size())));
  if (specifier.relation == Specifier::Relation::SameSpelling) {
    if (rest.empty() || rest.find_first_of(" \t\n\r\f\v;)") != std::string::npos) {
      return refused("wanted one word behind ===");
    }
    specifier.spelling = rest;
    return specifier;
  }
  const bool exact = specifier.relation == Specifier::Relation::Equal ||
                     specifier.relation == Specifier::Relation::NotEqual;
  VersionReader reader(rest);
  if (!reader.epoch_and_release(specifier.version)) {
    return refused("wanted a version behind the sign");
  }
  if (exact && reader.take(".*")) {
    specifier.any_below = true;
  } else {
    reader.pre_release(specifier.version);
    reader.post_release(specifier.version);
    reader.dev_release(specifier.version);
    if (exact) {
      reader.local(specifier.version);
    }
  }
  if (!reader.at_end()) {
    return refused("wanted a version that this sign may have");
  }
  if (specifier.relation == Specifier::Relation::Compatible &&
      specifier.version.release.size() < 2) {
    return refused("wanted two numbers at least behind ~=");
  }
  return specifier;
}

}  // namespace

Result<Version> Version::parse(std::string_view text) {
  const std::string lower = small_letters(trimmed(text));
  VersionReader reader(lower);
  Version version;
  if (reader.public_part(version)) {
    reader.local(version);
    if (reader.at_end()) {
      return version;
    }
  }
  return fail(ErrorCode::InvalidInput,
              fmt::format("wanted a version (PEP 440), found {}", in_quotes(text)));
}

std::string Version::text() const {
  std::string text = epoch == 0 ? std::string() : fmt::format("{}!", epoch);
  text += fmt::format("{}", fmt::join(release, "."));
  if (pre) {
    text += fmt::format("{}{}", pre->kind == 'r' ? "rc" : std::string(1, pre->kind), pre->number);
  }
  if (post) {
    text += fmt::format(".post{}", *post);
  }
  if (dev) {
    text += fmt::format(".dev{}", *dev);
  }
  return local.empty() ? text : text + "+" + local_text();
}

std::string Version::local_text() const {
  std::string text;
  for (const LocalPart& part : local) {
    text += text.empty() ? "" : ".";
    const auto* const word = std::get_if<std::string>(&part);
    text += word != nullptr ? *word : std::to_string(std::get<uint64_t>(part));
  }
  return text;
}

Version Version::public_part() const {
  Version version = *this;
  version.local.clear();
  return version;
}

Version Version::base() const {
  Version version;
  version.epoch = epoch;
  version.release = release;
  return version;
}

uint64_t Version::release_at(size_t index) const {
  return index < release.size() ? release[index] : 0;
}

std::strong_ordering Version::operator<=>(const Version& other) const {
  if (const auto order = epoch <=> other.epoch; order != 0) {
    return order;
  }
  for (size_t i = 0; i < std::max(release.size(), other.release.size()); ++i) {
    if (const auto order = release_at(i) <=> other.release_at(i); order != 0) {
      return order;
    }
  }
  if (const auto order = rank_of(*this) <=> rank_of(other); order != 0) {
    return order;
  }
  return local <=> other.local;
}

bool Specifier::contains(const Version& candidate) const {
  const Version plain = candidate.public_part();
  switch (relation) {
    case Relation::Equal:
      return equals(candidate, version, any_below);
    case Relation::NotEqual:
      return !equals(candidate, version, any_below);
    case Relation::Compatible: {
      Version prefix = version.base();
      prefix.release.pop_back();
      return plain >= version && same_prefix(candidate, prefix);
    }
    case Relation::AtLeast:
      return plain >= version;
    case Relation::AtMost:
      return plain <= version;
    case Relation::Above:
      // ">1.0" means no 1.0+cu126 and no 1.0.post1.
      return plain > version &&
             (version.dev || version.post || !candidate.post || !same_release(candidate, version));
    case Relation::Below: {
      // "<1.0" means no 1.0rc1.
      Version bound = version;
      if (!version.is_prerelease()) {
        bound.dev = 0;
      }
      return candidate < bound;
    }
    case Relation::SameSpelling:
      return candidate.text() == spelling;
  }
  return false;
}

std::string Specifier::text() const {
  const auto* const sign =
      std::ranges::find(kRelations, relation, &std::pair<std::string_view, Relation>::second);
  return relation == Relation::SameSpelling
             ? fmt::format("==={}", spelling)
             : fmt::format("{}{}{}", sign->first, version.text(), any_below ? ".*" : "");
}

Result<SpecifierSet> SpecifierSet::parse(std::string_view text) {
  SpecifierSet set;
  std::string_view rest = trimmed(text);
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    // A comma at an end, and two in a row, are what pip lets pass.
    if (const std::string_view clause = trimmed(rest.substr(0, comma)); !clause.empty()) {
      MYNAH_TRY(Specifier specifier, parse_specifier(clause));
      set.clauses.push_back(std::move(specifier));
    }
    rest = trimmed(rest.substr(std::min(comma + 1, rest.size())));
  }
  return set;
}

bool SpecifierSet::contains(const Version& candidate) const {
  return std::ranges::all_of(clauses,
                             [&](const Specifier& clause) { return clause.contains(candidate); });
}

std::string SpecifierSet::text() const {
  std::string text;
  for (const Specifier& clause : clauses) {
    text += text.empty() ? "" : ",";
    text += clause.text();
  }
  return text;
}

std::optional<Version> SpecifierSet::pinned() const {
  for (const Specifier& clause : clauses) {
    if (clause.relation == Specifier::Relation::Equal && !clause.any_below) {
      return clause.version;
    }
    if (clause.relation == Specifier::Relation::SameSpelling) {
      if (auto version = Version::parse(clause.spelling)) {
        return *version;
      }
    }
  }
  return std::nullopt;
}

}  // namespace mynah::doctor
