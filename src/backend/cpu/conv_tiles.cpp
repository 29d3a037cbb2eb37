#include "backend/cpu/conv_tiles.h"

#include <array>
#include <cstring>

namespace mynah::cpu {
namespace {

// Rows of a tile: a multiple of the kernels' 12 in each run.
int64_t tile_rows(int64_t dilation) {
  constexpr int64_t kRows = 12;
  constexpr int64_t kMost = 96;
  return kRows * dilation * std::max<int64_t>(1, kMost / (kRows * dilation));
}

// More than any run of a tile has.
constexpr int64_t kMostRunRows = 96;

// The last window of a tile is read in whole steps of the products, which the weights' zeros meet.
constexpr int64_t kPad = 4;

}  // namespace

ConvTiles::ConvTiles(const Kernels& kernels, HostPool& memory, const Tensor& x,
                     const Lengths& lengths, const LinearWeight& w, const Conv1dParams& params,
                     const Tensor& out)
    : kernels_(kernels),
      memory_(memory),
      x_(x),
      w_(w),
      params_(params),
      channels_(x.dim(1)),
      kept_(Kept::F32),
      view_(w),
      target_(target_of(params, out)),
      inverses_(memory, channels_),
      inputs_(params.input, channels_, inverses_.data()) {
  if (params.precision == Precision::Fast) {
    const bool bf16 = w.dtype == DType::BF16 && kernels.gemm_bf16 != nullptr;
    kept_ = w.dtype == DType::I8 ? Kept::I8 : bf16 ? Kept::Bf16 : Kept::F32;
  }
  const int64_t most = tile_rows(params.dilation);
  int64_t out_rows = 0;
  for (int64_t u = 0; u < lengths.count(); ++u) {
    const int64_t rows = params.out_rows(lengths[u].length);
    for (int64_t first = 0; first < rows; first += most) {
      tiles_.push_back({.utterance = u,
                        .span = lengths[u],
                        .first = first,
                        .rows = std::min(most, rows - first),
                        .out_begin = out_rows});
    }
    out_rows += rows;
  }
}

int64_t ConvTiles::tile_bytes() const {
  const int64_t seen = runs_of(tile_rows(params_.dilation)).seen();
  return (seen * channels_ + kPad) * static_cast<int64_t>(element_bytes());
}

void ConvTiles::put_f32(const float* x, const InputRow& how, const Runs& runs, const Span& rows,
                        float* to) const {
  for (int64_t q = rows.begin; q < rows.end(); ++q, x += x_.stride(0)) {
    kernels_.input_row(x, how, channels_, to + runs.place(q) * channels_);
  }
}

void ConvTiles::put_bf16(const float* x, const InputRow& how, const Runs& runs, const Span& rows,
                         uint16_t* to) const {
  const Scratch<float> row(memory_, channels_);
  for (int64_t q = rows.begin; q < rows.end(); ++q, x += x_.stride(0)) {
    kernels_.input_row(x, how, channels_, row.data());
    kernels_.to_bf16(row.data(), channels_, to + runs.place(q) * channels_);
  }
}

float ConvTiles::put_codes(const float* x, const InputRow& how, const Runs& runs, const Span& rows,
                           uint8_t* to) const {
  const Scratch<float> values(memory_, std::max<int64_t>(1, rows.length * channels_));
  float peak = 0.0F;
  for (int64_t i = 0; i < rows.length; ++i) {
    peak = std::max(peak, kernels_.input_row(x + i * x_.stride(0), how, channels_,
                                             values.data() + i * channels_));
  }
  const float inverse = peak > 0.0F ? 127.0F / peak : 0.0F;
  for (int64_t i = 0; i < rows.length; ++i) {
    kernels_.codes(values.data() + i * channels_, channels_, inverse,
                   to + runs.place(rows.begin + i) * channels_);
  }
  return peak / 127.0F;
}

float ConvTiles::prepare(int64_t number, std::byte* to) const {
  const Tile& tile = tiles_[static_cast<size_t>(number)];
  const Runs runs = runs_of(tile.rows);
  const size_t row_bytes = static_cast<size_t>(channels_) * element_bytes();
  const int64_t seen = runs.seen();
  const int64_t first = tile.first - params_.padding_left;  // row of the utterance, may be before
  const int64_t begin = std::clamp<int64_t>(-first, 0, seen);
  const int64_t end = std::clamp<int64_t>(tile.span.length - first, begin, seen);
  for (int64_t q = 0; q < seen; ++q) {
    if (q < begin || q >= end) {
      std::memset(to + static_cast<size_t>(runs.place(q)) * row_bytes, kept_ == Kept::I8 ? 128 : 0,
                  row_bytes);
    }
  }
  std::memset(to + static_cast<size_t>(seen) * row_bytes, 0, kPad * element_bytes());
  const InputRow how = inputs_.of(tile.utterance);
  const Span rows{.begin = begin, .length = end - begin};
  const float* const x = x_.data<float>() + (tile.span.begin + first + begin) * x_.stride(0);
  switch (kept_) {
    case Kept::F32:
      put_f32(x, how, runs, rows, reinterpret_cast<float*>(to));
      return 0.0F;
    case Kept::Bf16:
      put_bf16(x, how, runs, rows, reinterpret_cast<uint16_t*>(to));
      return 0.0F;
    case Kept::I8:
      break;
  }
  return put_codes(x, how, runs, rows, reinterpret_cast<uint8_t*>(to));
}

void ConvTiles::multiply(int64_t number, const std::byte* from, float scale, int64_t panel,
                         int64_t panel_end) const {
  const Tile& tile = tiles_[static_cast<size_t>(number)];
  const Runs runs = runs_of(tile.rows);
  alignas(64) int32_t sums[kMostRunRows * kPanel];
  auto* const floats = reinterpret_cast<float*>(sums);
  std::array<float, kMostRunRows> scales;
  scales.fill(scale);
  const bool widen = kept_ == Kept::F32 && w_.dtype != DType::F32;
  const Scratch<float> wide(memory_, widen ? widened_rows(w_) * kPanel : 1);
  for (int64_t p = panel; p < panel_end; ++p) {
    const std::byte* weights = view_.panel(p);
    if (widen) {
      widen_panel(kernels_, w_, p, wide.data());
      weights = reinterpret_cast<const std::byte*>(wide.data());
    }
    for (int64_t run = 0; run < std::min(params_.dilation, tile.rows); ++run) {
      const int64_t m = runs.count(run);
      const std::byte* const a =
          from + static_cast<size_t>(runs.begin(run) * channels_) * element_bytes();
      const int64_t row = tile.out_begin + tile.first + run;
      Finish finish = target_.finish(row, p * kPanel);
      finish.residual_stride *= params_.dilation;
      float* const to = target_.data + row * target_.stride + p * kPanel;
      const int64_t stride = target_.stride * params_.dilation;
      if (kept_ == Kept::I8) {
        kernels_.gemm_i8(reinterpret_cast<const uint8_t*>(a), channels_, m, view_.steps(),
                         reinterpret_cast<const int8_t*>(weights), sums, kPanel);
        kernels_.finish_i8(
            sums, m, view_.columns(p),
            {.rows = scales.data(), .columns = view_.scales(p), .column_sums = view_.sums(p)},
            finish, to, stride);
        continue;
      }
      if (kept_ == Kept::Bf16) {
        kernels_.gemm_bf16(reinterpret_cast<const uint16_t*>(a), channels_, m, view_.steps(),
                           reinterpret_cast<const uint16_t*>(weights), 1, 0, floats, kPanel);
      } else {
        kernels_.gemm_f32(reinterpret_cast<const float*>(a), channels_, m, w_.in_features,
                          reinterpret_cast<const float*>(weights), floats, kPanel);
      }
      kernels_.finish(floats, m, view_.columns(p), finish, to, stride);
    }
  }
}

}  // namespace mynah::cpu
