// The clock of template tests, the same as in compare_templates.py.
#pragma once

#include <ctime>

namespace mynah {

// 2024-03-09 17:05:42, a Saturday.
inline std::tm saturday() {
  std::tm now{};
  now.tm_year = 124;
  now.tm_mon = 2;
  now.tm_mday = 9;
  now.tm_hour = 17;
  now.tm_min = 5;
  now.tm_sec = 42;
  now.tm_wday = 6;
  now.tm_yday = 68;
  return now;
}

}  // namespace mynah
