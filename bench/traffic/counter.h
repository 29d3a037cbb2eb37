// Counter: what an operation's kernels pay, counted on the simulated card. Of a launch a few blocks
// are run; the others pay the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/cuda/cuda_backend.h"
#include "base/thread_pool.h"
#include "cards.h"
#include "ops/op_case.h"

namespace mynah::bench {

// A kernel's launch in one operation.
struct Finding {
  std::string row;
  Work work;

  // The longest of an operation's kernels is what its arithmetic is done by.
  [[nodiscard]] double weight() const;
};

using Key = std::pair<std::string, int>;  // kernel and level
using Findings = std::map<Key, Finding>;

class Counter {
 public:
  explicit Counter(int level);

  // The launches of the operation in their order, its arithmetic and bytes with that which pays
  // most; none where the level has no such weights.
  std::vector<std::pair<Key, Finding>> launches(const cases::OpCase& c);

  // The same into `best`, where a better finding of a kernel is one that pays more.
  void count(const cases::OpCase& c, Findings& best);

 private:
  std::unique_ptr<Backend> backend(int level, int64_t sample);
  void run(const cases::OpCase& c, Backend& backend);

  ThreadPool pool_;
  std::vector<simt::LaunchReport> launches_;
  size_t before_ = 0;  // of them before the operation
  std::unique_ptr<Backend> sampled_;
  std::unique_ptr<Backend> whole_;
};

// Whether it is this level's program of the kernel that the card runs.
bool runs(const Card& card, std::string_view kernel, int level);

}  // namespace mynah::bench
