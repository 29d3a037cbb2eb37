// Attention: over keys that grow and over packed ones.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numbers>
#include <vector>

#include "backend/cuda/attention_plan.h"
#include "backend/cuda/cuda_backend_class.h"
#include "base/check.h"

namespace mynah::cuda {

namespace {

using AttentionKernel = Kernel<simt::AttentionArgs>;

constexpr int kAttentionThreads = 128;  // of every kernel here but the merges
// Of the program of attention_probabilities, which every card has.
constexpr int kFirstLevel = 60;

// Of one type of keys.
struct TypeKernels {
  DType type;
  DType staged;  // in shared memory
  AttentionKernel one;
  AttentionKernel few;
  AttentionKernel one_paged;
  AttentionKernel few_paged;
  AttentionKernel tiled_64;  // for heads of up to so many columns
  AttentionKernel tiled_128;
  AttentionKernel tiled_256;
};

// The same on matrix units, which a level has from `level` on.
struct UnitKernels {
  DType type;
  int level;
  AttentionKernel narrow;  // for heads of up to kNarrow columns, and up to kMiddle
  AttentionKernel middle;
};

constexpr int64_t kNarrow = 64;
constexpr int64_t kMiddle = 128;
constexpr int64_t kWide = 256;  // columns of the widest kernels of many lines

constexpr std::array<UnitKernels, 2> kUnits = {{
    {DType::F16, 75, kernels::attention_units_f16_64, kernels::attention_units_f16_128},
    {DType::BF16, 80, kernels::attention_units_bf16_64, kernels::attention_units_bf16_128},
}};

const AttentionKernel& on_units(DType type, int64_t width) {
  const auto* const found = std::ranges::find(kUnits, type, &UnitKernels::type);
  return width <= kNarrow ? found->narrow : found->middle;
}

// Lines of a tile on matrix units; 0 where the level, the type or the width has none, or sums are
// wanted of the numbers as they are.
int64_t units_lines(int level, DType type, int64_t width, Precision precision) {
  const auto* const found = std::ranges::find(kUnits, type, &UnitKernels::type);
  const bool any = precision == Precision::Fast && found != kUnits.end() && level >= found->level &&
                   width <= kMiddle;
  return any ? simt::units_lines(static_cast<int>(width <= kNarrow ? kNarrow : kMiddle)) : 0;
}

const TypeKernels& kernels_of(DType type) {
  static constexpr std::array<TypeKernels, 4> kTypes = {{
      {DType::F32, DType::F32, kernels::attention_one_f32, kernels::attention_few_f32,
       kernels::attention_one_paged_f32, kernels::attention_few_paged_f32,
       kernels::attention_tiled_f32_64, kernels::attention_tiled_f32_128,
       kernels::attention_tiled_f32_256},
      {DType::F16, DType::F16, kernels::attention_one_f16, kernels::attention_few_f16,
       kernels::attention_one_paged_f16, kernels::attention_few_paged_f16,
       kernels::attention_tiled_f16_64, kernels::attention_tiled_f16_128,
       kernels::attention_tiled_f16_256},
      {DType::BF16, DType::BF16, kernels::attention_one_bf16, kernels::attention_few_bf16,
       kernels::attention_one_paged_bf16, kernels::attention_few_paged_bf16,
       kernels::attention_tiled_bf16_64, kernels::attention_tiled_bf16_128,
       kernels::attention_tiled_bf16_256},
      // Many lines see these as f32: CudaBackend::attention().
      {DType::Q8_0, DType::F32, kernels::attention_one_q8_0, kernels::attention_few_q8_0,
       kernels::attention_one_q8_0, kernels::attention_few_q8_0, kernels::attention_tiled_f32_64,
       kernels::attention_tiled_f32_128, kernels::attention_tiled_f32_256},
  }};
  const auto* const found = std::ranges::find(kTypes, type, &TypeKernels::type);
  MYNAH_CHECK(found != kTypes.end(), "keys of a float type or Q8_0 are wanted, not ", name(type));
  return *found;
}

const AttentionKernel& tiled(const TypeKernels& kernels, int64_t width) {
  return width <= kNarrow   ? kernels.tiled_64
         : width <= kMiddle ? kernels.tiled_128
                            : kernels.tiled_256;
}

constexpr int64_t kChunkBytes = 16;  // that kernels read at a time

// Whether rows of this tensor, cut into heads of d, can be read so.
bool aligned_rows(const Tensor& x, int64_t d) {
  const auto element = static_cast<int64_t>(block_bytes(x.dtype()));
  return reinterpret_cast<uintptr_t>(x.raw()) % kChunkBytes == 0 &&
         x.stride(0) * element % kChunkBytes == 0 && d * element % kChunkBytes == 0;
}

int64_t rounded_up(int64_t n, int64_t unit) {
  return (n + unit - 1) / unit * unit;
}

// Columns in shared memory of a row of `width`: slices of 128 bytes of what is stored.
int64_t split_columns(DType type, int64_t width) {
  constexpr int64_t kSliceBytes = 128;
  return rounded_up(width, kSliceBytes / static_cast<int64_t>(block_bytes(type)));
}

// Shared memory of kernels that read keys warp by warp, `slice_bytes` each, for `lines` lines.
size_t split_bytes(DType type, int64_t width, int64_t lines, int slice_bytes) {
  return size_t{simt::kSplitWarps} * static_cast<size_t>(slice_bytes) +
         storage_bytes(DType::F32, lines * split_columns(type, width));
}

// The packed layout: keys, then values; of each head by head, rows padded with zeros to whole
// chunks.
struct PackedLayout {
  DType type;
  int64_t rows;
  int64_t heads;
  int64_t width;  // of a row of a head

