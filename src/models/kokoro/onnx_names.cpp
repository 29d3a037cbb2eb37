#include "models/kokoro/onnx_names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <vector>

#include "base/ascii.h"

namespace mynah::kokoro {

namespace {

constexpr std::array<std::string_view, 5> kModules = {"bert", "bert_encoder", "predictor",
                                                      "text_encoder", "decoder"};

// Parts of the predictor that exports call by themselves.
constexpr std::array<std::string_view, 5> kOfPredictor = {"F0", "N", "F0_proj", "N_proj", "shared"};

template <size_t kCount>
bool contains(const std::array<std::string_view, kCount>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string_view first_of(std::string_view part) {
  return part.substr(0, part.find('.'));
}

// "query_3" is "query", used for the fourth time.
std::string_view without_count(std::string_view part) {
  size_t end = part.size();
  while (end > 0 && is_ascii_digit(part[end - 1])) {
    --end;
  }
  return end > 0 && end < part.size() && part[end - 1] == '_' ? part.substr(0, end - 1) : part;
}

std::string joined(const std::vector<std::string_view>& parts) {
  std::string text;
  for (const std::string_view part : parts) {
    text += text.empty() ? "" : ".";
    text += part;
  }
  return text;
}

// From the first module of the model on; empty where there is none.
std::vector<std::string_view> from_module(const std::vector<std::string_view>& parts) {
  auto begin =
      std::ranges::find_if(parts, [](std::string_view part) { return contains(kModules, part); });
  // A wrapper that is called as what it wraps.
  while (begin != parts.end() && std::next(begin) != parts.end() && *std::next(begin) == *begin) {
    ++begin;
  }
  return {begin, parts.end()};
}

}  // namespace

std::string module_of_node(std::string_view node_name) {
  std::vector<std::string_view> parts = split_words(node_name, '/');
  if (parts.size() < 2) {
    return "";
  }
  parts.pop_back();  // the operation
  std::vector<std::string_view> path;
  for (const std::string_view part : parts) {
    const std::string_view own = without_count(part);
    if (!path.empty() && own.starts_with(path.back()) && own.size() > path.back().size() &&
        own[path.back().size()] == '.') {
      path.back() = own;  // "cnn.0/cnn.0.1"
    } else {
      path.push_back(own);
    }
  }
  if (const auto inside = from_module(path); !inside.empty()) {
    return joined(inside);
  }
  const auto own = std::ranges::find_if(
      path, [](std::string_view part) { return contains(kOfPredictor, first_of(part)); });
  return own == path.end() ? "" : "predictor." + joined({own, path.end()});
}

std::string parameter_name(std::string_view tensor_name) {
  return joined(from_module(split_words(tensor_name, '.')));
}

}  // namespace mynah::kokoro
