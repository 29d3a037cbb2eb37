// Requirements and markers: what is read is written so that it is read the same again, and a marker
// that holds under all that is known is not undone by knowing more.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "doctor/recipes/markers.h"
#include "doctor/recipes/requirement_text.h"

namespace mynah::doctor {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto requirement = parse_requirement(text)) {
    const auto again = parse_requirement(requirement_text(*requirement));
    MYNAH_CHECK(again && *again == *requirement, "a requirement changes");
  }
  if (const auto marker = Marker::parse(text)) {
    MarkerEnvironment environment;
    const Truth before = marker->holds(environment);
    environment.python = "3.11.4";
    const Truth after = marker->holds(environment);
    MYNAH_CHECK(before == Truth::NotKnown || before == after, "a marker changes its mind");
  }
  return 0;
}

}  // namespace mynah::doctor
