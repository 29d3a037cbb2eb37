#include "tensor/fault_watch.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "tensor/device_error.h"

namespace mynah {
namespace {

// In the order of FaultKind.
constexpr std::array<std::string_view, 8> kNames = {"lost", "oom",   "nan",  "wrong",
                                                    "hang", "crash", "exit", "stop"};

// Far enough from 1 to be no rounding, and small enough that what many layers make of it is finite.
constexpr float kWrongFactor = 1.25F;

bool is_product(std::string_view operation) {
  constexpr std::array<std::string_view, 6> kProducts = {"linear",    "matmul",           "conv1d",
                                                         "attention", "attention_packed", "lstm"};
  return std::ranges::find(kProducts, operation) != kProducts.end();
}

[[noreturn]] void throw_error(ErrorCode code, std::string_view operation, std::string_view what) {
  throw DeviceError(
      {.code = code,
       .message = std::string(operation) + ": a fault on purpose: " + std::string(what)});
}

// By its own signal, whoever handles it.
void die_of(int signal) {
  static_cast<void>(std::signal(signal, SIG_DFL));
  static_cast<void>(std::raise(signal));
}

[[noreturn]] void hang() {
  while (true) {
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

// A new contiguous tensor of out's shape.
Tensor like(Backend& backend, const Tensor& out) {
  return {backend.allocate(storage_bytes(out.dtype(), out.elements())), 0, out.shape(), out.dtype(),
          backend.device()};
}

void fill_with_nan(Backend& backend, const Tensor& out) {
  const std::vector<float> values(static_cast<size_t>(out.elements()),
                                  std::numeric_limits<float>::quiet_NaN());
  backend.copy(Tensor(backend.from_host(std::as_bytes(std::span(values))), 0, out.shape(),
                      DType::F32, backend.device()),
               out);
}

void make_too_large(Backend& backend, const Tensor& out) {
  const Tensor right = like(backend, out);
  backend.copy(out, right);
  const Tensor wrong = like(backend, out);
  const Shape flat{1, out.elements()};
  backend.affine(right.reshape(flat), kWrongFactor, 0.0F, wrong.reshape(flat));
  backend.copy(wrong, out);
}

}  // namespace

std::string_view fault_kind_name(FaultKind kind) {
  return kNames[static_cast<size_t>(kind)];
}

std::optional<FaultKind> parse_fault_kind(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) {
    return std::nullopt;
  }
  return static_cast<FaultKind>(found - kNames.begin());
}

std::string fault_kind_names() {
  std::string names;
  for (const std::string_view name : kNames) {
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names;
}

void FaultWatch::arm(FaultKind kind, uint64_t n) {
  kind_ = kind;
  at_ = n;
  operations_.store(0, std::memory_order_relaxed);
  armed_.store(true, std::memory_order_release);
}

bool FaultWatch::struck() const {
  return armed_.load(std::memory_order_acquire) &&
         operations_.load(std::memory_order_relaxed) >= at_;
}

void FaultWatch::before(std::string_view operation) {
  if (!armed_.load(std::memory_order_acquire)) {
    return;
  }
  const uint64_t number = operations_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (number < at_) {
    return;
  }
  if (kind_ == FaultKind::Lost) {
    throw_error(ErrorCode::Device, operation, "device lost");
  }
  if (number > at_) {
    return;
  }
  switch (kind_) {
    case FaultKind::OutOfMemory:
      throw_error(ErrorCode::OutOfMemory, operation, "the device's memory is full");
    case FaultKind::Hang:
      hang();
    case FaultKind::Crash:
      die_of(SIGSEGV);
      break;
    case FaultKind::Exit:
      ::_exit(0);
    case FaultKind::Stop:
      static_cast<void>(std::raise(SIGSTOP));
      break;
    case FaultKind::Lost:
    case FaultKind::Nan:
    case FaultKind::Wrong:
      break;  // before this operation, or after it
  }
}

void FaultWatch::after(std::string_view operation, Backend& backend, const Tensor& out) {
  if (!struck() || out.dtype() != DType::F32) {
    return;
  }
  if (kind_ == FaultKind::Nan) {
    fill_with_nan(backend, out);
  } else if (kind_ == FaultKind::Wrong && is_product(operation)) {
    make_too_large(backend, out);
  }
}

}  // namespace mynah
