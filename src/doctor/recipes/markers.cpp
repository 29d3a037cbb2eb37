#include "doctor/recipes/markers.h"

#include <algorithm>
#include <array>
#include <compare>

#include <fmt/format.h>

#include "doctor/characters.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/recipes/text_reader.h"
#include "doctor/versions.h"
#include "formats/byte_reader.h"

namespace mynah::doctor {

namespace {

constexpr int kMostDepth = 32;  // parentheses inside each other

constexpr std::array<std::string_view, 12> kVariables = {
    "python_version",      "python_full_version",    "os_name",
    "sys_platform",        "platform_release",       "platform_system",
    "platform_version",    "platform_machine",       "platform_python_implementation",
    "implementation_name", "implementation_version", "extra"};

// Names of before PEP 508, which packaging still takes.
constexpr std::pair<std::string_view, std::string_view> kOldVariables[] = {
    {"os.name", "os_name"},
    {"sys.platform", "sys_platform"},
    {"platform.version", "platform_version"},
    {"platform.machine", "platform_machine"},
    {"platform.python_implementation", "platform_python_implementation"},
    {"python_implementation", "platform_python_implementation"}};

constexpr std::array<std::string_view, 8> kRelations = {
    "===", "==", "!=", "~=", ">=", "<=", ">", "<"};

class MarkerReader : TextReader {
 public:
  using TextReader::TextReader;

  Result<Marker> read() {
    MYNAH_TRY(Marker marker, any_of(0));
    if (!rest().empty()) {
      return refused("wanted its end");
    }
    return marker;
  }

 private:
  // A word that no letter, digit or underscore follows.
  bool take_word(std::string_view word) {
    const std::string_view left = rest();
    if (!left.starts_with(word) ||
        (left.size() > word.size() && is_name_character(left[word.size()]))) {
      return false;
    }
    skip(word.size());
    return true;
  }

  static bool is_name_character(char c) {
    return is_digit(c) || is_small_letter(small_letter(c)) || c == '_' || c == '.';
  }

  std::unexpected<Error> refused(std::string_view why) const {
    return fail(ErrorCode::InvalidInput,
                fmt::format("marker {}: {} at its byte {}", in_quotes(text()), why, at()));
  }

  template <class Part>
  Result<Marker> joined(std::string_view word, Marker::Kind kind, const Part& part) {
    MYNAH_TRY(Marker first, part());
    if (!take_word(word)) {
      return first;
    }
    Marker marker;
    marker.kind = kind;
    marker.parts.push_back(std::move(first));
    do {
      MYNAH_TRY(Marker next, part());
      marker.parts.push_back(std::move(next));
    } while (take_word(word));
    return marker;
  }

  Result<Marker> any_of(int depth) {
    return joined("or", Marker::Kind::Or, [&] { return all_of(depth); });
  }

  Result<Marker> all_of(int depth) {
    return joined("and", Marker::Kind::And, [&] { return one(depth); });
  }

  Result<Marker> one(int depth) {
    if (depth > kMostDepth) {
      return refused("too many parentheses");
    }
    if (take("(")) {
      MYNAH_TRY(Marker inner, any_of(depth + 1));
      if (!take(")")) {
        return refused("wanted a closing parenthesis");
      }
      return inner;
    }
    Marker marker;
    marker.kind = Marker::Kind::Comparison;
    MYNAH_TRY(marker.left, side());
    MYNAH_TRY(marker.relation, relation());
    MYNAH_TRY(marker.right, side());
    return marker;
  }

  Result<Marker::Side> side() {
    const std::string_view left = rest();
    if (left.starts_with('"') || left.starts_with('\'')) {
      const size_t end = left.find(left.front(), 1);
      if (end == std::string_view::npos) {
        return refused("wanted a closing quote");
      }
      skip(end + 1);
      return Marker::Side{.variable = false, .text = std::string(left.substr(1, end - 1))};
    }
    const size_t size = static_cast<size_t>(
        std::ranges::find_if_not(left, &MarkerReader::is_name_character) - left.begin());
    std::string_view name = left.substr(0, size);
    for (const auto& [old, now] : kOldVariables) {
      name = name == old ? now : name;
    }
    if (std::ranges::find(kVariables, name) == kVariables.end()) {
      return refused("wanted a variable or a text in quotes");
    }
    skip(size);
    return Marker::Side{.variable = true, .text = std::string(name)};
  }

