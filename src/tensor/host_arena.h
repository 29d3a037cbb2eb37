// Large blocks of host memory, cut from regions of address space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mynah {

// First fit by address: a free block is taken from the lowest addresses that have room and joins
// its free neighbours when it comes back. What a computation holds then stays close to what it
// needs at its fullest moment, where a list for each size would keep the sum of all sizes' fullest
// moments. A block's pages come from the system when they are first written.
class HostArena {
 public:
  HostArena() = default;
  ~HostArena();  // every block must have come back
  HostArena(const HostArena&) = delete;
  HostArena& operator=(const HostArena&) = delete;

  // What a block of `bytes` takes: whole pages.
  [[nodiscard]] static size_t rounded(size_t bytes);

  // A block of rounded(bytes) on a page's boundary, contents undefined; null when the system has no
  // more addresses.
  std::byte* take(size_t bytes);
  void give(std::byte* data, size_t bytes);

  // Gives the pages of free blocks back to the system.
  void trim();

  // Bytes from each region's begin to the end of the highest block since it was last trimmed: no
  // fewer than are resident.
  [[nodiscard]] size_t bytes_held() const;

  // How many times a block reached beyond bytes_held(), and pages had to come from the system.
  [[nodiscard]] int64_t growths() const { return growths_; }

 private:
  struct Region {
    std::byte* begin = nullptr;
    size_t bytes = 0;
    size_t held = 0;
  };

  struct Extent {
    std::byte* begin = nullptr;
    size_t bytes = 0;

    [[nodiscard]] std::byte* end() const { return begin + bytes; }
  };

  bool add_region(size_t bytes);
  Region& region_of(const std::byte* data);
  void insert_free(const Extent& extent);

  std::vector<Region> regions_;  // in the order of their addresses
  std::vector<Extent> free_;     // in the order of their addresses, none touching the next
  size_t blocks_ = 0;            // taken
  int64_t growths_ = 0;
};

}  // namespace mynah
