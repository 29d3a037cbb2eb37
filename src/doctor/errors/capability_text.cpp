#include "doctor/errors/capability_text.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace mynah::doctor {

namespace {

constexpr std::string_view kTooNew = "E01";
constexpr std::string_view kTooOld = "E04";
constexpr std::string_view kRuns = "E153";

// Both warnings, with the card's name and what the wheel holds, are shorter.
constexpr size_t kBefore = 300;
constexpr size_t kAround = 1000;

// The digits at the beginning of a text, which is then behind them.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

// "12.1": 121, which is how "sm_121" writes it.
std::optional<int> take_capability(std::string_view& text) {
  const auto major = take_number(text);
  if (!major || *major > 99 || !text.starts_with('.')) {
    return std::nullopt;
  }
  text.remove_prefix(1);
  const auto minor = take_number(text);
  return minor && *minor <= 9 ? std::optional(10 * *major + *minor) : std::nullopt;
}

// The text behind the first place of some words; empty: they are not there.
std::string_view behind(std::string_view text, std::string_view words) {
  const size_t at = text.find(words);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + words.size());
}

std::string_view by_codes(int card, const std::vector<int>& codes) {
  const bool runs =
      std::ranges::any_of(codes, [&](int code) { return code / 10 == card / 10 && code <= card; });
  return runs ? kRuns : card < std::ranges::min(codes) ? kTooOld : kTooNew;
}

// "Found GPU0 ... which is of cuda capability 12.1. Minimum and Maximum cuda capability supported
// by this version of PyTorch is (8.0) - (12.0)"
std::optional<std::string_view> by_range(std::string_view text) {
  std::string_view card_text = behind(text, "of cuda capability ");
  const auto card = take_capability(card_text);
  std::string_view range = behind(card_text, "supported by this version of PyTorch is");
  std::vector<int> codes;
  for (size_t open = 0; codes.size() < 2 && (open = range.find('(')) != std::string_view::npos;) {
    range.remove_prefix(open + 1);
    const auto code = take_capability(range);
    if (!code) {
      return std::nullopt;
    }
    codes.push_back(*code);
  }
  if (!card || codes.size() < 2) {
    return std::nullopt;
  }
  const std::string_view found = by_codes(*card, codes);
  // What lies between them may hold code for the card or not.
  const bool within = codes[0] <= *card && *card <= codes[1];
  return within && found != kRuns ? std::nullopt : std::optional(found);
}

// "... with CUDA capability sm_121 is not compatible ... The current PyTorch install supports CUDA
// capabilities sm_80 sm_90 sm_120."
std::optional<std::string_view> by_list(std::string_view text) {
  std::string_view card_text = behind(text, "with CUDA capability sm_");
  const auto card = take_number(card_text);
  std::string_view list = behind(card_text, "supports CUDA capabilities");
  list = list.substr(0, list.find('\n'));
  std::vector<int> codes;
  while (!(list = behind(list, "sm_")).empty()) {
    if (const auto code = take_number(list)) {
      codes.push_back(*code);
    }
  }
  return card && !codes.empty() ? std::optional(by_codes(*card, codes)) : std::nullopt;
}

}  // namespace

std::string_view error_by_capability(std::string_view id, std::string_view text, size_t at) {
  if (id != kTooNew && id != kTooOld) {
    return id;
  }
  const size_t begin = at - std::min(at, kBefore);
  const std::string_view around = text.substr(begin, kAround);
  const auto found = id == kTooOld ? by_range(around) : by_list(around);
  return found.value_or(id);
}

}  // namespace mynah::doctor