  Result<std::string> relation() {
    for (const std::string_view sign : kRelations) {
      if (take(sign)) {
        return std::string(sign);
      }
    }
    if (take_word("in")) {
      return std::string("in");
    }
    if (take_word("not") && take_word("in")) {
      return std::string("not in");
    }
    return refused("wanted a sign of comparison");
  }
};

// What a variable holds; none where it is not known.
std::optional<std::string> value_of(std::string_view variable,
                                    const MarkerEnvironment& environment) {
  const bool windows = environment.system == System::Windows;
  const auto known = [](std::string text) -> std::optional<std::string> {
    return text.empty() ? std::nullopt : std::optional(std::move(text));
  };
  if (variable == "python_version") {
    const std::string& full = environment.python;
    const size_t second = full.find('.');
    return second == std::string::npos ? std::nullopt
                                       : known(full.substr(0, full.find('.', second + 1)));
  }
  if (variable == "python_full_version" || variable == "implementation_version") {
    // "3.11" says nothing about its third number.
    return std::ranges::count(environment.python, '.') < 2 ? std::nullopt
                                                           : known(environment.python);
  }
  if (variable == "os_name") {
    return windows ? "nt" : "posix";
  }
  if (variable == "sys_platform") {
    return windows ? "win32" : "linux";
  }
  if (variable == "platform_system") {
    return windows ? "Windows" : "Linux";
  }
  if (variable == "platform_machine") {
    return known(windows && environment.machine == "x86_64" ? "AMD64" : environment.machine);
  }
  if (variable == "platform_python_implementation") {
    return "CPython";
  }
  if (variable == "implementation_name") {
    return "cpython";
  }
  return std::nullopt;
}

Truth truth(bool holds) {
  return holds ? Truth::Yes : Truth::No;
}

// Versions are compared where both sides are some, texts otherwise.
Truth compare(const std::string& left, const std::string& relation, const std::string& right) {
  if (relation == "in") {
    return truth(right.find(left) != std::string::npos);
  }
  if (relation == "not in") {
    return truth(right.find(left) == std::string::npos);
  }
  if (const auto specifier = SpecifierSet::parse(relation + right); specifier) {
    if (const auto version = Version::parse(left)) {
      return truth(specifier->contains(*version));
    }
  }
  if (relation == "==" || relation == "===") {
    return truth(left == right);
  }
  if (relation == "!=") {
    return truth(left != right);
  }
  // Texts are not ordered: packaging says so, too.
  return Truth::NotKnown;
}

// "extra" is any of those that are asked for, or none.
Truth compare_extra(const Marker& marker, const MarkerEnvironment& environment) {
  const std::string wanted =
      normal_name(marker.left.variable ? marker.right.text : marker.left.text);
  const bool there = std::ranges::any_of(environment.extras, [&](const std::string& extra) {
    return extra == wanted || extra == "*";
  });
  if (!there && environment.more_extras) {
    return Truth::NotKnown;
  }
  if (marker.relation == "==" || marker.relation == "===") {
    return truth(there);
  }
  return marker.relation == "!=" ? truth(!there) : Truth::NotKnown;
}

Truth compare_sides(const Marker& marker, const MarkerEnvironment& environment) {
  if ((marker.left.variable && marker.left.text == "extra") ||
      (marker.right.variable && marker.right.text == "extra")) {
    return compare_extra(marker, environment);
  }
  const auto text_of = [&](const Marker::Side& side) -> std::optional<std::string> {
    return side.variable ? value_of(side.text, environment) : side.text;
  };
  const auto left = text_of(marker.left);
  const auto right = text_of(marker.right);
  return left && right ? compare(*left, marker.relation, *right) : Truth::NotKnown;
}

}  // namespace

Result<Marker> Marker::parse(std::string_view text) {
  return MarkerReader(text).read();
}

Truth Marker::holds(const MarkerEnvironment& environment) const {
  if (kind == Kind::Comparison) {
    return compare_sides(*this, environment);
  }
  const Truth decides = kind == Kind::And ? Truth::No : Truth::Yes;
  Truth all = kind == Kind::And ? Truth::Yes : Truth::No;
  for (const Marker& part : parts) {
    const Truth one = part.holds(environment);
    if (one == decides) {
      return decides;
    }
    all = one == Truth::NotKnown ? one : all;
  }
  return all;
}

}  // namespace mynah::doctor
