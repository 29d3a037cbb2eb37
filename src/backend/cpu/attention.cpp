// Attention: the heads of one query over the rows of a cache where there are few (decode steps),
// blocks of queries over packed keys and values where there are many or where they come packed.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "backend/cpu/cpu_backend_class.h"
#include "backend/cpu/packed_attention.h"
#include "base/check.h"
#include "tensor/prompt_rows.h"

namespace mynah::cpu {
namespace {

// Keys of utterances that are attended in one step, so that short ones keep all threads busy; no
// more than this many, so that long ones are attended while caches still hold them.
constexpr int64_t kKeysTogether = 2048;

// The keys that query i of `queries` of a causal attention sees, or all, behind the first of
// `keys`.
Span seen_keys(const AttentionParams& params, const Span& queries, const Span& keys, int64_t i) {
  const int64_t end =
      params.causal ? std::clamp<int64_t>(keys.length - queries.length + i + 1, 0, keys.length)
                    : keys.length;
  const int64_t begin = params.window == 0 ? 0 : std::max<int64_t>(0, end - params.window);
  return {begin, end - begin};
}

// What dot products are scaled with: scores that are capped are the cap's part at first.
float score_scale(const AttentionParams& params) {
  return params.score_cap > 0.0F ? params.scale / params.score_cap : params.scale;
}

const float* sinks_of(const AttentionParams& params) {
  return params.sinks == nullptr ? nullptr : params.sinks->data<float>();
}

Kernels::Dots dots_of(const Kernels& kernels, DType dtype) {
  switch (dtype) {
    case DType::F16:
      return kernels.dots_f16;
    case DType::BF16:
      return kernels.dots_bf16;
    case DType::Q8_0:
      return kernels.dots_q8_0;
    default:
      return kernels.dots_f32;
  }
}

Kernels::Mix mix_of(const Kernels& kernels, DType dtype) {
  switch (dtype) {
    case DType::F16:
      return kernels.mix_f16;
    case DType::BF16:
      return kernels.mix_bf16;
    case DType::Q8_0:
      return kernels.mix_q8_0;
    default:
      return kernels.mix_f32;
  }
}

// Calls fn(rows, how many stand before them) for the runs of a span of t, channels from `column`
// on.
template <class Fn>
void for_each_run(const Tensor& t, int64_t column, int64_t d, const PageTable& pages,
                  const Span& span, const Fn& fn) {
  const auto at = [&](int64_t row) {
    return t.raw() + storage_bytes(t.dtype(), row * t.stride(0) + column);
  };
  HeadRows run{.row_bytes = storage_bytes(t.dtype(), t.stride(0)), .d = d};
  int64_t before = 0;
  pages.for_each_run(span, [&](int64_t row, int64_t rows) {
    if (run.n > 0) {
      run.next = at(row);
      fn(run, before);
    }
    before += run.n;
    run.rows = at(row);
    run.n = rows;
  });
  run.next = nullptr;
  fn(run, before);
}

// Never nothing, so that what holds no key has an address.
size_t packed_bytes(int64_t heads, const PackedKeys& sizes) {
  return std::max<size_t>(kPanel, static_cast<size_t>(heads * sizes.head_bytes()));
}

void expect_head(int64_t d) {
  MYNAH_CHECK(d <= kMaxHead, "[attention] heads of more than 512 channels");
}

}  // namespace

void CpuBackend::attend_rows(const Tensor& q, const Tensor& k, const Tensor& v,
                             const AttentionParams& params, const Tensor& out) {
  const int64_t d = q.dim(1) / params.heads;
  const auto utterances = static_cast<int64_t>(params.queries.size());
  const int64_t group = params.heads / params.kv_heads;
  const Kernels::Dots dots = dots_of(kernels_, k.dtype());
  const Kernels::Mix mix = mix_of(kernels_, v.dtype());
  const float scale = score_scale(params);
  int64_t work = 0;
  int64_t most_keys = 0;
  for (const Span& span : params.keys) {
    work += 2 * span.length * d * params.heads;
    most_keys = std::max(most_keys, span.length);
  }
  // Heads of a group read their keys together, fewer of them where threads would have no task.
  const int64_t wanted = 2 * pool_.size();
  const int64_t most_together = std::clamp<int64_t>(utterances * params.heads / wanted, 1, group);
  const int64_t parts = (group + most_together - 1) / most_together;
  const int64_t together = (group + parts - 1) / parts;
  const int64_t tasks = utterances * params.kv_heads * parts;
  const int64_t grain = work < kSerialWork ? tasks : std::max<int64_t>(1, tasks / (2 * wanted));
  pool_.parallel_for(tasks, grain, [&](int64_t begin, int64_t end) {
    // Of each head, and behind them the sum of its exponentials.
    const Scratch<float> scores(memory_, together * (most_keys + 1));
    float* const sums = scores.data() + together * most_keys;
    for (int64_t i = begin; i < end; ++i) {
      const auto utterance = static_cast<size_t>(i / (params.kv_heads * parts));
      const int64_t kv_head = i / parts % params.kv_heads;
      const int64_t first = i % parts * together;
      const Span heads{kv_head * group + first, std::min(together, group - first)};
      const Span& queries = params.queries[utterance];
      if (queries.length >= kPromptRows) {
        continue;  // attention() did it in blocks
      }
      const Span& keys = params.keys[utterance];
      for (int64_t r = 0; r < queries.length; ++r) {
        const float* const query = row_of(q, queries.begin + r) + heads.begin * d;
        float* const to = writable_row(out, queries.begin + r) + heads.begin * d;
        std::memset(to, 0, static_cast<size_t>(heads.length * d) * sizeof(float));
        const Span visible = seen_keys(params, queries, keys, r);
        if (visible.length == 0) {
          continue;
        }
        // From the page on that the first of them is in; what stands before it there weighs
        // nothing.
        const int64_t before =
            params.pages.rows > 0 ? visible.begin % params.pages.rows : int64_t{0};
        const Span seen{keys.begin + visible.begin - before, before + visible.length};
        for_each_run(k, kv_head * d, d, params.pages, seen, [&](const HeadRows& run, int64_t at) {
          dots({.rows = query, .stride = d, .count = heads.length}, run, scale, &scores[at],
               seen.length);
        });
        for (int64_t head = 0; head < heads.length; ++head) {
          float* const weights = &scores[head * seen.length + before];
          std::fill_n(weights - before, before, 0.0F);
          if (params.score_cap > 0.0F) {
            cap_scores(kernels_, weights, visible.length, params.score_cap);
          }
          const float largest = kernels_.max(weights, visible.length);
          sums[head] = kernels_.exp_sum(weights, visible.length, largest, weights);
          if (params.sinks != nullptr) {
            sums[head] += std::exp(sinks_of(params)[heads.begin + head] - largest);
          }
        }
        for_each_run(v, kv_head * d, d, params.pages, seen, [&](const HeadRows& run, int64_t at) {
          mix({.rows = &scores[at], .stride = seen.length, .count = heads.length}, run, to, d);
        });
        for (int64_t head = 0; head < heads.length; ++head) {
          kernels_.affine(to + head * d, d, 1.0F / sums[head], 0.0F, to + head * d);
        }
      }
    }
  });
}

void CpuBackend::attend(const Tensor& q, const Readers& readers, const Tensor& out) {
  const auto count = static_cast<int64_t>(readers.list.size());
  const int64_t blocks = (count + kQueryBlock - 1) / kQueryBlock;
  const int64_t tasks = readers.heads * blocks;
  int64_t work = 0;
  int64_t most_keys = 0;
  for (const Reader& reader : readers.list) {
    most_keys = std::max(most_keys, reader.keys->rows);
    const int64_t tail = readers.tail == nullptr ? 0 : readers.tail->rows - reader.tail_begin;
    work += 2 * (reader.visible.length + tail) * q.dim(1);
  }
  // Several tasks share a block's memory; sixty-fourths are little for one thread to wait for.
  const int64_t together = std::max<int64_t>(1, tasks / 64);
  pool_.parallel_for(tasks, work < kSerialWork ? tasks : together, [&](int64_t begin, int64_t end) {
    QueryBlock block(memory_, kernels_, readers, most_keys, q);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % blocks * kQueryBlock;
      block.attend(i / blocks, first, std::min(kQueryBlock, count - first), out);
    }
  });
}

