// The one state of a fake driver's library: what its functions work on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "memory_ledger.h"
#include "objects.h"

namespace mynah::gpu::fake {

// What a call needs before it may do anything.
enum class Needs {
  Nothing,  // may come before cuInit
  Init,
  Context,  // a current one that has not died
};

// What a capture has against a call (CUDA C++ Programming Guide, "Prohibited and Unhandled
// Operations").
enum class InCapture {
  Allowed,
  Unsafe,     // forbidden unless every capture is relaxed
  Forbidden,  // while any stream of the context is captured
};

// The memory of a card is the process's own.
inline std::byte* host(uint64_t address) {
  return reinterpret_cast<std::byte*>(address);
}

class State : public FakeCuda {
 public:
  static State& instance();

  // FakeCuda.
  void reset(const FakeMachine& machine) override;
  void fail(const FakeFailure& failure) override;
  void on_launch(const std::string& kernel, FakeKernel action) override;
  [[nodiscard]] std::vector<FakeCall> calls() const override;
  void clear_calls() override;
  [[nodiscard]] std::vector<std::string> take_problems() override;
  [[nodiscard]] std::vector<std::string> leaks() const override;
  [[nodiscard]] FakeUse in_use() const override;

  // Every function of the driver: records it, lets it fail where a test wants that, checks what it
  // needs, and calls body, which answers the result.
  CUresult call(const char* function, Needs needs, const std::string& detail,
                const std::function<CUresult(State&)>& body);

  // state.cpp: devices and contexts.
  [[nodiscard]] int version() const;

  [[nodiscard]] const FakeMachine& machine() const { return machine_; }

  CUresult initialise();
  [[nodiscard]] const FakeCard* card(CUdevice device) const;
  // Whether this process may have the card now; it keeps it.
  bool take_alone(CUdevice device);
  CUresult retain(CUdevice device, CUcontext* context);
  CUresult release(CUdevice device);
  CUresult set_flags(CUdevice device, unsigned flags);
  CUresult get_state(CUdevice device, unsigned* flags, int* active);
  CUresult set_current(CUcontext context);
  CUresult get_current(CUcontext* context);
  CUresult push_current(CUcontext context);
  CUresult pop_current(CUcontext* context);

  // memory.cpp
  CUresult memory_info(size_t* free, size_t* total);
  CUresult allocate(CUdeviceptr* address, size_t bytes);
  CUresult free_memory(CUdeviceptr address);
  CUresult allocate_async(CUdeviceptr* address, size_t bytes, CUstream stream);
  CUresult free_async(CUdeviceptr address, CUstream stream);
  CUresult allocate_pinned(void** address, size_t bytes);
  CUresult free_pinned(void* address);
  CUresult default_pool(CUmemoryPool* pool, CUdevice device);
  CUresult pool_attribute(CUmemoryPool pool, CUmemPoolAttribute attribute, uint64_t* value,
                          bool set);
  CUresult trim_pool(CUmemoryPool pool, size_t bytes_to_keep);
  CUresult copy(void* to, const void* from, size_t bytes, bool to_device, bool from_device,
                CUstream stream);
  CUresult copy_2d(const CUmemcpy2D& copy, CUstream stream);
  CUresult fill(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream);

  // streams.cpp
  CUresult create_stream(CUstream* stream, unsigned flags);
  CUresult destroy_stream(CUstream stream);
  CUresult synchronize_stream(CUstream stream);
  CUresult query_stream(CUstream stream);
  CUresult wait_event(CUstream stream, CUevent event);
  CUresult create_event(CUevent* event, unsigned flags);
  CUresult destroy_event(CUevent event);
  CUresult record_event(CUevent event, CUstream stream);
  CUresult query_event(CUevent event);
  CUresult synchronize_event(CUevent event);
  CUresult elapsed_time(float* ms, CUevent begin, CUevent end);
  CUresult synchronize_context();

  // graphs.cpp
  CUresult begin_capture(CUstream stream, CUstreamCaptureMode mode);
  CUresult end_capture(CUstream stream, CUgraph* graph);
  CUresult is_capturing(CUstream stream, CUstreamCaptureStatus* status);
  CUresult instantiate(CUgraphExec* executable, CUgraph graph);
  CUresult launch_graph(CUgraphExec executable, CUstream stream);
  CUresult destroy_graph(CUgraph graph);
  CUresult destroy_executable(CUgraphExec executable);

