#include "backend/cpu/packed_attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace mynah::cpu {

void cap_scores(const Kernels& kernels, float* scores, int64_t n, float cap) {
  kernels.unary(UnaryOp::Tanh, scores, n, scores);
  kernels.affine(scores, n, cap, 0.0F, scores);
}

QueryBlock::QueryBlock(HostPool& memory, const Kernels& kernels, const Readers& readers,
                       int64_t most_keys, const Tensor& q)
    : kernels_(kernels),
      readers_(readers),
      q_(q),
      d_(q.dim(1) / readers.heads),
      steps_((d_ + 3) / 4),
      fast_(readers.list.front().keys->precision == Precision::Fast),
      own_width_((most_keys + kPanel - 1) / kPanel * kPanel),
      most_runs_(readers.run_rows == 0
                     ? 1
                     : std::max<int64_t>(1, (most_keys + readers.run_rows - 1) / readers.run_rows)),
      width_(own_width_ + (readers.tail == nullptr ? 0 : PackedKeys(*readers.tail).padded_rows)),
      queries_(memory, fast_ ? 1 : kQueryBlock * d_),
      query_codes_(memory, fast_ ? kQueryBlock * steps_ * 4 : 1),
      query_scales_(memory, kQueryBlock),
      scores_(memory, std::max<int64_t>(1, kQueryBlock * width_)),
      weight_codes_(memory, fast_ ? std::max<int64_t>(1, kQueryBlock * width_) : 1),
      mixed_(memory, kQueryBlock * (d_ + kPanel)),
      run_sum_(memory, most_runs_ * kQueryBlock) {}

template <class Fn>
void QueryBlock::for_each_run(const PackedKeys& sizes, const Span& rows, const Fn& fn) {
  for (int64_t at = rows.begin; at < rows.end();) {
    const int64_t run = std::min(at / sizes.run_rows, sizes.runs() - 1);
    const int64_t end = std::min(rows.end(), (run + 1) * sizes.run_rows);
    fn(run, Span{at, end - at});
    at = end;
  }
}

QueryBlock::Group QueryBlock::group_from(int64_t begin) const {
  const auto at = [&](int64_t i) -> const Reader& { return block_[static_cast<size_t>(i)]; };
  Span seen = at(begin).visible;
  int64_t end = begin + 1;
  while (end < static_cast<int64_t>(block_.size()) && at(end).keys == at(begin).keys) {
    const Span& more = at(end).visible;
    const int64_t seen_end = std::max(seen.end(), more.end());
    seen.begin = std::min(seen.begin, more.begin);
    seen.length = seen_end - seen.begin;
    ++end;
  }
  const int64_t padded = readers_.sizes_of(*at(begin).keys).padded_rows;
  return {begin, end, at(begin).keys, seen.begin / kPanel * kPanel,
          std::min(padded, (seen.end() + kPanel - 1) / kPanel * kPanel)};
}

int64_t QueryBlock::end_row(const Group& group) const {
  return std::min(group.end_key, readers_.sizes_of(*group.keys).whole_rows);
}

const std::byte* QueryBlock::head_of(const KeysValues& keys, const PackedKeys& sizes,
                                     int64_t head) const {
  return keys.data.raw() + head / (readers_.heads / keys.heads) * sizes.head_bytes();
}

void QueryBlock::products_with_mean(int64_t begin, int64_t end, const KeysValues& keys,
                                    const PackedKeys& sizes, int64_t head, float* out) const {
  const auto* const mean =
      reinterpret_cast<const float*>(head_of(keys, sizes, head) + sizes.key_mean());
  const auto row_of = [&](int64_t r) { return block_[static_cast<size_t>(r)].row; };
  const float* const q = q_.data<float>() + head * d_;
  while (begin < end) {
    int64_t next = begin + 1;
    while (next < end && row_of(next) == row_of(next - 1) + 1) {
      ++next;
    }
    kernels_.dots_f32({.rows = mean},
                      {.rows = reinterpret_cast<const std::byte*>(q + row_of(begin) * q_.stride(0)),
                       .row_bytes = static_cast<size_t>(q_.stride(0)) * sizeof(float),
                       .n = next - begin,
                       .d = d_},
                      readers_.scale, out + begin, 0);
    begin = next;
  }
}

