// Attention: blocks of queries against packed keys and values where there are many queries
// (encoders, prompts); one query at a time over the cache where there are few (decode steps).
#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/cpu/cpu_backend_class.h"
#include "base/check.h"
#include "tensor/quantize.h"

namespace mynah::cpu {
namespace {

// From this many queries on packing the keys pays.
constexpr int64_t kBlockedQueries = 8;
// Queries of a block: their scores over 1500 keys (144 KB) stay in the second-level cache with the
// packed keys and values of the head; a multiple of the kernels' 12 rows.
constexpr int64_t kQueryBlock = 24;
// Channels of a head that buffers on the stack hold; the largest in use is 256.
constexpr int64_t kMaxHead = 512;

// The keys (or values) an utterance sees: its own rows, then the tail's from the same position on.
struct Seen {
  Seen(const Tensor& own_rows, const Tensor* tail_rows, const Span& span)
      : own(own_rows), tail(tail_rows), begin(span.begin), count(span.length) {}

  [[nodiscard]] int64_t total() const {
    return tail == nullptr ? count : std::max(count, tail->dim(0));
  }

  // Address of row i, and its elements' type.
  [[nodiscard]] const std::byte* row(int64_t i, int64_t column) const {
    const Tensor& t = i < count ? own : *tail;
    const int64_t index = i < count ? begin + i : i;
    return t.raw() + storage_bytes(t.dtype(), index * t.stride(0) + column);
  }