Tensor CpuBackend::in_floats(const Tensor& x, const PageTable& pages, const Span& span) {
  Tensor out(allocate(storage_bytes(DType::F32, span.length * x.dim(1))), 0,
             {span.length, x.dim(1)}, DType::F32, device());
  int64_t next = 0;
  pages.for_each_run(span, [&](int64_t row, int64_t rows) {
    dequantize(x.narrow(0, row, rows), out.narrow(0, next, rows));
    next += rows;
  });
  return out;
}

void CpuBackend::attention(const Tensor& q, const Tensor& k, const Tensor& v,
                           const AttentionParams& params, const Tensor& out) {
  expect_head(q.dim(1) / params.heads);
  bool few = false;
  std::vector<size_t> together;
  int64_t keys = 0;
  for (size_t u = 0; u < params.queries.size(); ++u) {
    if (params.queries[u].length < kPromptRows) {
      few = true;
      continue;
    }
    keys += params.keys[u].length;
    if (!together.empty() && keys > kKeysTogether) {
      attend_blocks(q, k, v, params, together, out);
      together.clear();
      keys = params.keys[u].length;
    }
    together.push_back(u);
  }
  if (!together.empty()) {
    attend_blocks(q, k, v, params, together, out);
  }
  if (few) {
    attend_rows(q, k, v, params, out);
  }
}

