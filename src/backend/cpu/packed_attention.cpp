#include "backend/cpu/packed_attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace mynah::cpu {
namespace {

int64_t element_bytes(bool bf16) {
  return bf16 ? 2 : 4;
}

int64_t widest(const Readers& readers) {
  int64_t width = 0;
  for (const Reader& reader : readers.list) {
    width = std::max(width, PackedKeys(*reader.keys).padded_rows);
  }
  return width;
}

}  // namespace

QueryBlock::QueryBlock(HostPool& memory, const Kernels& kernels, const Readers& readers,
                       const Tensor& q)
    : kernels_(kernels),
      readers_(readers),
      q_(q),
      d_(q.dim(1) / readers.heads),
      even_d_((d_ + 1) / 2 * 2),
      fast_(readers.list.front().keys->precision == Precision::Fast),
      rounds_(fast_ && kernels.gemm_bf16 != nullptr),
      own_width_(widest(readers)),
      width_(own_width_ + (readers.tail == nullptr ? 0 : PackedKeys(*readers.tail).padded_rows)),
      queries_(memory, kQueryBlock * even_d_),
      rounded_queries_(memory, rounds_ ? kQueryBlock * even_d_ : 1),
      scores_(memory, std::max<int64_t>(1, kQueryBlock * width_)),
      rounded_scores_(memory, rounds_ ? std::max<int64_t>(1, kQueryBlock * width_) : 1),
      mixed_(memory, kQueryBlock * (d_ + kPanel)),
      mixed_tail_(memory, kQueryBlock * (d_ + kPanel)) {}

QueryBlock::Run QueryBlock::run_from(int64_t begin) const {
  const auto at = [&](int64_t i) { return block_[static_cast<size_t>(i)].keys; };
  int64_t end = begin + 1;
  while (end < static_cast<int64_t>(block_.size()) && at(end) == at(begin)) {
    ++end;
  }
  return {begin, end, at(begin)};
}

const std::byte* QueryBlock::head_of(const KeysValues& keys, int64_t head) const {
  return keys.data.raw() + head / (readers_.heads / keys.heads) * PackedKeys(keys).head_bytes();
}

QueryBlock::Left QueryBlock::queries(int64_t row) const {
  const int64_t at = row * even_d_;
  return {queries_.data() + at, rounds_ ? rounded_queries_.data() + at : nullptr, even_d_};
}

QueryBlock::Left QueryBlock::weights(int64_t row, int64_t column) const {
  const int64_t at = row * width_ + column;
  return {scores_.data() + at, rounds_ ? rounded_scores_.data() + at : nullptr, width_};
}

void QueryBlock::product(const Left& left, int64_t rows, int64_t steps, const Right& right,
                         float* out, int64_t out_stride) const {
  if (rounds_) {
    kernels_.gemm_bf16(left.rounded, left.stride, rows, steps / 2,
                       reinterpret_cast<const uint16_t*>(right.data), right.count, right.stride,
                       out, out_stride);
    return;
  }
  for (int64_t i = 0; i < right.count; ++i) {
    const std::byte* panel = right.data + i * right.stride * element_bytes(fast_);
    if (fast_) {
      kernels_.gemm_f32_bf16(left.exact, left.stride, rows, steps / 2,
                             reinterpret_cast<const uint16_t*>(panel), out + i * kPanel,
                             out_stride);
    } else {
      kernels_.gemm_f32(left.exact, left.stride, rows, steps, reinterpret_cast<const float*>(panel),
                        out + i * kPanel, out_stride);
    }
  }
}

// Scaled queries of one head, and what of the tail they see.
void QueryBlock::load(int64_t head, int64_t first, int64_t count) {
  block_ = readers_.list.subspan(static_cast<size_t>(first), static_cast<size_t>(count));
  for (int64_t r = 0; r < count; ++r) {
    const float* row =
        q_.data<float>() + block_[static_cast<size_t>(r)].row * q_.stride(0) + head * d_;
    float* to = queries_.data() + r * even_d_;
    to[even_d_ - 1] = 0.0F;
    kernels_.affine(row, d_, readers_.scale, 0.0F, to);
    if (rounds_) {
      kernels_.to_bf16(to, even_d_, rounded_queries_.data() + r * even_d_);
    }
  }
  tail_rows_ = 0;
  if (readers_.tail != nullptr) {
    tail_rows_ = std::ranges::count_if(
        block_, [&](const Reader& reader) { return reader.tail_begin < readers_.tail->rows; });
    tail_from_ = block_.front().tail_begin / kPanel * kPanel;
  }
}

void QueryBlock::score(int64_t head) {
  for (int64_t r = 0; r < static_cast<int64_t>(block_.size());) {
    const Run run = run_from(r);
    const PackedKeys sizes(*run.keys);
    product(queries(r), run.end - r, even_d_,
            {head_of(*run.keys, head), sizes.key_panels(), sizes.key_panel()},
            scores_.data() + r * width_, width_);
    r = run.end;
  }
}