  const Tensor& own;
  const Tensor* tail;
  int64_t begin;
  int64_t count;
};

int64_t round_up(int64_t n, int64_t to) {
  return (n + to - 1) / to * to;
}

// One head's keys or values of one utterance, widened to f32 rows.
void widen_row(const Kernels& kernels, DType dtype, const std::byte* row, int64_t d, float* out) {
  switch (dtype) {
    case DType::F16:
      kernels.from_f16(reinterpret_cast<const uint16_t*>(row), d, out);
      break;
    case DType::BF16:
      kernels.from_bf16(reinterpret_cast<const uint16_t*>(row), d, out);
      break;
    default:
      std::memcpy(out, row, static_cast<size_t>(d) * sizeof(float));
      break;
  }
}

// Row j of a head in f32, zeros past the end.
void read_row(const Kernels& kernels, const Seen& seen, int64_t j, int64_t column, int64_t d,
              float* out) {
  if (j < seen.total()) {
    widen_row(kernels, seen.own.dtype(), seen.row(j, column), d, out);
  } else {
    std::memset(out, 0, static_cast<size_t>(d) * sizeof(float));
  }
}

// Row j of a head in bf16, zeros past the end: as it lies where it is kept so.
void read_rounded(const Kernels& kernels, const Seen& seen, int64_t j, int64_t column, int64_t d,
                  uint16_t* out) {
  if (j < seen.total() && seen.own.dtype() == DType::BF16) {
    std::memcpy(out, seen.row(j, column), static_cast<size_t>(d) * sizeof(uint16_t));
    return;
  }
  float row[kMaxHead];
  read_row(kernels, seen, j, column, d, row);
  kernels.to_bf16(row, d, out);
}

// Keys as panels of 32 keys: element (i, j) of a panel is channel i of key j.
void pack_keys_f32(const Kernels& kernels, const Seen& keys, int64_t column, int64_t d,
                   float* out) {
  float row[kMaxHead];
  for (int64_t j = 0; j < round_up(keys.total(), kPanel); ++j) {
    read_row(kernels, keys, j, column, d, row);
    float* to = out + j / kPanel * kPanel * d + j % kPanel;
    for (int64_t i = 0; i < d; ++i) {
      to[i * kPanel] = row[i];
    }
  }
}

// The same, element (i, j) being channels 2i and 2i + 1 of key j.
void pack_keys_bf16(const Kernels& kernels, const Seen& keys, int64_t column, int64_t d,
                    uint32_t* out) {
  const int64_t pairs = round_up(d, 2) / 2;
  alignas(4) uint16_t row[kMaxHead] = {};  // zero after the last of an odd number of channels
  for (int64_t j = 0; j < round_up(keys.total(), kPanel); ++j) {
    read_rounded(kernels, keys, j, column, d, row);
    uint32_t* to = out + j / kPanel * kPanel * pairs + j % kPanel;
    for (int64_t i = 0; i < pairs; ++i) {
      std::memcpy(to + i * kPanel, row + 2 * i, sizeof(uint32_t));
    }
  }
}

// Values as panels of 32 channels: element (j, i) of a panel is channel i of key j.
void pack_values_f32(const Kernels& kernels, const Seen& values, int64_t column, int64_t d,
                     float* out) {
  float row[kMaxHead] = {};  // zero after the last channel
  for (int64_t j = 0; j < values.total(); ++j) {
    read_row(kernels, values, j, column, d, row);
    for (int64_t c = 0; c < d; c += kPanel) {
      std::memcpy(out + c * values.total() + j * kPanel, row + c, kPanel * sizeof(float));
    }
  }
}

// The same, element (j, i) being channel i of keys 2j and 2j + 1.
void pack_values_bf16(const Kernels& kernels, const Seen& values, int64_t column, int64_t d,
                      uint16_t* out) {
  const int64_t steps = round_up(values.total(), 2);
  uint16_t even[kMaxHead] = {};  // zero after the last channel
  uint16_t odd[kMaxHead] = {};
  for (int64_t j = 0; j < steps; j += 2) {
    read_rounded(kernels, values, j, column, d, even);
    read_rounded(kernels, values, j + 1, column, d, odd);
    for (int64_t c = 0; c < d; c += kPanel) {
      uint16_t* to = out + c * steps + j * kPanel;
      for (int64_t i = 0; i < kPanel; ++i) {
        to[2 * i] = even[c + i];
        to[2 * i + 1] = odd[c + i];
      }
    }
  }
}

}  // namespace

void CpuBackend::attend_blocked(const Tensor& q, const Tensor& k, const Tensor& v,
                                const AttentionParams& params, int64_t utterance,
                                const Tensor& out) {
  const Span& queries = params.queries[static_cast<size_t>(utterance)];
  const Span& span = params.keys[static_cast<size_t>(utterance)];
  const Seen keys(k, params.tail_k, span);
  const Seen values(v, params.tail_v, span);
  const int64_t d = q.dim(1) / params.heads;
  const int64_t total = keys.total();
  const int64_t padded = round_up(total, kPanel);  // scores of a row, in whole panels
  const int64_t d_padded = round_up(d, kPanel);
  const bool bf16 = params.precision == Precision::Fast && kernels_.gemm_bf16 != nullptr;
  const int64_t element = bf16 ? 2 : 4;
  const int64_t key_bytes = padded * round_up(d, 2) * element;
  const int64_t value_bytes = round_up(total, 2) * d_padded * element;
  const Scratch<std::byte> packed(memory_, params.kv_heads * (key_bytes + value_bytes));
  const auto keys_of = [&](int64_t head) {
    return packed.data() + head * (key_bytes + value_bytes);
  };
  pool_.parallel_for(params.kv_heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t head = begin; head < end; ++head) {
      std::byte* key_panels = keys_of(head);
      std::byte* value_panels = key_panels + key_bytes;
      if (bf16) {
        pack_keys_bf16(kernels_, keys, head * d, d, reinterpret_cast<uint32_t*>(key_panels));
        pack_values_bf16(kernels_, values, head * d, d, reinterpret_cast<uint16_t*>(value_panels));
      } else {
        pack_keys_f32(kernels_, keys, head * d, d, reinterpret_cast<float*>(key_panels));
        pack_values_f32(kernels_, values, head * d, d, reinterpret_cast<float*>(value_panels));
      }
    }
  });
  const int64_t blocks = (queries.length + kQueryBlock - 1) / kQueryBlock;
  pool_.parallel_for(params.heads * blocks, 1, [&](int64_t begin, int64_t end) {
    const int64_t d_steps = round_up(d, 2);
    const int64_t steps = round_up(total, 2);
    const Scratch<float> q_rows(memory_, kQueryBlock * d_steps);
    const Scratch<uint16_t> q_rounded(memory_, kQueryBlock * d_steps);
    const Scratch<float> scores(memory_, kQueryBlock * padded);
    const Scratch<uint16_t> rounded(memory_, kQueryBlock * steps);
    const Scratch<float> mixed(memory_, kQueryBlock * kPanel);
    float scale[kQueryBlock];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t head = i / blocks;
      const int64_t first = i % blocks * kQueryBlock;
      const int64_t rows = std::min(kQueryBlock, queries.length - first);
      const std::byte* key_panels = keys_of(head / (params.heads / params.kv_heads));
      for (int64_t r = 0; r < rows; ++r) {
        const float* row = q.data<float>() + (queries.begin + first + r) * q.stride(0) + head * d;
        kernels_.affine(row, d, params.scale, 0.0F, q_rows.data() + r * d_steps);
        if (bf16) {
          q_rounded[r * d_steps + d_steps - 1] = 0;
          kernels_.to_bf16(q_rows.data() + r * d_steps, d, q_rounded.data() + r * d_steps);
        }
      }
      for (int64_t j = 0; j < padded; j += kPanel) {
        if (bf16) {
          kernels_.gemm_bf16(q_rounded.data(), d_steps, rows, d_steps / 2,
                             reinterpret_cast<const uint16_t*>(key_panels) + j * d_steps,
                             scores.data() + j, padded);
        } else {
          kernels_.gemm_f32(q_rows.data(), d_steps, rows, d,
                            reinterpret_cast<const float*>(key_panels) + j * d, scores.data() + j,
                            padded);
        }
      }
      for (int64_t r = 0; r < rows; ++r) {
        float* row = scores.data() + r * padded;
        const int64_t limit =
            params.causal ? std::clamp<int64_t>(total - queries.length + first + r + 1, 0, total)
                          : total;
        const float largest = kernels_.max(row, limit);
        float sum = 0.0F;
        if (bf16) {
          uint16_t* to = rounded.data() + r * steps;
          sum = kernels_.exp_bf16(row, limit, largest, to);
          std::memset(to + limit, 0, static_cast<size_t>(steps - limit) * sizeof(uint16_t));
        } else {
          sum = kernels_.exp_sum(row, limit, largest, row);
          std::memset(row + limit, 0, static_cast<size_t>(padded - limit) * sizeof(float));
        }
        scale[r] = sum > 0 ? 1.0F / sum : 0.0F;
      }
      const std::byte* value_panels = key_panels + key_bytes;
      for (int64_t c = 0; c < d; c += kPanel) {
        if (bf16) {
          kernels_.gemm_bf16(rounded.data(), steps, rows, steps / 2,
                             reinterpret_cast<const uint16_t*>(value_panels) + c * steps,
                             mixed.data(), kPanel);
        } else {
          kernels_.gemm_f32(scores.data(), padded, rows, total,
                            reinterpret_cast<const float*>(value_panels) + c * total, mixed.data(),
                            kPanel);
        }
        for (int64_t r = 0; r < rows; ++r) {
          kernels_.affine(
              mixed.data() + r * kPanel, std::min(kPanel, d - c), scale[r], 0.0F,
              out.data<float>() + (queries.begin + first + r) * out.stride(0) + head * d + c);
        }
      }
    }
  });
}

