// Versions and specifiers: what is read is written so that it is read the same again, and the order
// is one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "doctor/versions.h"

namespace mynah::doctor {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t middle = std::min(text.find('\n'), size);
  const auto a = Version::parse(text.substr(0, middle));
  const auto b = Version::parse(text.substr(std::min(middle + 1, size)));
  if (a) {
    const auto again = Version::parse(a->text());
    MYNAH_CHECK(again && *again == *a && again->text() == a->text(), "a version changes");
    MYNAH_CHECK((*a <=> *a) == 0, "a version differs from itself");
  }
  if (a && b) {
    MYNAH_CHECK(((*a <=> *b) < 0) == ((*b <=> *a) > 0), "the order has two directions");
  }
  if (const auto set = SpecifierSet::parse(text)) {
    const auto again = SpecifierSet::parse(set->text());
    MYNAH_CHECK(again && again->text() == set->text(), "a specifier changes");
    if (const auto pinned = set->pinned()) {
      MYNAH_CHECK(pinned->text() == Version::parse(pinned->text())->text(), "a pin changes");
    }
  }
  if (const auto set = SpecifierSet::parse(text.substr(0, middle)); set && b) {
    bool all = true;
    for (const Specifier& clause : set->clauses) {
      all &= clause.contains(*b);
    }
    MYNAH_CHECK(all == set->contains(*b), "a set is not all of its clauses");
  }
  return 0;
}

}  // namespace mynah::doctor
