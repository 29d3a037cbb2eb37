#include "backend/cpu/packed_keys.h"

#include <algorithm>
#include <cstring>

namespace mynah::cpu {
namespace {

// Channels [column, column + d) of a row of x in f32, where they are or in `room`.
const float* read_row(const Kernels& kernels, const Tensor& x, int64_t row, int64_t column,
                      int64_t d, float* room) {
  const std::byte* from = x.raw() + storage_bytes(x.dtype(), row * x.stride(0) + column);
  switch (x.dtype()) {
    case DType::F16:
      kernels.from_f16(reinterpret_cast<const uint16_t*>(from), d, room);
      return room;
    case DType::BF16:
      kernels.from_bf16(reinterpret_cast<const uint16_t*>(from), d, room);
      return room;
    default:
      return reinterpret_cast<const float*>(from);
  }
}

// Calls fn(j, row of the tensors) for each of them.
template <class Fn>
void for_each_row(const StoredRows& rows, Fn&& fn) {
  int64_t j = 0;
  rows.pages.for_each_run(rows.span, [&](int64_t first, int64_t count) {
    for (int64_t row = first; row < first + count; ++row) {
      fn(j++, row);
    }
  });
}

// One head's rows of x in f32, one after another, as wide as whole panels: zeros past the last
// channel.
void gather_rows(const Kernels& kernels, const PackedKeys& sizes, const StoredRows& rows,
                 const Tensor& x, int64_t column, float* out) {
  const int64_t rest = sizes.padded_channels - sizes.channels;
  for_each_row(rows, [&](int64_t j, int64_t from) {
    float* const row = out + j * sizes.padded_channels;
    const float* const read = read_row(kernels, x, from, column, sizes.channels, row);
    if (read != row) {
      std::copy_n(read, sizes.channels, row);
    }
    std::fill_n(row + sizes.channels, rest, 0.0F);
  });
}

// Mean of each channel over the rows of a run; 0 past the last channel.
void mean_of_rows(const Kernels& kernels, const PackedKeys& sizes, const Span& run,
                  const float* rows, float* out) {
  const int64_t width = sizes.padded_channels;
  kernels.column_sums(rows + run.begin * width, run.length, width, out);
  if (run.length > 0) {
    kernels.affine(out, width, 1.0F / static_cast<float>(run.length), 0.0F, out);
  }
}

void pack_keys_f32(const Kernels& kernels, const PackedKeys& sizes, const StoredRows& rows,
                   int64_t column, float* out) {
  float room[kMaxHead];
  const auto put = [&](int64_t j, const float* row) {
    float* to = out + j / kPanel * sizes.channels * kPanel + j % kPanel;
    for (int64_t i = 0; i < sizes.channels; ++i) {
      to[i * kPanel] = row[i];
    }
  };
  for_each_row(rows, [&](int64_t j, int64_t from) {
    put(j, read_row(kernels, rows.k, from, column, sizes.channels, room));
  });
  std::fill_n(room, sizes.channels, 0.0F);
  for (int64_t j = sizes.rows; j < sizes.padded_rows; ++j) {
    put(j, room);
  }
}

// Codes are relative to the mean of the first keys: what all keys share says nothing about which is
// meant, but would cost bits (Zhang et al. 2025, SageAttention, section 4.2).
void pack_keys_i8(const Kernels& kernels, const PackedKeys& sizes, const float* rows,
                  std::byte* out) {
  float row[kMaxHead] = {};
  uint8_t codes[kMaxHead + 4];
  const int64_t steps = sizes.key_steps();
  auto* const mean = reinterpret_cast<float*>(out + sizes.key_mean());
  mean_of_rows(kernels, sizes, sizes.run(0), rows, mean);
  for (int64_t j = 0; j < sizes.padded_rows; ++j) {
    const bool exists = j < sizes.rows;
    kernels.binary(BinaryOp::Subtract, exists ? rows + j * sizes.padded_channels : mean, mean, 1,
                   sizes.channels, row);
    const float scale = kernels.quantize_row(row, sizes.channels, codes, steps);
    int32_t sum = 0;
    for (int64_t i = 0; i < steps * 4; ++i) {
      codes[i] ^= 0x80U;  // from the offset of 128 to two's complement
      sum += static_cast<int8_t>(codes[i]);
    }
    std::byte* const panel = out + j / kPanel * sizes.key_panel_bytes();
    for (int64_t i = 0; i < steps; ++i) {
      std::memcpy(panel + (i * kPanel + j % kPanel) * 4, codes + i * 4, 4);
    }
    std::byte* const numbers = panel + sizes.key_scales() + j % kPanel * 4;
    std::memcpy(numbers, &scale, sizeof(scale));
    std::memcpy(numbers + kPanel * 4, &sum, sizeof(sum));
  }
}

void pack_values_f32(const Kernels& kernels, const PackedKeys& sizes, const StoredRows& rows,
                     int64_t column, float* out) {
  float room[kMaxHead];
  const auto put = [&](int64_t j, const float* row) {
    for (int64_t c = 0; c < sizes.value_panels(); ++c) {
      float* const to = out + (c * sizes.whole_rows + j) * kPanel;
      const int64_t count = std::min(kPanel, sizes.channels - c * kPanel);
      std::copy_n(row + c * kPanel, count, to);
      std::fill_n(to + count, kPanel - count, 0.0F);
    }
  };
  for_each_row(rows, [&](int64_t j, int64_t from) {
    put(j, read_row(kernels, rows.v, from, column, sizes.channels, room));
  });
  std::fill_n(room, sizes.channels, 0.0F);
  for (int64_t j = sizes.rows; j < sizes.whole_rows; ++j) {
    put(j, room);
  }
}

// Relative to the mean, what rounding takes from small probabilities is taken as the mean of all
// values, and not as nothing.
void pack_values_i8(const Kernels& kernels, const PackedKeys& sizes, const float* rows,
                    std::byte* out) {
  constexpr float kLargestCode = 127.0F;
  const int64_t width = sizes.padded_channels;
  float mean[kMaxHead];
  float peak[kMaxHead];
  float inverse[kMaxHead];  // of each channel's scale; 0 where all rows are the mean
  for (int64_t i = 0; i < sizes.runs(); ++i) {
    const Span run = sizes.run(i);
    const float* const own = rows + run.begin * width;
    mean_of_rows(kernels, sizes, run, rows, mean);
    kernels.column_peaks(own, run.length, width, mean, peak);
    for (int64_t j = 0; j < width; ++j) {
      inverse[j] = peak[j] > 0.0F ? kLargestCode / peak[j] : 0.0F;
    }
    for (int64_t c = 0; c < sizes.value_panels(); ++c) {
      const int64_t first = c * kPanel;
      std::byte* const panel = out + c * sizes.value_panel_bytes();
      kernels.value_codes(own + first, width, run.length, mean + first, inverse + first,
                          reinterpret_cast<uint8_t*>(panel) + run.begin * kPanel);
      auto* const numbers = reinterpret_cast<float*>(panel + sizes.value_scales(i));
      kernels.affine(peak + first, kPanel, 1.0F / (kLargestCode * kWeightCode), 0.0F, numbers);
      std::copy_n(mean + first, kPanel, numbers + kPanel);
    }
  }
}

}  // namespace

void pack_head(const Kernels& kernels, const PackedKeys& sizes, const StoredRows& rows,
               int64_t column, float* scratch, std::byte* out) {
  std::byte* const values = out + sizes.key_bytes();
  if (sizes.fast) {
    gather_rows(kernels, sizes, rows, rows.k, column, scratch);
    pack_keys_i8(kernels, sizes, scratch, out);
    gather_rows(kernels, sizes, rows, rows.v, column, scratch);
    pack_values_i8(kernels, sizes, scratch, values);
  } else {
    pack_keys_f32(kernels, sizes, rows, column, reinterpret_cast<float*>(out));
    pack_values_f32(kernels, sizes, rows, column, reinterpret_cast<float*>(values));
  }
}

}  // namespace mynah::cpu