void CpuBackend::attend_rows(const Tensor& q, const Tensor& k, const Tensor& v,
                             const AttentionParams& params, const Tensor& out) {
  const int64_t d = q.dim(1) / params.heads;
  const auto utterances = static_cast<int64_t>(params.queries.size());
  const int64_t group = params.heads / params.kv_heads;
  // Scores of keys [from, to) of one segment (own rows or tail).
  const auto dots = [&](const float* query, const std::byte* keys, const Tensor& t, int64_t n,
                        float* scores) {
    const auto* halves = reinterpret_cast<const uint16_t*>(keys);
    switch (t.dtype()) {
      case DType::F16:
        return kernels_.dots_f16(query, halves, t.stride(0), n, d, params.scale, scores);
      case DType::BF16:
        return kernels_.dots_bf16(query, halves, t.stride(0), n, d, params.scale, scores);
      default:
        return kernels_.dots_f32(query, reinterpret_cast<const float*>(keys), t.stride(0), n, d,
                                 params.scale, scores);
    }
  };
  const auto mix = [&](const float* p, const std::byte* values, const Tensor& t, int64_t n,
                       float* to) {
    const auto* halves = reinterpret_cast<const uint16_t*>(values);
    switch (t.dtype()) {
      case DType::F16:
        return kernels_.mix_f16(p, halves, t.stride(0), n, d, to);
      case DType::BF16:
        return kernels_.mix_bf16(p, halves, t.stride(0), n, d, to);
      default:
        return kernels_.mix_f32(p, reinterpret_cast<const float*>(values), t.stride(0), n, d, to);
    }
  };
  int64_t work = 0;
  for (const Span& span : params.keys) {
    work += (params.tail_k == nullptr ? span.length : params.tail_k->dim(0)) * d * params.heads;
  }
  const int64_t tasks = utterances * params.heads;
  constexpr int64_t kSerialWork = 30'000;  // multiplications; see products.cpp
  pool_.parallel_for(tasks, work < kSerialWork ? tasks : 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto utterance = static_cast<size_t>(i / params.heads);
      const int64_t head = i % params.heads;
      const int64_t column = head / group * d;
      const Span& queries = params.queries[utterance];
      if (queries.length >= kBlockedQueries) {
        continue;  // attend_blocked() did it
      }
      const Seen keys(k, params.tail_k, params.keys[utterance]);
      const Seen values(v, params.tail_v, params.keys[utterance]);
      const int64_t total = keys.total();
      const Scratch<float> scores(memory_, total);
      for (int64_t r = 0; r < queries.length; ++r) {
        const float* query = q.data<float>() + (queries.begin + r) * q.stride(0) + head * d;
        float* to = out.data<float>() + (queries.begin + r) * out.stride(0) + head * d;
        std::memset(to, 0, static_cast<size_t>(d) * sizeof(float));
        const int64_t limit =
            params.causal ? std::clamp<int64_t>(total - queries.length + r + 1, 0, total) : total;
        const int64_t own = std::min(limit, keys.count);
        if (limit == 0) {
          continue;
        }
        dots(query, keys.row(0, column), k, own, scores.data());
        if (own < limit) {
          dots(query, keys.row(own, column), *params.tail_k, limit - own, scores.data() + own);
        }
        const float sum = kernels_.exp_sum(scores.data(), limit, kernels_.max(scores.data(), limit),
                                           scores.data());
        mix(scores.data(), values.row(0, column), v, own, to);
        if (own < limit) {
          mix(scores.data() + own, values.row(own, column), *params.tail_v, limit - own, to);
        }
        kernels_.affine(to, d, 1.0F / sum, 0.0F, to);
      }
    }
  });
}

