#include "tensor/shape.h"

#include <algorithm>

#include "base/check.h"

namespace mynah {

Shape::Shape(std::span<const int64_t> sizes) : rank_(static_cast<int>(sizes.size())) {
  MYNAH_CHECK(sizes.size() <= kMaxRank, "rank above 5");
  std::ranges::copy(sizes, sizes_.begin());
}

int64_t Shape::elements() const {
  int64_t n = 1;
  for (const int64_t size : sizes()) {
    n *= size;
  }
  return n;
}

std::string Shape::str() const {
  std::string text = "(";
  for (int i = 0; i < rank_; ++i) {
    text += (i > 0 ? ", " : "") + std::to_string((*this)[i]);
  }
  return text + ")";
}

}  // namespace mynah