// The queries of one head, and what of the tail they see.
void QueryBlock::load(int64_t head, int64_t first, int64_t count) {
  block_ = readers_.list.subspan(static_cast<size_t>(first), static_cast<size_t>(count));
  for (int64_t r = 0; r < count; ++r) {
    const float* row =
        q_.data<float>() + block_[static_cast<size_t>(r)].row * q_.stride(0) + head * d_;
    if (fast_) {
      query_scales_[r] =
          readers_.scale *
          kernels_.quantize_row(row, d_, query_codes_.data() + r * steps_ * 4, steps_);
    } else {
      kernels_.affine(row, d_, readers_.scale, 0.0F, queries_.data() + r * d_);
    }
  }
  tail_rows_ = 0;
  if (readers_.tail != nullptr) {
    tail_rows_ = std::ranges::count_if(
        block_, [&](const Reader& reader) { return reader.tail_begin < readers_.tail->rows; });
    tail_from_ = block_.front().tail_begin / kPanel * kPanel;
  }
  // Among its own keys alone, what a query has in common with all of them changes nothing.
  std::fill_n(own_mean_, kQueryBlock, 0.0F);
  if (fast_ && tail_rows_ > 0) {
    products_with_mean(0, tail_rows_, *readers_.tail, PackedKeys(*readers_.tail), head, tail_mean_);
  }
  const int64_t rows = readers_.wants_whole_scores() ? count : tail_rows_;
  for (int64_t r = 0; fast_ && r < rows;) {
    const Group group = group_from(r);
    products_with_mean(r, std::min(group.end, rows), *group.keys, readers_.sizes_of(*group.keys),
                       head, own_mean_);
    r = group.end;
  }
}

void QueryBlock::score_panel(int64_t row, int64_t count, const PackedKeys& sizes,
                             const std::byte* panel, float* out) const {
  if (!fast_) {
    kernels_.gemm_f32(queries_.data() + row * d_, d_, count, d_,
                      reinterpret_cast<const float*>(panel), out, width_);
    return;
  }
  alignas(64) int32_t tile[kQueryBlock * kPanel];
  kernels_.gemm_i8(query_codes_.data() + row * steps_ * 4, steps_ * 4, count, steps_,
                   reinterpret_cast<const int8_t*>(panel), tile, kPanel);
  const std::byte* const numbers = panel + sizes.key_scales();
  kernels_.finish_i8(tile, count, kPanel,
                     {.rows = query_scales_.data() + row,
                      .columns = reinterpret_cast<const float*>(numbers),
                      .column_sums = reinterpret_cast<const int32_t*>(numbers + kPanel * 4)},
                     {}, out, width_);
}

void QueryBlock::score(int64_t head) {
  for (int64_t r = 0; r < static_cast<int64_t>(block_.size());) {
    const Group group = group_from(r);
    const PackedKeys sizes = readers_.sizes_of(*group.keys);
    const std::byte* const panels = head_of(*group.keys, sizes, head);
    for (int64_t panel = group.first_key / kPanel; panel < group.end_key / kPanel; ++panel) {
      score_panel(r, group.end - r, sizes, panels + panel * sizes.key_panel_bytes(),
                  scores_.data() + r * width_ + panel * kPanel);
    }
    r = group.end;
  }
}

// Readers are sorted by what they see of the tail, so that each panel belongs to the first few.
void QueryBlock::score_tail(int64_t head) {
  const PackedKeys sizes(*readers_.tail);
  const std::byte* const panels = head_of(*readers_.tail, sizes, head);
  for (int64_t panel = tail_from_ / kPanel; panel < sizes.key_panels(); ++panel) {
    const int64_t rows = std::ranges::count_if(
        block_.first(static_cast<size_t>(tail_rows_)),
        [&](const Reader& reader) { return reader.tail_begin < (panel + 1) * kPanel; });
    score_panel(0, rows, sizes, panels + panel * sizes.key_panel_bytes(),
                scores_.data() + own_width_ + panel * kPanel - tail_from_);
  }
}

