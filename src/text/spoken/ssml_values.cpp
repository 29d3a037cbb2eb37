#include "text/spoken/ssml_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "text/spoken/inline_marks.h"

namespace mynah {
namespace {

using Label = std::pair<std::string_view, double>;

std::optional<double> label_value(std::span<const Label> labels, std::string_view value) {
  const auto found = std::ranges::find(labels, value, &Label::first);
  return found == labels.end() ? std::nullopt : std::optional(found->second);
}

// "+20%" and "-20%" as a factor.
std::optional<double> relative(std::string_view value) {
  if (value.size() < 3 || !value.ends_with('%') || (value[0] != '+' && value[0] != '-')) {
    return std::nullopt;
  }
  const double percent = plain_number(value.substr(1, value.size() - 2));
  if (percent < 0.0) {
    return std::nullopt;
  }
  return std::max(1.0 + (value[0] == '+' ? percent : -percent) / 100.0, 0.0);
}

}  // namespace

const std::string* find_attribute(const SsmlAttributes& attributes, std::string_view name) {
  const auto found = std::ranges::find(attributes, name, &SsmlAttributes::value_type::first);
  return found == attributes.end() ? nullptr : &found->second;
}

SsmlValue break_seconds(const SsmlAttributes& attributes) {
  constexpr auto kStrengths = std::to_array<Label>({{"none", 0.0},
                                                    {"x-weak", 0.25},
                                                    {"weak", 0.5},
                                                    {"medium", 0.75},
                                                    {"strong", 1.0},
                                                    {"x-strong", 1.25}});
  if (const std::string* time = find_attribute(attributes, "time")) {
    const double seconds = time->ends_with('s') ? duration_seconds(*time) : -1.0;
    if (seconds < 0.0) {
      return {.fault = fmt::format("break time=\"{}\" is no time; write 1.5s or 300ms", *time)};
    }
    return {.value = seconds};
  }
  const std::string* strength = find_attribute(attributes, "strength");
  const auto seconds = label_value(kStrengths, strength == nullptr ? "medium" : *strength);
  if (!seconds) {
    return {.fault = fmt::format("break strength=\"{}\" is unknown; write none, x-weak, weak, "
                                 "medium, strong or x-strong, or time=\"1.5s\"",
                                 *strength)};
  }
  return {.value = *seconds};
}

SsmlValue rate_factor(std::string_view value) {
  constexpr auto kLabels = std::to_array<Label>({{"x-slow", 0.5},
                                                 {"slow", 0.64},
                                                 {"medium", 1.0},
                                                 {"default", 1.0},
                                                 {"fast", 1.55},
                                                 {"x-fast", 2.0}});
  if (const auto label = label_value(kLabels, value)) {
    return {.value = *label};
  }
  if (const auto factor = relative(value)) {
    return {.value = *factor};
  }
  const bool percent = value.ends_with('%');
  const double number = plain_number(percent ? value.substr(0, value.size() - 1) : value);
  if (number <= 0.0) {
    return {.fault = fmt::format(
                "prosody rate=\"{}\" is no rate; write 1.5, 150%, +20%, slow or fast", value)};
  }
  return {.value = percent ? number / 100.0 : number};
}

SsmlValue volume_factor(std::string_view value) {
  constexpr auto kLabels = std::to_array<Label>({{"silent", 0.0},
                                                 {"x-soft", 0.25},
                                                 {"soft", 0.5},
                                                 {"medium", 1.0},
                                                 {"default", 1.0},
                                                 {"loud", 1.5},
                                                 {"x-loud", 2.0}});
  if (const auto label = label_value(kLabels, value)) {
    return {.value = *label};
  }
  if (const auto factor = relative(value)) {
    return {.value = *factor};
  }
  const bool decibels =
      value.ends_with("dB") && value.size() > 3 && (value[0] == '+' || value[0] == '-');
  const double number = plain_number(decibels ? value.substr(1, value.size() - 3) : value);
  if (number < 0.0 || (!decibels && number > 100.0)) {
    return {.fault = fmt::format("prosody volume=\"{}\" is no volume; write +6dB, -3dB, 0 to 100, "
                                 "soft or loud",
                                 value)};
  }
  // Amplitudes: 20 dB are a factor of ten.
  return {.value = decibels ? std::pow(10.0, (value[0] == '+' ? number : -number) / 20.0)
                            : number / 100.0};
}

}  // namespace mynah
