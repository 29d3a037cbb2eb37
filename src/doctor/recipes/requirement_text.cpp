#include "doctor/recipes/requirement_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/characters.h"
#include "doctor/recipes/markers.h"
#include "doctor/recipes/text_reader.h"
#include "doctor/versions.h"
#include "formats/byte_reader.h"

namespace mynah::doctor {

namespace {

bool is_name_character(char c) {
  return is_digit(c) || is_small_letter(small_letter(c)) || c == '-' || c == '_' || c == '.';
}

bool is_letter_or_digit(char c) {
  return is_digit(c) || is_small_letter(small_letter(c));
}

class RequirementReader : TextReader {
 public:
  using TextReader::TextReader;

  Result<Requirement> read() {
    Requirement requirement;
    MYNAH_TRY(requirement.name, name());
    if (take("[")) {
      MYNAH_TRY(requirement.extras, extras());
    }
    if (take("@")) {
      // What follows ';' is a marker where a blank stands before: addresses may hold a ';'.
      const std::string_view left = rest();
      const size_t end = std::min(left.find_first_of(" \t"), left.size());
      requirement.url = std::string(left.substr(0, end));
      skip(end);
      if (requirement.url.empty()) {
        return refused("wanted an address behind @");
      }
    } else {
      MYNAH_TRY(requirement.specifier, specifier());
    }
    if (take(";")) {
      const std::string_view marker = trimmed(rest());
      MYNAH_TRY_STATUS(Marker::parse(marker));
      requirement.marker = std::string(marker);
    } else if (!rest().empty()) {
      return refused("wanted a version, a marker or the end");
    }
    return requirement;
  }

 private:
  std::unexpected<Error> refused(std::string_view why) const {
    return fail(ErrorCode::InvalidInput, fmt::format("requirement {}: {}", in_quotes(text()), why));
  }

  Result<std::string> name() {
    const std::string_view left = rest();
    const auto size =
        static_cast<size_t>(std::ranges::find_if_not(left, &is_name_character) - left.begin());
    const std::string_view found = left.substr(0, size);
    if (found.empty() || !is_letter_or_digit(found.front()) || !is_letter_or_digit(found.back())) {
      return refused("wanted the name of a package");
    }
    skip(size);
    return normal_name(found);
  }

  Result<std::vector<std::string>> extras() {
    std::vector<std::string> found;
    if (take("]")) {
      return found;
    }
    do {
      MYNAH_TRY(std::string extra, name());
      found.push_back(std::move(extra));
    } while (take(","));
    if (!take("]")) {
      return refused("wanted ] behind the extras");
    }
    return found;
  }

  Result<std::string> specifier() {
    const bool in_parentheses = take("(");
    const std::string_view left = rest();
    const size_t end = std::min(left.find(in_parentheses ? ')' : ';'), left.size());
    if (in_parentheses && end == left.size()) {
      return refused("wanted a closing parenthesis");
    }
    MYNAH_TRY(const SpecifierSet set, SpecifierSet::parse(left.substr(0, end)));
    skip(end + (in_parentheses ? 1 : 0));
    return set.text();
  }
};

}  // namespace

Result<Requirement> parse_requirement(std::string_view text) {
  return RequirementReader(text).read();
}

std::string requirement_text(const Requirement& requirement) {
  std::string text = requirement.name;
  if (!requirement.extras.empty()) {
    text += fmt::format("[{}]", fmt::join(requirement.extras, ","));
  }
  text += requirement.url.empty() ? requirement.specifier : " @ " + requirement.url;
  return requirement.marker.empty() ? text : text + " ; " + requirement.marker;
}

}  // namespace mynah::doctor
