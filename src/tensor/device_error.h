// The one exception of mynah: a device that failed in the middle of a computation.
#pragma once

#include <exception>
#include <type_traits>

#include "base/result.h"

namespace mynah {

// Thrown only by backends and by tensor allocation; caught by or_device_error(), where what was
// computed becomes a Result.
class DeviceError : public std::exception {
 public:
  explicit DeviceError(Error error) : error_(std::move(error)) {}

  [[nodiscard]] const Error& error() const { return error_; }

  [[nodiscard]] const char* what() const noexcept override { return error_.message.c_str(); }

 private:
  Error error_;
};

// What `work` computes, which may be a Result; the error of a device that failed at it.
template <class Work>
auto or_device_error(const Work& work) {
  using Value = std::invoke_result_t<const Work&>;
  constexpr bool kIsResult = requires(Value value) { value.error(); };
  using Computed = std::conditional_t<kIsResult, std::type_identity<Value>,
                                      std::type_identity<Result<Value>>>::type;
  try {
    if constexpr (std::is_void_v<Value>) {
      work();
      return Computed();
    } else {
      return Computed(work());
    }
  } catch (const DeviceError& error) {
    return Computed(std::unexpected(error.error()));
  }
}

}  // namespace mynah