// The queries' scores of their own keys, made whole and capped.
void QueryBlock::cap_rows() {
  for (int64_t r = 0; r < static_cast<int64_t>(block_.size()); ++r) {
    const Span& own = block_[static_cast<size_t>(r)].visible;
    float* const row = scores_.data() + r * width_ + own.begin;
    kernels_.affine(row, own.length, 1.0F, own_mean_[r], row);
    cap_scores(kernels_, row, own.length, readers_.score_cap);
    own_mean_[r] = 0.0F;
  }
}

float QueryBlock::weigh(int64_t row, int64_t column, int64_t n, int64_t end, float shift) {
  const int64_t at = row * width_ + column;
  const auto rest = static_cast<size_t>(end - n);
  if (fast_) {
    uint8_t* to = weight_codes_.data() + at;
    std::memset(to + n, 0, rest);
    return kernels_.exp_codes(scores_.data() + at, n, shift, to);
  }
  float* to = scores_.data() + at;
  std::memset(to + n, 0, rest * sizeof(float));
  return kernels_.exp_sum(to, n, shift, to);
}

void QueryBlock::weigh_own(int64_t row, const Group& group, float largest) {
  const Span& own = block_[static_cast<size_t>(row)].visible;
  const PackedKeys sizes = readers_.sizes_of(*group.keys);
  weigh(row, group.first_key, 0, own.begin - group.first_key, largest);
  own_sum_[row] = 0.0F;
  for (int64_t run = 0; run < sizes.runs(); ++run) {
    run_sum_[run * kQueryBlock + row] = 0.0F;
  }
  for_each_run(sizes, own, [&](int64_t run, const Span& keys) {
    float& sum = run_sum_[run * kQueryBlock + row];
    sum = weigh(row, keys.begin, keys.length, keys.length, largest - own_mean_[row]);
    own_sum_[row] += sum;
  });
  weigh(row, own.end(), 0, end_row(group) - own.end(), largest);
}

void QueryBlock::weigh_rows(int64_t head) {
  const float times = std::log(static_cast<float>(readers_.tail_group));
  Group group{};
  for (int64_t r = 0; r < static_cast<int64_t>(block_.size()); ++r) {
    const Reader& reader = block_[static_cast<size_t>(r)];
    if (r == group.end) {
      group = group_from(r);
    }
    const float* row = scores_.data() + r * width_;
    // A row of the tail counts as `tail_group` keys: exp(score + log(group)).
    const int64_t before = reader.tail_begin - tail_from_;
    const int64_t seen = r < tail_rows_ ? readers_.tail->rows - reader.tail_begin : 0;
    const float tail_shift = tail_mean_[r] + times;
    float largest = -std::numeric_limits<float>::infinity();
    const Span& own = reader.visible;
    if (own.length > 0) {
      largest = kernels_.max(row + own.begin, own.length) + own_mean_[r];
    }
    if (seen > 0) {
      largest = std::max(largest, kernels_.max(row + own_width_ + before, seen) + tail_shift);
    }
    // Beside the keys' own largest, so that their weights keep their digits.
    sink_weight_[r] = readers_.sinks == nullptr ? 0.0F : std::exp(readers_.sinks[head] - largest);
    weigh_own(r, group, largest);
    tail_sum_[r] = 0.0F;
    if (seen > 0) {
      weigh(r, own_width_, 0, before, largest);
      const int64_t end = PackedKeys(*readers_.tail).whole_rows - reader.tail_begin;
      tail_sum_[r] = weigh(r, own_width_ + before, seen, end, largest - tail_shift);
    }
  }
}

