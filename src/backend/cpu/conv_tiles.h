// Convolutions of stride 1 tile by tile: neighbouring windows share what they see, which is made
// ready once, in the first caches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/cpu/cpu_backend_class.h"
#include "backend/cpu/packed.h"

namespace mynah::cpu {

// How each utterance's rows are seen.
class Inputs {
 public:
  // `inverses` has room for x's channels.
  Inputs(const Conv1dInput* input, int64_t channels, float* inverses) : channels_(channels) {
    if (input == nullptr) {
      return;
    }
    all_.slope = input->slope;
    if (input->alpha != nullptr) {
      all_.alpha = input->alpha->data<float>();
      all_.inverse = inverses;
      std::transform(all_.alpha, all_.alpha + channels, inverses,
                     [](float alpha) { return 1.0F / alpha; });
    }
    factors_ = input->factors;
  }

  [[nodiscard]] InputRow of(int64_t utterance) const {
    InputRow row = all_;
    if (factors_ != nullptr) {
      row.scale = factors_->data<float>() + utterance * factors_->stride(0);
      row.shift = row.scale + channels_;
    }
    return row;
  }

 private:
  int64_t channels_;
  InputRow all_;
  const Tensor* factors_ = nullptr;
};

class ConvTiles {
 public:
  // All of it outlives this.
  ConvTiles(const Kernels& kernels, HostPool& memory, const Tensor& x, const Lengths& lengths,
            const LinearWeight& w, const Conv1dParams& params, const Tensor& out);

  [[nodiscard]] int64_t count() const { return static_cast<int64_t>(tiles_.size()); }

  [[nodiscard]] int64_t panels() const { return view_.panels(); }

  // Of what prepare() writes.
  [[nodiscard]] int64_t tile_bytes() const;

  // Writes what a tile's windows see, as the products read it; returns int8's scale.
  float prepare(int64_t tile, std::byte* to) const;

  // The tile's result in panels [panel, panel_end) of the weights, from what prepare() left.
  void multiply(int64_t tile, const std::byte* from, float scale, int64_t panel,
                int64_t panel_end) const;

 private:
  // What the products take.
  enum class Kept : uint8_t { F32, Bf16, I8 };

  // Neighbouring rows of an utterance's result.
  struct Tile {
    int64_t utterance = 0;
    Span span;          // of x
    int64_t first = 0;  // of the utterance's result
    int64_t rows = 0;
    int64_t out_begin = 0;  // the utterance's first row of the result
  };

  // Windows of a dilated convolution are runs of memory where the rows that they see, `dilation`
  // apart, lie one after another: a tile's input is kept as `dilation` runs, the rows 0, d, 2 d,
  // ..., then 1, d + 1, ... . Window `i` of run `p` is that of the tile's row p + i * d.
  struct Runs {
    int64_t dilation = 1;
    int64_t rows = 0;  // of the tile's result
    int64_t kernel = 1;

    // Rows of input that the tile sees.
    [[nodiscard]] int64_t seen() const { return rows + dilation * (kernel - 1); }

    // Where run p begins, in rows: those before it have seen() / d rows, and one more for each of
    // the first seen() % d.
    [[nodiscard]] int64_t begin(int64_t p) const {
      return p * (seen() / dilation) + std::min(p, seen() % dilation);
    }

    // Where row q of the input is kept.
    [[nodiscard]] int64_t place(int64_t q) const { return begin(q % dilation) + q / dilation; }

    // Rows of the result in run p.
    [[nodiscard]] int64_t count(int64_t p) const { return (rows - p + dilation - 1) / dilation; }
  };

  [[nodiscard]] Runs runs_of(int64_t rows) const {
    return {.dilation = params_.dilation, .rows = rows, .kernel = params_.kernel};
  }

  [[nodiscard]] size_t element_bytes() const {
    return kept_ == Kept::F32 ? 4 : kept_ == Kept::Bf16 ? 2 : 1;
  }

  // Rows of x from `x` on become rows [begin, end) of what the tile sees.
  void put_f32(const float* x, const InputRow& how, const Runs& runs, const Span& rows,
               float* to) const;
  void put_bf16(const float* x, const InputRow& how, const Runs& runs, const Span& rows,
                uint16_t* to) const;
  float put_codes(const float* x, const InputRow& how, const Runs& runs, const Span& rows,
                  uint8_t* to) const;

  const Kernels& kernels_;
  HostPool& memory_;
  const Tensor& x_;
  const LinearWeight& w_;
  const Conv1dParams& params_;
  int64_t channels_;
  Kept kept_;
  PackedView view_;
  Target target_;
  Scratch<float> inverses_;
  Inputs inputs_;
  std::vector<Tile> tiles_;
};

}  // namespace mynah::cpu