  // modules.cpp
  CUresult load_module(CUmodule* module, const void* image, unsigned options, CUjitOption* names,
                       void** values);
  CUresult unload_module(CUmodule module);
  CUresult get_function(CUfunction* function, CUmodule module, const char* name);
  CUresult create_link(CUlinkState* state);
  CUresult add_link_data(CUlinkState state, CUjitInputType type, const void* data, size_t bytes,
                         unsigned options, CUjitOption* names, void** values);
  CUresult complete_link(CUlinkState state, void** image, size_t* bytes);
  CUresult destroy_link(CUlinkState state);
  CUresult function_attribute(int* value, CUfunctionAttribute attribute, CUfunction function);
  CUresult set_function_attribute(CUfunction function, CUfunctionAttribute attribute, int value);
  CUresult occupancy(int* blocks, CUfunction function, int block_threads, size_t shared_bytes);
  CUresult launch(CUfunction function, const FakeLaunch& launch, CUstream stream, void** parameters,
                  void** extra);

 private:
  struct Freed {
    uint64_t bytes = 0;
    std::string label;
    std::shared_ptr<std::byte> memory;  // kept, so that the address is not given out again too soon
  };

  void problem(const std::string& text) { problems_.push_back(text); }

  // The calling thread's context; null: none.
  [[nodiscard]] Context* current() const;

  // A new handle: an object with a number of its own.
  template <class T>
  T* make(const std::string& kind) {
    auto object = std::make_unique<T>();
    object->label = kind + " " + std::to_string(++numbers_[kind]);
    object->context = current();
    T* handle = object.get();
    index_.emplace(handle, handle);
    objects_.push_back(std::move(object));
    return handle;
  }

  // The living object of a handle. Null, and a problem, where it is none or has ended.
  template <class T>
  T* find(const void* handle, const char* kind) {
    const auto found = index_.find(handle);
    auto* const object = found == index_.end() ? nullptr : dynamic_cast<T*>(found->second);
    if (object == nullptr) {
      problem(std::string("a handle that is no ") + kind + " of this driver");
      return nullptr;
    }
    if (!object->alive) {
      problem(object->label + " is used after its end");
      return nullptr;
    }
    return object;
  }

  // Null is the default stream.
  Stream* find_stream(CUstream stream);

  // Whether a capture in the current context forbids this call; it is spoiled then.
  bool forbidden_by_capture(InCapture rule);

  // Puts a step at the end of a stream, of its capture where it is captured.
  CUresult submit(Stream& stream, Work work);
  CUresult join_default(const Stream& stream, const Work& work);
  void run_until(Stream& stream, uint64_t position);
  void run_all(const Context& context);
  // False, and a problem, where a step uses memory or a kernel that is gone.
  bool can_run(const Work& work);

  Block* find_block(uint64_t address);
  const Freed* find_freed(uint64_t address, uint64_t* begin) const;
  CUresult give_out(Block block, uint64_t bytes, uint64_t* address);
  void give_back(uint64_t address);
  // False, and a problem, where the range is not inside one living block of device memory.
  bool check_range(const Range& range, const std::string& what);
  [[nodiscard]] bool is_pinned(const Range& range) const;
  // A problem for every graph and pending step that uses the block.
  void check_unused(const Block& block);
  uint64_t device_bytes(int device) const;
  // What the card has for this process and those that share its memory.
  [[nodiscard]] uint64_t room(int device) const;
  [[nodiscard]] uint64_t pool_kept(int device) const;
  [[nodiscard]] uint8_t ledger_card(int device) const;
  // Notes what the process holds of the device, where memory is shared.
  void write_ledger(int device);

  Function* find_function(CUfunction function);
  CUresult read_image(const void* image, PtxText* text, std::string* log);
  CUresult compile(const std::string& source, PtxText* text, std::string* log);
  std::vector<Range> ranges_in(const std::vector<std::byte>& parameter, const std::string& what,
                               bool* all_alive);

  mutable std::mutex mutex_;
  FakeMachine machine_;
  bool initialised_ = false;
  std::vector<FakeCall> calls_;
  std::vector<FakeFailure> failures_;
  FakeFault damage_ = FakeFault::Result;  // of what the running call copies down
  std::unique_ptr<MemoryLedger> ledger_;  // none: memory is this process's own
  std::vector<std::string> problems_;
  std::map<std::string, FakeKernel> kernels_;
  std::map<std::string, int> numbers_;
  std::vector<std::unique_ptr<Object>> objects_;  // in the order of their making
  std::unordered_map<const void*, Object*> index_;
  std::map<int, Context*> primary_;  // by device
  std::map<int, UniqueFd> alone_;    // cards that nobody else may have: their locks
  std::map<int, Pool*> pools_;       // by device
  std::map<uint64_t, Block> blocks_;
  std::map<uint64_t, Freed> freed_;
  uint64_t clock_ = 0;
  int generation_ = 0;  // of reset: what a thread had current before is gone
};

}  // namespace mynah::gpu::fake