  PackedLayout(DType element, int64_t row_count, int64_t head_count, int64_t head_dim)
      : type(element),
        rows(row_count),
        heads(head_count),
        width(rounded_up(head_dim, kChunkBytes / static_cast<int64_t>(block_bytes(type)))) {}

  PackedLayout(Precision precision, int64_t row_count, int64_t head_count, int64_t head_dim)
      : PackedLayout(precision == Precision::Fast ? DType::F16 : DType::F32, row_count, head_count,
                     head_dim) {}

  explicit PackedLayout(const KeysValues& packed)
      : PackedLayout(packed.precision, packed.rows, packed.heads, packed.head_dim) {}

  [[nodiscard]] int64_t head_stride() const { return rows * width; }

  // Elements of the keys, and as many of the values.
  [[nodiscard]] int64_t elements() const { return heads * rows * width; }

  [[nodiscard]] size_t bytes() const { return storage_bytes(type, elements()); }

  // Where values begin.
  [[nodiscard]] size_t total_bytes() const { return std::max<size_t>(1, 2 * bytes()); }
};

Kernel<simt::PackKeysArgs> pack_kernel(DType from, DType to) {
  const bool half = to == DType::F16;
  switch (from) {
    case DType::F16:
      return half ? kernels::pack_keys_f16_f16 : kernels::pack_keys_f16_f32;
    case DType::BF16:
      return half ? kernels::pack_keys_bf16_f16 : kernels::pack_keys_bf16_f32;
    default:
      return half ? kernels::pack_keys_f32_f16 : kernels::pack_keys_f32_f32;
  }
}

// Keys and values as kernels read them; strides in elements.
struct KeyMemory {
  DType type;
  const std::byte* keys;
  const std::byte* values;
  int64_t key_stride;
  int64_t value_stride;
  int64_t head_stride;
  int64_t width;
};

KeyMemory memory_of(const PackedLayout& layout, const std::byte* packed) {
  return {.type = layout.type,
          .keys = packed,
          .values = packed + layout.bytes(),
          .key_stride = layout.width,
          .value_stride = layout.width,
          .head_stride = layout.head_stride(),
          .width = layout.width};
}

// What the keys say of an attention's arguments.
simt::AttentionArgs arguments(const KeyMemory& keys, int64_t kv_heads, int64_t head_dim,
                              float scale) {
  simt::AttentionArgs args{};
  args.key_stride = static_cast<int32_t>(keys.key_stride);
  args.value_stride = static_cast<int32_t>(keys.value_stride);
  args.kv_heads = static_cast<int32_t>(kv_heads);
  args.head_dim = static_cast<int32_t>(head_dim);
  args.width = static_cast<int32_t>(keys.width);
  args.scale = scale * std::numbers::log2e_v<float>;
  return args;
}

// The pages of a span, and as many more as the table has for it until the next segment of keys
// begins: a step that is like the one before is given as much.
std::span<const int32_t> pages_of(const PageTable& table, const Span& span) {
  if (table.rows == 0) {
    return {};
  }
  const auto first = static_cast<size_t>(span.begin / table.rows);
  const int64_t most = rounded_up(span.length, std::max<int64_t>(simt::kSegmentKeys, table.rows));
  const auto count = static_cast<size_t>(most / table.rows);
  return table.pages.subspan(first, std::min(count, table.pages.size() - first));
}

void check_head_dim(int64_t d, int64_t most) {
  MYNAH_CHECK(d <= most, "[attention] heads of ", std::to_string(d),
              " columns: the kernels here take up to ", std::to_string(most));
}

}  // namespace

void CudaBackend::attention(const Tensor& q, const Tensor& k, const Tensor& v,
                            const AttentionParams& params, const Tensor& out) {
  const bool blocks = is_block_type(k.dtype());
  if (params.pages.rows == 0 && !blocks) {
    attend_in_place(q, k, v, params, out);
    return;
  }
  // Runs of many queries have their keys laid side by side: a prompt's, which take far longer to be
  // computed with.
  std::vector<Span> short_queries;
  std::vector<Span> short_keys;
  std::vector<Span> long_queries;
  std::vector<Span> long_keys;
  std::vector<int32_t> numbers;
  for (size_t u = 0; u < params.queries.size(); ++u) {
    const Span& queries = params.queries[u];
    const Span& keys = params.keys[u];
    if (!AttentionPlan::is_long(queries.length, params.heads / params.kv_heads)) {
      short_queries.push_back(queries);
      short_keys.push_back(keys);
      continue;
    }
    long_queries.push_back(queries);
    long_keys.push_back({static_cast<int64_t>(numbers.size()), keys.length});
    for (int64_t row = keys.begin; row < keys.end(); ++row) {
      numbers.push_back(static_cast<int32_t>(params.pages.row(row)));
    }
  }
  AttentionParams some = params;
  if (!short_queries.empty()) {
    some.queries = short_queries;
    some.keys = short_keys;
    attend_in_place(q, k, v, some, out);
  }
  if (long_queries.empty()) {
    return;
  }
  const auto count = static_cast<int64_t>(numbers.size());
  Tensor rows;
  if (count > 0) {
    rows = {on_device(std::span<const int32_t>(numbers)), 0, {count}, DType::I32, device()};
  }
  const auto side_by_side = [&](const Tensor& x) {
    const DType type = blocks ? DType::F32 : x.dtype();
    const Shape shape{count, x.dim(1)};
    Tensor copied(allocate(storage_bytes(type, shape.elements())), 0, shape, type, device());
    if (count > 0) {
      blocks ? embedding(x, rows, copied) : gather_rows(x, rows, copied);
    }
    return copied;
  };
  some.queries = long_queries;
  some.keys = long_keys;
  some.pages = {};
  attend_in_place(q, side_by_side(k), side_by_side(v), some, out);
}

void CudaBackend::attend_in_place(const Tensor& q, const Tensor& k, const Tensor& v,
                                  const AttentionParams& params, const Tensor& out) {
  const int64_t d = q.dim(1) / params.heads;
  KeyMemory keys{.type = k.dtype(),
                 .keys = k.raw(),
                 .values = v.raw(),
                 .key_stride = k.stride(0),
                 .value_stride = v.stride(0),
                 .head_stride = d,
                 .width = d};
  BufferRef packed;
  if (!is_block_type(k.dtype()) && (!aligned_rows(k, d) || !aligned_rows(v, d))) {
    // Kernels read keys 16 bytes at a time: such rows are laid out anew.
    const PackedLayout layout(k.dtype() == DType::F16 ? DType::F16 : DType::F32, k.dim(0),
                              params.kv_heads, d);
    packed = allocate(layout.total_bytes());
    pack_heads(k, v, layout.heads, layout.type, packed.get()->data());
    keys = memory_of(layout, packed.get()->data());
  }
  const PageTable& table = params.pages;
  // Matrix units' kernels have no cap.
  const int64_t lines = params.score_cap > 0.0F ? 0
                                                : units_lines(processor_->level(), keys.type,
                                                              keys.width, params.precision);
  AttentionPlan plan(params.heads / params.kv_heads, params.causal, lines,
                     params.window > 0 ? params.window : simt::kNoWindow, d > kWide);
  for (size_t u = 0; u < params.queries.size(); ++u) {
    const Span& queries = params.queries[u];
    const Span& span = params.keys[u];
    const int64_t first = table.rows > 0 ? 0 : span.begin;
    plan.add({.keys = keys.keys + storage_bytes(keys.type, first * keys.key_stride),
              .values = keys.values + storage_bytes(keys.type, first * keys.value_stride),
              .head_stride = keys.head_stride,
              .own = span.length,
              .seen = params.causal ? span.length - queries.length + 1 : span.length,
              .pages = pages_of(table, span),
              .page_rows = table.rows,
              .key_bytes = storage_bytes(keys.type, keys.key_stride),
              .value_bytes = storage_bytes(keys.type, keys.value_stride)},
             std::span(&queries, 1));
  }
  simt::AttentionArgs args = arguments(keys, params.kv_heads, d, params.scale);
  args.score_cap = params.score_cap * std::numbers::log2e_v<float>;
  args.sinks = params.sinks == nullptr ? nullptr : params.sinks->data<const float>();
  args.page_bits = table.rows > 0 ? std::countr_zero(static_cast<uint64_t>(table.rows)) : 0;
  attend(q, keys.type, plan, args, out);
}

KeysValues CudaBackend::pack_keys_values(const Tensor& k, const Tensor& v, int64_t heads,
                                         Precision precision) {
  const PackedLayout layout(precision, k.dim(0), heads, k.dim(1) / heads);
  const size_t bytes = layout.total_bytes();
  KeysValues packed{
      .rows = layout.rows,
      .heads = layout.heads,
      .head_dim = k.dim(1) / heads,
      .precision = precision,
      .data = Tensor(allocate(bytes), 0, {static_cast<int64_t>(bytes)}, DType::U8, device())};
  pack_heads(k, v, heads, layout.type, packed.data.raw());
  return packed;
}

size_t CudaBackend::keys_values_bytes(int64_t rows, int64_t heads, int64_t head_dim,
                                      Precision precision) const {
  return PackedLayout(precision, rows, heads, head_dim).total_bytes();
}

void CudaBackend::pack_heads(const Tensor& k, const Tensor& v, int64_t heads, DType type,
                             std::byte* out) {
  const PackedLayout layout(type, k.dim(0), heads, k.dim(1) / heads);
  if (layout.elements() == 0) {
    return;
  }
  constexpr int64_t kPackThreads = 256;
  launch(pack_kernel(k.dtype(), type), {.x = blocks_for(layout.elements(), kPackThreads), .y = 2},
         kPackThreads,
         {.keys = k.raw(),
          .values = v.raw(),
          .key_stride = k.stride(0),
          .value_stride = v.stride(0),
          .out = out,
          .rows = static_cast<int32_t>(layout.rows),
          .heads = static_cast<int32_t>(heads),
          .head_dim = static_cast<int32_t>(k.dim(1) / heads),
          .width = static_cast<int32_t>(layout.width)});
}

void CudaBackend::attention_packed(const Tensor& q, const PackedAttentionParams& params,
                                   const Tensor& out) {
  // Readers of the same keys, side by side.
  std::vector<std::vector<Span>> queries;
  std::vector<const KeysValues*> keys;
  std::map<const std::byte*, size_t> known;
  for (size_t reader = 0; reader < params.keys.size(); ++reader) {
    const auto [at, fresh] = known.try_emplace(params.keys[reader]->data.raw(), keys.size());
    if (fresh) {
      keys.push_back(params.keys[reader]);
      queries.emplace_back();
    }
    queries[at->second].push_back(params.queries[reader]);
  }
  const KeysValues& first = *keys.front();
  const PackedLayout layout(first);
  AttentionPlan plan(params.heads / first.heads, false,
                     units_lines(processor_->level(), layout.type, layout.width, first.precision),
                     simt::kNoWindow, layout.width > kWide);
  const int64_t tail_rows = params.tail == nullptr ? 0 : params.tail->rows;
  for (size_t i = 0; i < keys.size(); ++i) {
    const PackedLayout own(*keys[i]);
    // Row r of the tail stands for positions from r * tail_group on.
    const int64_t tail_first =
        std::min(tail_rows, (own.rows + params.tail_group - 1) / params.tail_group);
    plan.add({.keys = keys[i]->data.raw(),
              .values = keys[i]->data.raw() + own.bytes(),
              .head_stride = own.head_stride(),
              .own = own.rows,
              .tail_first = tail_first,
              .tail = tail_rows - tail_first,
              .seen = own.rows + tail_rows - tail_first},
             queries[i]);
  }
  simt::AttentionArgs args =
      arguments(memory_of(layout, first.data.raw()), first.heads, first.head_dim, params.scale);
  if (params.tail != nullptr) {
    const PackedLayout tail(*params.tail);
    args.tail_keys = params.tail->data.raw();
    args.tail_values = params.tail->data.raw() + tail.bytes();
    args.tail_head_stride = tail.head_stride();
    args.tail_score = std::log2(static_cast<float>(params.tail_group));
  }
  attend(q, layout.type, plan, args, out);
}

void CudaBackend::attend(const Tensor& q, DType type, const AttentionPlan& plan,
                         simt::AttentionArgs args, const Tensor& out) {
  check_head_dim(args.head_dim, 2 * kWide);
  const TypeKernels& kernels = kernels_of(type);
  const int level = processor_->level();
  const BufferRef buffer = on_device(std::span<const std::byte>(plan.bytes()));
  const std::byte* const base = buffer.get()->data();
  args.rows = reinterpret_cast<const int32_t*>(base + plan.rows_offset());
  args.pages = reinterpret_cast<const int32_t*>(base + plan.pages_offset());
  args.q = q.data<const float>();
  args.q_stride = q.stride(0);
  args.out = out.data<float>();
  args.out_stride = out.stride(0);
  args.group = static_cast<int32_t>(plan.group());
  args.causal = plan.causal() ? 1 : 0;
  args.window = static_cast<int32_t>(plan.window());
  for (const AttentionPlan::Kind kind : AttentionPlan::kKinds) {
    const int64_t tiles = plan.tiles(kind);
    if (tiles == 0) {
      continue;
    }
    args.tiles = reinterpret_cast<const simt::AttentionTile*>(base + plan.tiles_offset(kind));
    if (kind == AttentionPlan::Tiled || kind == AttentionPlan::Units) {
      launch(kind == AttentionPlan::Units ? on_units(type, args.width) : tiled(kernels, args.width),
             {.x = tiles, .y = args.kv_heads}, kAttentionThreads, args);
      continue;
    }
    const bool one = kind == AttentionPlan::One;
    const int64_t lines = one ? 1 : simt::kFewLines;
    const int64_t segments = plan.segments(kind);
    const int64_t partials = segments > 1 ? tiles * args.kv_heads * segments * lines : 0;
    const BufferRef mixes = allocate(storage_bytes(DType::F32, partials * args.head_dim) + 1);
    const BufferRef masses = allocate(storage_bytes(DType::F32, 2 * partials) + 1);
    args.segments = static_cast<int32_t>(segments);
    args.partials = reinterpret_cast<float*>(mixes.get()->data());
    args.masses = reinterpret_cast<float*>(masses.get()->data());
    const AttentionKernel& kernel = plan.has_pages() ? (one ? kernels.one_paged : kernels.few_paged)
                                                     : (one ? kernels.one : kernels.few);
    launch(kernel, {.x = tiles, .y = args.kv_heads, .z = segments}, kAttentionThreads, args,
           split_bytes(kernels.staged, args.width, lines,
                       simt::split_slices(level) * simt::split_slice_bytes(level)));
    if (segments > 1) {
      constexpr int kMergeThreads = 64;
      launch(one ? kernels::attention_merge_one : kernels::attention_merge_few,
             {.x = tiles * lines, .y = args.kv_heads}, kMergeThreads, args);
    }
  }
}

void CudaBackend::attention_probabilities(const Tensor& q, const KeysValues& keys, int64_t heads,
                                          float scale, const Tensor& out) {
  check_head_dim(keys.head_dim, kWide);
  const PackedLayout layout(keys);
  launch(layout.type == DType::F16 ? kernels::attention_probabilities_f16
                                   : kernels::attention_probabilities_f32,
         {.x = blocks_for(q.dim(0), simt::kFewLines), .y = heads}, kAttentionThreads,
         simt::ProbabilitiesArgs{.q = q.data<const float>(),
                                 .q_stride = q.stride(0),
                                 .keys = keys.data.raw(),
                                 .head_stride = layout.head_stride(),
                                 .out = out.data<float>(),
                                 .out_head_stride = out.stride(0),
                                 .out_query_stride = out.stride(1),
                                 .queries = static_cast<int32_t>(q.dim(0)),
                                 .positions = static_cast<int32_t>(out.dim(2)),
                                 .head_dim = static_cast<int32_t>(keys.head_dim),
                                 .width = static_cast<int32_t>(layout.width),
                                 .group = static_cast<int32_t>(heads / keys.heads),
                                 .scale = scale * std::numbers::log2e_v<float>},
         split_bytes(layout.type, layout.width, simt::kFewLines,
                     simt::split_slice_bytes(kFirstLevel)));
}

}  // namespace mynah::cuda
