// Names of months and days.
#pragma once

#include <array>
#include <string_view>

namespace mynah {

inline constexpr std::array<std::string_view, 12> kMonths = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};

inline constexpr std::array<std::string_view, 7> kDays = {
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};

// The day that a word stands for, cut short as people cut them; empty where it is none.
[[nodiscard]] constexpr std::string_view day_name(std::string_view word) {
  for (const std::string_view name : kDays) {
    if (word == name || word == name.substr(0, 3)) {
      return name;
    }
  }
  if (word == "Tues") {
    return "Tuesday";
  }
  if (word == "Weds") {
    return "Wednesday";
  }
  return word == "Thur" || word == "Thurs" ? "Thursday" : std::string_view{};
}

// The name that a word stands for, by all of it or by its first three letters ("Sept" too); empty
// where it is none. Capitals count: "may" and "sat" are words.
[[nodiscard]] constexpr std::string_view calendar_name(std::string_view word) {
  const auto find = [&](const auto& names) -> std::string_view {
    for (const std::string_view name : names) {
      if (word == name || word == name.substr(0, 3)) {
        return name;
      }
    }
    return {};
  };
  if (word == "Sept") {
    return "September";
  }
  const std::string_view month = find(kMonths);
  return month.empty() ? day_name(word) : month;
}

}  // namespace mynah
