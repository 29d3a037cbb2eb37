// Result<T>: the world's failures as values. Bugs abort (check.h); a device that dies throws
// (tensor/device_error.h).
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace mynah {

// What kind of failure it was. Each code maps to one exit code (exit_code) and, later, to one HTTP
// status.
enum class ErrorCode {
  InvalidInput,  // a file, a flag or a request that is not what it should be
  NotFound,      // a path, a model or a name that does not exist
  Unsupported,   // well-formed, but something mynah does not do
  OutOfMemory,
  Device,       // a processor that failed or is not there
  Io,           // reading or writing failed
  Cancelled,    // the user or a deadline stopped it
  Busy,         // a queue is full
  Environment,  // something that should be installed or reachable is not
  Usage,        // a command line that cannot be understood
};

// A failure with what was wanted, what was found and what to do, in one line.
struct Error {
  ErrorCode code = ErrorCode::InvalidInput;
  std::string message;

  // Puts what was being done in front: "loading encoder.conv1.weight: ...".
  [[nodiscard]] Error while_doing(std::string_view what) && {
    message = std::string(what) + ": " + message;
    return std::move(*this);
  }
};

template <class T>
using Result = std::expected<T, Error>;
using Status = std::expected<void, Error>;

[[nodiscard]] inline std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected(Error{code, std::move(message)});
}

// The process's exit code for an error that nobody handled: 1 failed, 2 usage, 3 environment.
[[nodiscard]] constexpr int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::Device:
    case ErrorCode::Environment:
    case ErrorCode::OutOfMemory:
      return 3;
    case ErrorCode::Usage:
      return 2;
    default:
      return 1;
  }
}

}  // namespace mynah

#define MYNAH_CONCAT_(a, b) a##b
#define MYNAH_CONCAT(a, b) MYNAH_CONCAT_(a, b)

// MYNAH_TRY(auto x, expression): declares x from a Result, or returns its error from the enclosing
// function.
#define MYNAH_TRY(declaration, expression) \
  MYNAH_TRY_(MYNAH_CONCAT(mynah_result_, __LINE__), declaration, expression)
#define MYNAH_TRY_(name, declaration, expression)    \
  auto name = (expression);                          \
  if (!name) {                                       \
    return std::unexpected(std::move(name).error()); \
  }                                                  \
  declaration = std::move(                           \
      *name) /* NOLINT(bugprone-macro-parentheses): a declaration cannot be parenthesised */

// MYNAH_TRY_STATUS(expression): returns the error of a Status or Result from the enclosing
// function.
#define MYNAH_TRY_STATUS(expression)                           \
  do {                                                         \
    auto mynah_status = (expression);                          \
    if (!mynah_status) {                                       \
      return std::unexpected(std::move(mynah_status).error()); \
    }                                                          \
  } while (false)
