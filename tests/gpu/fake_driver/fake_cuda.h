// The other side of the fake driver: what a test sets up and asks, while the code under test calls
// the driver's functions as it would call NVIDIA's. LoadedFake (loaded_fake.h) is the way in.
//
// What the fake does:
// - Device memory is host memory at the same address, filled with 0xFF (not-a-number) when it is
// allocated.
// - A kernel is what the test gave for its name with on_launch; without that a launch is only
// recorded.
//   It must not call the driver itself. Modules are real PTX text, of which names and parameters of
//   the kernels are read, or the "compiled" image that the fake's linker makes of one.
// - Work in a stream is done late (FakeExecution::Deferred): when something waits for it, as late
// as a device
//   may be. So a result that is read without waiting, or a buffer that is reused too early, shows.
//   Copies from and to memory that is not pinned end before the call returns, and so does all of
//   the default stream.
// - Captures are of one stream: the fake refuses a fork to another. A graph replays copies, fills
// and launches
//   with the parameters they were captured with.
// - An error that kills a context (700, 719, ...) makes every later call of the context fail
// likewise.
// - Misuse that a real driver may forgive is a problem (problems()), and what is left over a leak
// (leaks()).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gpu/driver_types.h"

namespace mynah::gpu::fake {

// A card, by default a middling one.
struct FakeCard {
  std::string name = "Fake RTX";
  int compute_major = 8;
  int compute_minor = 9;
  uint64_t memory_bytes = uint64_t{8} << 30;
  uint64_t held_bytes = 0;              // of its memory: by others, all the time
  std::string pci_bus_id{};             // empty: made from its place
  std::optional<uint8_t> uuid{};        // the byte its UUID is made of; none: 0x10 and its place
  std::optional<uint8_t> slice_uuid{};  // it is a MIG slice, whose own UUID is made of this
  std::map<int, int> attributes{};      // over those that follow from the above
};

enum class FakeExecution {
  Deferred,   // when something waits for it
  Immediate,  // inside the call that submits it
};

struct FakeMachine {
  std::vector<FakeCard> cards = {FakeCard{}};
  int version =
      0;  // what cuDriverGetVersion says; 0: that of the library, whose functions do not change
  FakeExecution execution = FakeExecution::Deferred;
  // Where processes write what they hold of each card's memory (memory_ledger.h); empty: this one
  // has it for itself.
  std::string memory_file{};
  CUresult start = CUDA_SUCCESS;  // what cuInit answers where it is not this
  bool keeps_calls = true;        // for calls(): what runs long is not to fill the memory with them
};

// How a call fails.
enum class FakeFault {
  Result,     // it answers `result`
  Hang,       // it does not come back
  Crash,      // the process ends by SIGSEGV in it
  NoNumbers,  // of cuMemcpyDtoHAsync: what comes down is not-a-number in every type
  Wrong,      // of cuMemcpyDtoHAsync: what comes down is something else, and looks sound
};

// The nth call of `function` from now on fails.
struct FakeFailure {
  std::string function;  // by its name without suffix: "cuMemAlloc"
  CUresult result = CUDA_ERROR_UNKNOWN;
  int nth = 1;
  bool kills_context = false;  // besides the results that always do: the device is lost
  FakeFault fault = FakeFault::Result;
};

struct FakeCall {
  std::string function;
  std::string detail;  // "256 bytes, stream 1"
  CUresult result = CUDA_SUCCESS;
};

// What a kernel sees of its launch.
struct FakeLaunch {
  std::string kernel;
  int target = 0;  // of the PTX that it is from: 80 for sm_80
  std::array<unsigned, 3> grid{};
  std::array<unsigned, 3> block{};
  unsigned dynamic_shared_bytes = 0;
  std::vector<std::vector<std::byte>>
      parameters;  // their bytes, by the sizes that the PTX declares

  template <class T>
  [[nodiscard]] T parameter(size_t index) const {
    T value;
    std::memcpy(&value, parameters.at(index).data(), sizeof(T));
    return value;
  }
};

using FakeKernel = std::function<void(const FakeLaunch&)>;

// How much is alive.
struct FakeUse {
  uint64_t device_bytes = 0;  // of all cards
  size_t allocations = 0;
  size_t pinned = 0;
  size_t streams = 0;
  size_t events = 0;
  size_t modules = 0;
  size_t links = 0;
  size_t graphs = 0;
  size_t executables = 0;
  int retains = 0;  // of primary contexts
};

class FakeCuda {
 public:
  virtual ~FakeCuda() = default;

  // A new process on this machine: nothing is initialised, allocated, recorded, set to fail or
  // leaked.
  virtual void reset(const FakeMachine& machine) = 0;

  virtual void fail(const FakeFailure& failure) = 0;

  // What the kernels of this name do from now on.
  virtual void on_launch(const std::string& kernel, FakeKernel action) = 0;

  // All calls since reset, or the last clear_calls, in order.
  [[nodiscard]] virtual std::vector<FakeCall> calls() const = 0;
  virtual void clear_calls() = 0;

  // Misuse so far; taken away, so that what a test provokes does not fail it at its end.
  [[nodiscard]] virtual std::vector<std::string> take_problems() = 0;

  // What nobody freed, destroyed or released.
  [[nodiscard]] virtual std::vector<std::string> leaks() const = 0;

  [[nodiscard]] virtual FakeUse in_use() const = 0;
};

}  // namespace mynah::gpu::fake

// The one of the library that dlsym asked.
extern "C" mynah::gpu::fake::FakeCuda* mynah_fake_cuda();
