// What the fake driver's handles point at.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cards.h"
#include "fake_cuda.h"
#include "ptx_text.h"

namespace mynah::gpu::fake {

struct Context;

// Everything with a handle. Destroyed ones stay until reset, so that a handle used after its end is
// known for what it was.
struct Object {
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

  std::string label;  // "stream 1"
  Context* context = nullptr;
  bool alive = true;
};

// Bytes of device or pinned memory.
struct Range {
  uint64_t address = 0;
  uint64_t bytes = 0;

  [[nodiscard]] bool overlaps(const Range& other) const {
    return address < other.address + other.bytes && other.address < address + bytes;
  }
};

// A step of a stream or a graph: a copy, a fill, a launch, a mark.
struct Work {
  std::string what;
  std::function<void()> run{};
  std::vector<Range> ranges{};       // memory it reads or writes
  const Object* function = nullptr;  // the kernel it launches
};

struct Graph : Object {
  std::vector<Work> steps;
};

struct GraphExec : Object {
  std::shared_ptr<const std::vector<Work>> steps;
};

struct Stream;

struct Capture {
  Graph* graph = nullptr;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;
  bool spoiled = false;
};

struct Stream : Object {
  unsigned flags = 0;
  std::deque<Work> pending;
  uint64_t submitted = 0;
  uint64_t done = 0;
  std::unique_ptr<Capture> capture;
};

struct Event : Object {
  unsigned flags = 0;
  Stream* stream = nullptr;  // where it was recorded last; null: never
  uint64_t position = 0;     // reached when stream->done is this
  const Graph* captured = nullptr;
  uint64_t time = 0;  // of the fake clock, a microsecond a step
};

struct Function : Object {
  PtxKernel kernel;
  int target = 0;  // of its PTX
  bool loaded = true;
  int dynamic_shared_bytes = 48 << 10;  // allowed without asking for more
};

struct Module : Object {
  PtxText text;
  std::map<std::string, Function*> functions;
};

struct Link : Object {
  PtxText text;
  bool has_text = false;
  std::vector<std::byte> image;
};

struct Pool : Object {
  int device = 0;
  uint64_t release_threshold = 0;
  uint64_t kept = 0;  // bytes that were freed into it
  uint64_t reserved_high = 0;
  uint64_t used_high = 0;
};

// A device's primary context.
struct Context : Object {
  int device = 0;
  int retains = 0;
  unsigned flags = 0;
  CUresult fault = CUDA_SUCCESS;  // what every call answers since the context died
  Stream default_stream;
};

// Memory that a driver's function gave out.
struct Block {
  Range range{};
  std::string label{};  // "memory 3"
  Context* context = nullptr;
  bool pinned = false;
  bool pooled = false;
  bool freeing = false;  // cuMemFreeAsync was called; the stream has not come to it
  std::shared_ptr<std::byte> bytes{};
};

}  // namespace mynah::gpu::fake