// Readers are sorted by what they see of the tail, so that each panel belongs to the first few.
void QueryBlock::score_tail(int64_t head) {
  const PackedKeys sizes(*readers_.tail);
  const std::byte* panels = head_of(*readers_.tail, head);
  const auto seeing = [&](int64_t panel) {
    return std::ranges::count_if(
        block_.first(static_cast<size_t>(tail_rows_)),
        [&](const Reader& reader) { return reader.tail_begin < (panel + 1) * kPanel; });
  };
  for (int64_t panel = tail_from_ / kPanel; panel < sizes.key_panels();) {
    const int64_t rows = seeing(panel);
    int64_t end = panel + 1;
    while (end < sizes.key_panels() && (rows == tail_rows_ || seeing(end) == rows)) {
      ++end;
    }
    product(
        queries(0), rows, even_d_,
        {panels + panel * sizes.key_panel() * element_bytes(fast_), end - panel, sizes.key_panel()},
        scores_.data() + own_width_ + panel * kPanel - tail_from_, width_);
    panel = end;
  }
}

float QueryBlock::weigh(int64_t row, int64_t column, int64_t n, int64_t end, float shift) {
  const int64_t at = row * width_ + column;
  const auto rest = static_cast<size_t>(end - n);
  if (rounds_) {
    uint16_t* to = rounded_scores_.data() + at;
    std::memset(to + n, 0, rest * sizeof(uint16_t));
    return kernels_.exp_bf16(scores_.data() + at, n, shift, to);
  }
  float* to = scores_.data() + at;
  std::memset(to + n, 0, rest * sizeof(float));
  return kernels_.exp_sum(to, n, shift, to);
}

void QueryBlock::weigh_rows() {
  const float group = std::log(static_cast<float>(readers_.tail_group));
  for (int64_t r = 0; r < static_cast<int64_t>(block_.size()); ++r) {
    const Reader& reader = block_[static_cast<size_t>(r)];
    const PackedKeys own(*reader.keys);
    const float* row = scores_.data() + r * width_;
    // A row of the tail counts as `tail_group` keys: exp(score + log(group)).
    const int64_t before = reader.tail_begin - tail_from_;
    const int64_t seen = r < tail_rows_ ? readers_.tail->rows - reader.tail_begin : 0;
    float largest = -std::numeric_limits<float>::infinity();
    if (reader.visible > 0) {
      largest = kernels_.max(row, reader.visible);
    }
    if (seen > 0) {
      largest = std::max(largest, kernels_.max(row + own_width_ + before, seen) + group);
    }
    float sum = weigh(r, 0, reader.visible, own.even_rows, largest);
    if (seen > 0) {
      weigh(r, own_width_, 0, before, largest);
      const int64_t end = PackedKeys(*readers_.tail).even_rows - reader.tail_begin;
      sum += weigh(r, own_width_ + before, seen, end, largest - group);
    }
    scale_[r] = sum > 0 ? 1.0F / sum : 0.0F;
  }
}

void QueryBlock::mix(int64_t head, const Tensor& out) {
  const int64_t width = (d_ + kPanel - 1) / kPanel * kPanel;
  for (int64_t r = 0; r < static_cast<int64_t>(block_.size());) {
    const Run run = run_from(r);
    const PackedKeys sizes(*run.keys);
    const std::byte* values =
        head_of(*run.keys, head) + sizes.key_elements() * element_bytes(fast_);
    product(weights(r, 0), run.end - r, sizes.even_rows,
            {values, sizes.value_panels(), sizes.value_panel()}, mixed_.data() + r * width, width);
    r = run.end;
  }
  if (tail_rows_ > 0) {
    const PackedKeys sizes(*readers_.tail);
    const std::byte* values = head_of(*readers_.tail, head) +
                              (sizes.key_elements() + tail_from_ * kPanel) * element_bytes(fast_);
    product(weights(0, own_width_), tail_rows_, sizes.even_rows - tail_from_,
            {values, sizes.value_panels(), sizes.value_panel()}, mixed_tail_.data(), width);
  }
  for (int64_t r = 0; r < static_cast<int64_t>(block_.size()); ++r) {
    float* row = mixed_.data() + r * width;
    if (r < tail_rows_) {
      kernels_.binary(BinaryOp::Add, row, mixed_tail_.data() + r * width, 1, d_, row);
    }
    kernels_.affine(
        row, d_, scale_[r], 0.0F,
        out.data<float>() + block_[static_cast<size_t>(r)].row * out.stride(0) + head * d_);
  }
}

void QueryBlock::attend(int64_t head, int64_t first, int64_t count, const Tensor& out) {
  load(head, first, count);
  score(head);
  if (tail_rows_ > 0) {
    score_tail(head);
  }
  weigh_rows();
  mix(head, out);
}

void QueryBlock::probabilities(int64_t head, int64_t first, int64_t count, float* out,
                               int64_t stride) {
  load(head, first, count);
  score(head);
  for (int64_t r = 0; r < count; ++r) {
    const int64_t visible = block_[static_cast<size_t>(r)].visible;
    const float* row = scores_.data() + r * width_;
    float* to = out + r * stride;
    const float sum = kernels_.exp_sum(row, visible, kernels_.max(row, visible), to);
    kernels_.affine(to, visible, 1.0F / sum, 0.0F, to);
  }
}

}  // namespace mynah::cpu