void CpuBackend::attend_blocks(const Tensor& q, const Tensor& k, const Tensor& v,
                               const AttentionParams& params, std::span<const size_t> utterances,
                               const Tensor& out) {
  // Of a text that is read in pieces, what a key becomes does not depend on those that follow.
  const int64_t run_rows = params.causal ? kPromptGrid : 0;
  std::vector<Tensor> floats;
  floats.reserve(2 * utterances.size());
  std::vector<StoredRows> stored;
  int64_t rows = 0;
  for (const size_t u : utterances) {
    const Span& span = params.keys[u];
    if (is_block_type(k.dtype())) {
      const Tensor& own_k = floats.emplace_back(in_floats(k, params.pages, span));
      const Tensor& own_v = floats.emplace_back(in_floats(v, params.pages, span));
      stored.push_back({.k = own_k, .v = own_v, .pages = {}, .span = {0, span.length}});
    } else {
      stored.push_back({.k = k, .v = v, .pages = params.pages, .span = span});
    }
    rows += params.queries[u].length;
  }
  const std::vector<KeysValues> packed =
      pack_rows(stored, params.kv_heads, params.precision, run_rows);
  const Scratch<Reader> list(memory_, rows);
  int64_t next = 0;
  for (size_t i = 0; i < utterances.size(); ++i) {
    const Span& queries = params.queries[utterances[i]];
    for (int64_t row = 0; row < queries.length; ++row) {
      list[next++] = {.row = queries.begin + row,
                      .keys = &packed[i],
                      .visible = seen_keys(params, queries, params.keys[utterances[i]], row)};
    }
  }
  attend(q,
         {.list = {list.data(), static_cast<size_t>(rows)},
          .heads = params.heads,
          .scale = score_scale(params),
          .score_cap = params.score_cap,
          .sinks = sinks_of(params),
          .run_rows = run_rows},
         out);
}

std::vector<KeysValues> CpuBackend::pack_rows(std::span<const StoredRows> list, int64_t heads,
                                              Precision precision, int64_t run_rows) {
  const int64_t d = list.front().k.dim(1) / heads;
  expect_head(d);
  std::vector<KeysValues> packed;
  int64_t rows = 0;
  for (const StoredRows& one : list) {
    const int64_t own = one.span.length;
    const PackedKeys sizes(own, d, precision, run_rows);
    MYNAH_CHECK(precision == Precision::Exact || sizes.run(0).length <= kMostKeys,
                "[pack_keys_values] more than 65536 keys in int8");
    const size_t bytes = packed_bytes(heads, sizes);
    packed.push_back(
        {own, heads, d, precision,
         Tensor(allocate(bytes), 0, {static_cast<int64_t>(bytes)}, DType::U8, device())});
    rows += own;
  }
  const int64_t count = std::ssize(list);
  for_rows(count * heads, rows * d / count, [&](int64_t i) {
    const KeysValues& to = packed[static_cast<size_t>(i / heads)];
    const int64_t head = i % heads;
    const PackedKeys sizes(to, run_rows);
    const Scratch<float> scratch(memory_, std::max<int64_t>(1, sizes.scratch_floats()));
    pack_head(kernels_, sizes, list[static_cast<size_t>(i / heads)], head * d, scratch.data(),
              to.data.raw() + head * sizes.head_bytes());
  });
  return packed;
}

