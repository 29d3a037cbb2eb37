// MYNAH_CHECK: a bug in mynah ends the process with where and what; never reachable from a file or
// a request.
#pragma once

#include <string>

namespace mynah {

// Prints the failed condition and the message on stderr, then aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const std::string& message);

// Joins the parts of a check's message.
template <class... Parts>
std::string check_message(const Parts&... parts) {
  std::string text;
  ((text += parts), ...);
  return text;
}

}  // namespace mynah

#define MYNAH_CHECK(condition, ...)                                                               \
  do {                                                                                            \
    if (!(condition)) [[unlikely]] {                                                              \
      ::mynah::check_failed(__FILE__, __LINE__, #condition, ::mynah::check_message(__VA_ARGS__)); \
    }                                                                                             \
  } while (false)