void QueryBlock::mix_values(int64_t row, int64_t count, const MixedKeys& mixed) {
  const PackedKeys& sizes = mixed.sizes;
  const std::byte* const values = mixed.head + sizes.key_bytes();
  const int64_t weights = row * width_ + mixed.column;
  const int64_t steps = mixed.end - mixed.first;
  float* const out = mixed_.data() + row * sizes.padded_channels;
  for (int64_t i = 0; i < sizes.value_panels(); ++i) {
    const std::byte* const panel = values + i * sizes.value_panel_bytes();
    const std::byte* const from = panel + mixed.first * sizes.value_row_bytes();
    float* const to = out + i * kPanel;
    if (fast_) {
      alignas(64) int32_t tile[kQueryBlock * kPanel];
      kernels_.gemm_i8(weight_codes_.data() + weights, width_, count, steps / 4,
                       reinterpret_cast<const int8_t*>(from), tile, kPanel);
      const auto* const scales =
          reinterpret_cast<const float*>(panel + sizes.value_scales(mixed.run));
      kernels_.finish_mix(tile, count, scales, scales + kPanel, mixed.sums + row, mixed.adds, to,
                          sizes.padded_channels);
    } else {
      alignas(64) float tile[kQueryBlock * kPanel];
      kernels_.gemm_f32(scores_.data() + weights, width_, count, steps,
                        reinterpret_cast<const float*>(from), tile, kPanel);
      kernels_.finish(
          tile, count, kPanel,
          {.residual = mixed.adds ? to : nullptr, .residual_stride = sizes.padded_channels}, to,
          sizes.padded_channels);
    }
  }
}

void QueryBlock::mix(int64_t head, const Tensor& out) {
  const int64_t width = (d_ + kPanel - 1) / kPanel * kPanel;
  for (int64_t r = 0; r < static_cast<int64_t>(block_.size());) {
    const Group group = group_from(r);
    const PackedKeys sizes = readers_.sizes_of(*group.keys);
    const Span rows{group.first_key, end_row(group) - group.first_key};
    if (rows.length == 0) {
      std::fill_n(mixed_.data() + r * width, (group.end - r) * width, 0.0F);
    }
    for_each_run(sizes, rows, [&](int64_t run, const Span& keys) {
      mix_values(r, group.end - r,
                 {.sizes = sizes,
                  .head = head_of(*group.keys, sizes, head),
                  .sums = run_sum_.data() + run * kQueryBlock,
                  .run = run,
                  .column = keys.begin,
                  .first = keys.begin,
                  .end = keys.end(),
                  .adds = keys.begin > rows.begin});
    });
    r = group.end;
  }
  if (tail_rows_ > 0) {
    const PackedKeys sizes(*readers_.tail);
    mix_values(0, tail_rows_,
               {.sizes = sizes,
                .head = head_of(*readers_.tail, sizes, head),
                .sums = tail_sum_,
                .column = own_width_,
                .first = tail_from_,
                .end = sizes.whole_rows,
                .adds = true});
  }
  for (int64_t r = 0; r < static_cast<int64_t>(block_.size()); ++r) {
    const float sum = own_sum_[r] + tail_sum_[r] + sink_weight_[r];
    kernels_.affine(
        mixed_.data() + r * width, d_, sum > 0 ? 1.0F / sum : 0.0F, 0.0F,
        out.data<float>() + block_[static_cast<size_t>(r)].row * out.stride(0) + head * d_);
  }
}

void QueryBlock::attend(int64_t head, int64_t first, int64_t count, const Tensor& out) {
  load(head, first, count);
  score(head);
  if (tail_rows_ > 0) {
    score_tail(head);
  }
  if (readers_.score_cap > 0.0F) {
    cap_rows();
  }
  weigh_rows(head);
  mix(head, out);
}

void QueryBlock::probabilities(int64_t head, int64_t first, int64_t count, float* out,
                               int64_t stride) {
  load(head, first, count);
  score(head);
  for (int64_t r = 0; r < count; ++r) {
    const int64_t visible = block_[static_cast<size_t>(r)].visible.length;
    const float* row = scores_.data() + r * width_;
    float* to = out + r * stride;
    const float sum = kernels_.exp_sum(row, visible, kernels_.max(row, visible), to);
    kernels_.affine(to, visible, 1.0F / sum, 0.0F, to);
  }
}

}  // namespace mynah::cpu
