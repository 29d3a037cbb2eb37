#include "chat/nearest_texts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace mynah {
namespace {

double product(std::span<const float> a, std::span<const float> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

NearestTexts::NearestTexts(std::vector<float> asked, size_t most)
    : asked_(std::move(asked)), asked_square_(product(asked_, asked_)), most_(most) {}

void NearestTexts::add(size_t number, std::string_view text, std::span<const float> vector) {
  MYNAH_CHECK(vector.size() == asked_.size(), "vectors that are compared are as long");
  const double cosine =
      product(asked_, vector) / std::sqrt(asked_square_ * product(vector, vector));
  if (!std::isfinite(cosine)) {
    return;
  }
  const auto place = std::ranges::upper_bound(found_, cosine, std::greater<>(), &NearText::cosine);
  if (place == found_.end() && found_.size() >= most_) {
    return;
  }
  found_.insert(place, {.cosine = cosine, .number = number, .text = std::string(text)});
  found_.resize(std::min(found_.size(), most_));
}

}  // namespace mynah
