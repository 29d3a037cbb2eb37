// Versions of Python packages and what requirements say of them: PEP 440, as the specification
// "Version specifiers" of the Python packaging guide has it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace mynah::doctor {

// "1!2.7.1rc2.post3.dev4+cu126", in parts. Ordered as PEP 440 orders: 1.0.dev1 < 1.0a1 < 1.0rc1 <
// 1.0 < 1.0+cu126 < 1.0.post1, and 1.0 equals 1.0.0.
struct Version {
  struct PreRelease {
    char kind = 'a';  // 'a' alpha, 'b' beta, 'r' candidate
    uint64_t number = 0;

    auto operator<=>(const PreRelease&) const = default;
  };

  using LocalPart =
      std::variant<std::string, uint64_t>;  // in this order: a word is before a number

  uint64_t epoch = 0;
  std::vector<uint64_t> release;  // one number at least
  std::optional<PreRelease> pre;
  std::optional<uint64_t> post;
  std::optional<uint64_t> dev;
  std::vector<LocalPart> local;

  // Takes every spelling that PEP 440 allows ("v1.0-Beta.2", "1.0-1"). Refuses what is none, and
  // numbers of more than 18 digits.
  [[nodiscard]] static Result<Version> parse(std::string_view text);

  // As PEP 440 normalises it.
  [[nodiscard]] std::string text() const;

  // The local part as text: "cu126"; empty: none.
  [[nodiscard]] std::string local_text() const;

  // Without what is behind '+'.
  [[nodiscard]] Version public_part() const;

  // The epoch and the release alone.
  [[nodiscard]] Version base() const;

  // The release's number at `index`, 0 where it has fewer.
  [[nodiscard]] uint64_t release_at(size_t index) const;

  [[nodiscard]] bool is_prerelease() const { return pre || dev; }

  [[nodiscard]] std::strong_ordering operator<=>(const Version& other) const;

  [[nodiscard]] bool operator==(const Version& other) const { return (*this <=> other) == 0; }
};

// One clause of a requirement: ">=2.4", "==2.7.*".
struct Specifier {
  enum class Relation : uint8_t {
    Equal,        // ==
    NotEqual,     // !=
    Compatible,   // ~=
    AtLeast,      // >=
    AtMost,       // <=
    Above,        // >
    Below,        // <
    SameSpelling  // ===
  };

  Relation relation = Relation::Equal;
  Version version;
  bool any_below = false;  // the version is followed by ".*"
  std::string spelling;    // of ===, whose text need be no version

  // Whether the version satisfies it. Pre-releases count like any other version: whether one is
  // taken where a final release would do is the installer's affair.
  [[nodiscard]] bool contains(const Version& candidate) const;

  // As it is written: ">=2.4".
  [[nodiscard]] std::string text() const;
};

// Clauses of which all must hold: ">=2.4,<3". Empty: any version.
struct SpecifierSet {
  std::vector<Specifier> clauses;

  [[nodiscard]] static Result<SpecifierSet> parse(std::string_view text);

  [[nodiscard]] bool contains(const Version& candidate) const;

  [[nodiscard]] std::string text() const;

  // The one version that it allows, where "==" or "===" names one: what a lock file would.
  [[nodiscard]] std::optional<Version> pinned() const;
};

}  // namespace mynah::doctor