KeysValues CpuBackend::pack_keys_values(const Tensor& k, const Tensor& v, int64_t heads,
                                        Precision precision) {
  const StoredRows one{.k = k, .v = v, .pages = {}, .span = {0, k.dim(0)}};
  return std::move(pack_rows({&one, 1}, heads, precision, 0).front());
}

size_t CpuBackend::keys_values_bytes(int64_t rows, int64_t heads, int64_t head_dim,
                                     Precision precision) const {
  return packed_bytes(heads, PackedKeys(rows, head_dim, precision, 0));
}

void CpuBackend::attention_packed(const Tensor& q, const PackedAttentionParams& params,
                                  const Tensor& out) {
  expect_head(q.dim(1) / params.heads);
  const auto count = static_cast<int64_t>(params.queries.size());
  const auto tail_begin = [&](int64_t i) {
    const int64_t own = params.keys[static_cast<size_t>(i)]->rows;
    return params.tail == nullptr
               ? 0
               : std::min(params.tail->rows, (own + params.tail_group - 1) / params.tail_group);
  };
  // By what they see of the tail, readers of the same keys together.
  const Scratch<int64_t> order(memory_, count);
  for (int64_t i = 0; i < count; ++i) {
    order[i] = i;
  }
  std::sort(order.data(), order.data() + count, [&](int64_t a, int64_t b) {
    const KeysValues* const of_a = params.keys[static_cast<size_t>(a)];
    const KeysValues* const of_b = params.keys[static_cast<size_t>(b)];
    return tail_begin(a) != tail_begin(b) ? tail_begin(a) < tail_begin(b)
                                          : std::less<>()(of_a, of_b);
  });
  const Scratch<Reader> list(memory_, q.dim(0));
  int64_t next = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Span& queries = params.queries[static_cast<size_t>(order[i])];
    const KeysValues* const keys = params.keys[static_cast<size_t>(order[i])];
    for (int64_t row = queries.begin; row < queries.end(); ++row) {
      list[next++] = {
          .row = row, .keys = keys, .visible = {0, keys->rows}, .tail_begin = tail_begin(order[i])};
    }
  }
  attend(q,
         {.list = {list.data(), static_cast<size_t>(next)},
          .tail = params.tail,
          .tail_group = params.tail_group,
          .heads = params.heads,
          .scale = params.scale},
         out);
}

void CpuBackend::attention_probabilities(const Tensor& q, const KeysValues& keys, int64_t heads,
                                         float scale, const Tensor& out) {
  expect_head(q.dim(1) / heads);
  const int64_t count = q.dim(0);
  const Scratch<Reader> list(memory_, count);
  for (int64_t i = 0; i < count; ++i) {
    list[i] = {.row = i, .keys = &keys, .visible = {0, out.dim(2)}};
  }
  const Readers readers{
      .list = {list.data(), static_cast<size_t>(count)}, .heads = heads, .scale = scale};
  pool_.parallel_for(heads, 1, [&](int64_t begin, int64_t end) {
    QueryBlock block(memory_, kernels_, readers, keys.rows, q);
    for (int64_t head = begin; head < end; ++head) {
      for (int64_t first = 0; first < count; first += kQueryBlock) {
        block.probabilities(head, first, std::min(kQueryBlock, count - first),
                            out.data<float>() + (head * count + first) * out.dim(2), out.dim(2));
      }
    }
  });
}

void CpuBackend::rope(const Tensor& x, const Tensor& turns, int64_t heads, RopePairs pairs,
                      const Tensor& out) {
  const int64_t d = x.dim(1) / heads;
  const int64_t turned = turns.dim(1);
  for_rows(x.dim(0), x.dim(1) * kCheapElement, [&](int64_t r) {
    for (int64_t column = 0; column < x.dim(1); column += d) {
      const float* from = row_of(x, r) + column;
      float* to = writable_row(out, r) + column;
      kernels_.rope(from, row_of(turns, r), turned / 2, pairs, to);
      std::copy(from + turned, from + d, to + turned);
    }
  });
}

}  // namespace mynah::cpu