void CpuBackend::attention(const Tensor& q, const Tensor& k, const Tensor& v,
                           const AttentionParams& params, const Tensor& out) {
  MYNAH_CHECK(q.dim(1) / params.heads <= kMaxHead, "[attention] heads of more than 512 channels");
  bool few = false;
  for (size_t u = 0; u < params.queries.size(); ++u) {
    if (params.queries[u].length >= kBlockedQueries) {
      attend_blocked(q, k, v, params, static_cast<int64_t>(u), out);
    } else {
      few = true;
    }
  }
  if (few) {
    attend_rows(q, k, v, params, out);
  }
}

void CpuBackend::attention_probabilities(const Tensor& q, const Tensor& k,
                                         const AttentionParams& params, const Tensor& out) {
  const int64_t d = q.dim(1) / params.heads;
  const Span queries = params.queries[0];
  const Span span = params.keys[0];
  const Seen keys(k, nullptr, span);
  const int64_t group = params.heads / params.kv_heads;
  for_rows(params.heads * queries.length, span.length * d, [&](int64_t i) {
    const int64_t head = i / queries.length;
    const int64_t r = i % queries.length;
    const float* query = q.data<float>() + (queries.begin + r) * q.stride(0) + head * d;
    float* to = out.data<float>() + i * span.length;
    const int64_t limit =
        params.causal ? std::clamp<int64_t>(span.length - queries.length + r + 1, 0, span.length)
                      : span.length;
    float row[kMaxHead];
    for (int64_t j = 0; j < limit; ++j) {
      widen_row(kernels_, k.dtype(), keys.row(j, head / group * d), d, row);
      kernels_.dots_f32(query, row, 0, 1, d, params.scale, to + j);
    }
    std::fill(to + limit, to + span.length, 0.0F);
    if (limit > 0) {
      const float sum = kernels_.exp_sum(to, limit, kernels_.max(to, limit), to);
      kernels_.affine(to, limit, 1.0F / sum, 0.0F, to);
    }
  });
}

void CpuBackend::rope(const Tensor& x, const Tensor& positions, int64_t heads, float theta,
                      const Tensor& out) {
  const int64_t d = x.dim(1) / heads;
  const int64_t half = d / 2;
  for_rows(x.dim(0), x.dim(1) * 8, [&](int64_t r) {
    const auto position = static_cast<double>(positions.data<int32_t>()[r]);
    const float* from = x.data<float>() + r * x.stride(0);
    float* to = out.data<float>() + r * out.stride(0);
    for (int64_t i = 0; i < half; ++i) {
      const double angle =
          position * std::pow(static_cast<double>(theta),
                              -2.0 * static_cast<double>(i) / static_cast<double>(d));
      const auto cosine = static_cast<float>(std::cos(angle));
      const auto sine = static_cast<float>(std::sin(angle));
      for (int64_t h = 0; h < heads; ++h) {
        const float a = from[h * d + i];
        const float b = from[h * d + half + i];
        to[h * d + i] = a * cosine - b * sine;
        to[h * d + half + i] = a * sine + b * cosine;
      }
    }
  });
}

}  // namespace mynah::cpu
