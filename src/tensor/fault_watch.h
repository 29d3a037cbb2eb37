// FaultWatch: makes a watched backend fail on purpose, for tests of what stands behind it.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tensor/watched_backend.h"

namespace mynah {

// What a device may do that it should not.
enum class FaultKind : uint8_t {
  Lost,         // a DeviceError "... device lost", at this operation and every later one
  OutOfMemory,  // a DeviceError of code OutOfMemory, once
  Nan,          // from then on every f32 result is not a number
  Wrong,        // from then on every product's result is a quarter too large
  Hang,         // the operation never comes back
  Crash,        // the process dies of a segmentation fault
  Exit,         // the process ends with code 0
  Stop,         // the process is stopped (SIGSTOP), until somebody lets it go on
};

// As it is written: "lost", "oom", "nan", "wrong", "hang", "crash", "exit", "stop".
[[nodiscard]] std::string_view fault_kind_name(FaultKind kind);

// One of the names; none: no fault is called so.
[[nodiscard]] std::optional<FaultKind> parse_fault_kind(std::string_view name);

// The names, as a message lists them: "lost, oom, ...".
[[nodiscard]] std::string fault_kind_names();

class FaultWatch final : public BackendWatch {
 public:
  // The n-th operation from now on does it, and those after it where the kind says so; n >= 1. Not
  // while operations run.
  void arm(FaultKind kind, uint64_t n);

  // Nothing happens until arm() is called again. Not while operations run.
  void disarm() { armed_.store(false, std::memory_order_release); }

  // Whether the operation that arm() named has come.
  [[nodiscard]] bool struck() const;

  void before(std::string_view operation) override;
  void after(std::string_view operation, Backend& backend, const Tensor& out) override;

 private:
  std::atomic<bool> armed_{false};
  std::atomic<uint64_t> operations_{0};  // since it was armed
  FaultKind kind_ = FaultKind::Lost;
  uint64_t at_ = 0;
};

}  // namespace mynah
