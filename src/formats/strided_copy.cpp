#include "formats/strided_copy.h"

#include <cstring>

#include <fmt/format.h>

#include "formats/byte_reader.h"

namespace mynah {
namespace {

// One past the last element that is read, or nothing on overflow; 0 for no elements.
std::optional<uint64_t> reach(uint64_t offset, std::span<const uint64_t> sizes,
                              std::span<const uint64_t> strides) {
  uint64_t last = offset;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) {
      return 0;
    }
    const auto step = checked_multiply(sizes[i] - 1, strides[i]);
    const auto next = step ? checked_add(last, *step) : std::nullopt;
    if (!next) {
      return std::nullopt;
    }
    last = *next;
  }
  return checked_add(last, 1);
}

std::optional<uint64_t> element_count(std::span<const uint64_t> sizes) {
  uint64_t count = 1;
  for (const uint64_t size : sizes) {
    const auto next = checked_multiply(count, size);
    if (!next) {
      return std::nullopt;
    }
    count = *next;
  }
  return count;
}

}  // namespace

bool is_contiguous(std::span<const uint64_t> sizes, std::span<const uint64_t> strides) {
  uint64_t expected = 1;
  for (size_t i = sizes.size(); i > 0; --i) {
    if (sizes[i - 1] == 0) {
      return true;
    }
    if (sizes[i - 1] > 1 && strides[i - 1] != expected) {
      return false;
    }
    const auto next = checked_multiply(expected, sizes[i - 1]);
    if (!next) {
      return false;
    }
    expected = *next;
  }
  return true;
}

Result<std::shared_ptr<const std::vector<std::byte>>> copy_strided(
    std::span<const std::byte> storage, size_t element_bytes, uint64_t offset,
    std::span<const uint64_t> sizes, std::span<const uint64_t> strides) {
  const uint64_t held = storage.size() / element_bytes;
  const auto wanted = reach(offset, sizes, strides);
  const auto count = element_count(sizes);
  if (!wanted || !count || *wanted > held || *count > held) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted elements within a storage of {}, none of them twice, found "
                            "sizes ({}) with strides ({}) at {}",
                            held, fmt::join(sizes, ", "), fmt::join(strides, ", "), offset));
  }
  std::vector<std::byte> out(*count * element_bytes);
  std::vector<uint64_t> index(sizes.size(), 0);
  uint64_t at = offset;
  for (uint64_t i = 0; i < *count; ++i) {
    std::memcpy(out.data() + i * element_bytes, storage.data() + at * element_bytes, element_bytes);
    for (size_t axis = sizes.size(); axis > 0; --axis) {
      at += strides[axis - 1];
      if (++index[axis - 1] < sizes[axis - 1]) {
        break;
      }
      at -= strides[axis - 1] * sizes[axis - 1];
      index[axis - 1] = 0;
    }
  }
  return std::make_shared<const std::vector<std::byte>>(std::move(out));
}

}  // namespace mynah
