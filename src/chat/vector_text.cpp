#include "chat/vector_text.h"

#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace mynah {
namespace {

void append_numbers(std::span<const float> vector, char between, std::string_view for_none,
                    std::string& text) {
  constexpr size_t kUsualDigits = 13;
  text.reserve(text.size() + vector.size() * kUsualDigits);
  for (size_t i = 0; i < vector.size(); ++i) {
    if (i > 0) {
      text += between;
    }
    if (std::isfinite(vector[i])) {
      fmt::format_to(std::back_inserter(text), "{}", vector[i]);
    } else {
      text += for_none;
    }
  }
}

}  // namespace

std::string vector_json(std::span<const float> vector) {
  std::string text = "[";
  append_numbers(vector, ',', "null", text);
  return text + "]";
}

std::string vector_columns(std::span<const float> vector) {
  std::string text;
  append_numbers(vector, ' ', "nan", text);
  return text;
}

}  // namespace mynah
