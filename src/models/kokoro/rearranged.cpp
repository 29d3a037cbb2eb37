#include "models/kokoro/rearranged.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace mynah::kokoro {

namespace {

// Copies what stands at `from` into place at `to`, `size` bytes an element: the compiler knows the
// size, which a memcpy() of any number of bytes would look at each time.
template <size_t kSize>
void transpose(const std::byte* from, std::byte* to, size_t rows, size_t columns) {
  constexpr size_t kTile = 32;  // both sides of a tile stay in the first cache
  for (size_t r0 = 0; r0 < rows; r0 += kTile) {
    for (size_t c0 = 0; c0 < columns; c0 += kTile) {
      for (size_t r = r0; r < std::min(r0 + kTile, rows); ++r) {
        for (size_t c = c0; c < std::min(c0 + kTile, columns); ++c) {
          std::memcpy(to + (c * rows + r) * kSize, from + (r * columns + c) * kSize, kSize);
        }
      }
    }
  }
}

std::vector<std::byte> in_parts(std::span<const std::byte> bytes, std::span<const int64_t> order) {
  const size_t part = bytes.size() / order.size();
  std::vector<std::byte> result;
  result.reserve(bytes.size());
  for (const int64_t from : order) {
    const auto own = bytes.subspan(static_cast<size_t>(from) * part, part);
    result.insert(result.end(), own.begin(), own.end());
  }
  return result;
}

std::vector<std::byte> bytes_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::span<const std::byte> Rearranged::keep(std::vector<std::byte> bytes) {
  bytes_->push_back(std::move(bytes));
  return bytes_->back();
}

StoredTensor Rearranged::transposed(const StoredTensor& tensor) {
  MYNAH_CHECK(tensor.shape.rank() == 2 && tensor.row_scales.empty(), "no matrix of elements");
  const auto rows = static_cast<size_t>(tensor.shape[0]);
  const auto columns = static_cast<size_t>(tensor.shape[1]);
  std::vector<std::byte> bytes(tensor.bytes.size());
  switch (block_bytes(tensor.dtype)) {
    case 1:
      transpose<1>(tensor.bytes.data(), bytes.data(), rows, columns);
      break;
    case 2:
      transpose<2>(tensor.bytes.data(), bytes.data(), rows, columns);
      break;
    default:
      MYNAH_CHECK(block_bytes(tensor.dtype) == 4, "wanted elements of 1, 2 or 4 bytes");
      transpose<4>(tensor.bytes.data(), bytes.data(), rows, columns);
  }
  StoredTensor result = tensor;
  result.shape = {tensor.shape[1], tensor.shape[0]};
  result.bytes = keep(std::move(bytes));
  return result;
}

StoredTensor Rearranged::parts_in_order(const StoredTensor& tensor,
                                        std::span<const int64_t> order) {
  MYNAH_CHECK(tensor.shape[0] % std::ssize(order) == 0, "parts that are not equal");
  StoredTensor result = tensor;
  result.bytes = keep(in_parts(tensor.bytes, order));
  result.row_scales = keep(in_parts(tensor.row_scales, order));
  return result;
}

StoredTensor Rearranged::floats(const Shape& shape, std::span<const float> values) {
  return {.name = {},
          .dtype = DType::F32,
          .shape = shape,
          .bytes = keep(bytes_of(std::as_bytes(values))),
          .row_scales = {}};
}

StoredTensor Rearranged::scaled_codes(const Shape& shape, std::span<const int8_t> codes,
                                      std::span<const float> scales) {
  return {.name = {},
          .dtype = DType::I8,
          .shape = shape,
          .bytes = keep(bytes_of(std::as_bytes(codes))),
          .row_scales = keep(bytes_of(std::as_bytes(scales)))};
}

}  // namespace mynah::kokoro
