#include "tensor/host_arena.h"

#include <algorithm>
#include <iterator>

#include <sys/mman.h>

namespace mynah {
namespace {

constexpr size_t kPage = 4096;  // no block is aligned to less, whatever the system's page is
// Address space only: far more than a model of Whisper's size computes with.
constexpr size_t kRegionBytes = size_t{256} << 20U;

}  // namespace

HostArena::~HostArena() {
  for (const Region& region : regions_) {
    ::munmap(region.begin, region.bytes + kPage);
  }
}

size_t HostArena::rounded(size_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

bool HostArena::add_region(size_t bytes) {
  bytes = std::max(bytes, kRegionBytes);
  // A page that is never used keeps regions apart, so that a block lies in one.
  void* data = ::mmap(nullptr, bytes + kPage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) {
    return false;
  }
  // A page's first write costs 2.5 us in a virtual machine, and one page in 500 is enough.
  ::madvise(data, bytes, MADV_HUGEPAGE);
  const Region region{.begin = static_cast<std::byte*>(data), .bytes = bytes};
  regions_.insert(std::ranges::upper_bound(regions_, region.begin, {}, &Region::begin), region);
  insert_free({region.begin, region.bytes});
  return true;
}

HostArena::Region& HostArena::region_of(const std::byte* data) {
  return *std::prev(std::ranges::upper_bound(regions_, data, {}, &Region::begin));
}

std::byte* HostArena::take(size_t bytes) {
  bytes = rounded(bytes);
  const auto fits = [bytes](const Extent& extent) { return extent.bytes >= bytes; };
  auto found = std::ranges::find_if(free_, fits);
  if (found == free_.end()) {
    if (!add_region(bytes)) {
      return nullptr;
    }
    found = std::ranges::find_if(free_, fits);
  }
  std::byte* const data = found->begin;
  found->begin += bytes;
  found->bytes -= bytes;
  if (found->bytes == 0) {
    free_.erase(found);
  }
  // Between free extents lies a block at least: giving one back never allocates.
  ++blocks_;
  free_.reserve(blocks_ + regions_.size() + 1);
  Region& region = region_of(data);
  const auto end = static_cast<size_t>(data + bytes - region.begin);
  if (end > region.held) {
    region.held = end;
    ++growths_;
  }
  return data;
}

void HostArena::give(std::byte* data, size_t bytes) {
  --blocks_;
  insert_free({data, rounded(bytes)});
}

void HostArena::insert_free(const Extent& extent) {
  auto next = std::ranges::upper_bound(free_, extent.begin, {}, &Extent::begin);
  if (next != free_.begin() && std::prev(next)->end() == extent.begin) {
    const auto previous = std::prev(next);
    previous->bytes += extent.bytes;
    if (next != free_.end() && previous->end() == next->begin) {
      previous->bytes += next->bytes;
      free_.erase(next);
    }
    return;
  }
  if (next != free_.end() && extent.end() == next->begin) {
    *next = {extent.begin, extent.bytes + next->bytes};
    return;
  }
  free_.insert(next, extent);
}

void HostArena::trim() {
  for (const Extent& extent : free_) {
    ::madvise(extent.begin, extent.bytes, MADV_DONTNEED);
  }
  for (Region& region : regions_) {
    const auto last = std::ranges::find(free_, region.begin + region.bytes, &Extent::end);
    if (last != free_.end()) {
      region.held = static_cast<size_t>(last->begin - region.begin);
    }
  }
}

size_t HostArena::bytes_held() const {
  size_t held = 0;
  for (const Region& region : regions_) {
    held += region.held;
  }
  return held;
}

}  // namespace mynah
