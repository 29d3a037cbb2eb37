// NearestTexts: those of many texts whose vectors are nearest to one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mynah {

struct NearText {
  double cosine = 0;  // with the vector that was asked for
  size_t number = 0;  // as add() had it
  std::string text;
};

// Keeps no more texts than are wanted, however many come.
class NearestTexts {
 public:
  // The `most` nearest to `asked`.
  NearestTexts(std::vector<float> asked, size_t most);

  // Requires a vector as long as the one that was asked for, and rising numbers. One that has no
  // length, or a number that is none, is never near.
  void add(size_t number, std::string_view text, std::span<const float> vector);

  // The nearest first; of the same cosine in the order of their numbers.
  [[nodiscard]] const std::vector<NearText>& found() const { return found_; }

 private:
  std::vector<float> asked_;
  double asked_square_;  // of its length
  size_t most_;
  std::vector<NearText> found_;
};

}  // namespace mynah
