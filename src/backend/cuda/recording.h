// Recording: launches written down instead of done.
#pragma once

#include <cstddef>
#include <vector>

#include "backend/cuda/processor.h"

namespace mynah::cuda {

// Equal recordings do the same to the same memory: bits that no field of an argument has are for
// who adds them to set, always alike.
class Recording {
 public:
  // Copies the arguments.
  void add(const Launch& launch);

  // What was added, in order; until more is.
  [[nodiscard]] std::vector<Launch> launches() const;

  [[nodiscard]] size_t count() const { return entries_.size(); }

  void clear();

  bool operator==(const Recording& other) const = default;

 private:
  struct Entry {
    KernelId kernel;
    GridSize grid;
    int threads = 0;
    size_t shared_bytes = 0;
    size_t args_at = 0;  // in arguments_
    size_t args_bytes = 0;

    bool operator==(const Entry&) const = default;
  };

  std::vector<Entry> entries_;
  std::vector<std::byte> arguments_;
};

}  // namespace mynah::cuda
