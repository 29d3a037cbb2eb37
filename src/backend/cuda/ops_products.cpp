// Products: linear, matmul, conv1d.
#include <algorithm>
#include <array>
#include <vector>

#include "backend/cuda/cuda_backend_class.h"
#include "backend/cuda/launch_sizes.h"
#include "backend/cuda/packed.h"
#include "base/check.h"

namespace mynah::cuda {

namespace {

using simt::kFewRows;
using simt::kFewRowsChunks;
using simt::kFewRowsPanels;
using simt::kFewRowsWarps;
using simt::kTileColumns;
using simt::kTileRows;
using simt::kTileThreads;

// Up to this many rows, reading the weights once for each eight is faster than tiles that are
// mostly empty and few. Both give the same bits (kernels/tile.h).
constexpr int64_t kMostFewRows = 32;

// From this many panels on, rounding activations in each block costs more than a launch.
constexpr int64_t kPanelsWorthALaunch = 2 * kManyBlocks;

// From this level on cards have matrix units for codes of eight bits.
constexpr int kLevelOfCodeUnits = 75;

// Groups of a convolution from this many columns on are worth a tile.
constexpr int64_t kLeastGroupColumns = 16;

struct ProductKernels {
  DType dtype;
  Kernel<simt::RoutedArgs> routed;
  Kernel<simt::LinearArgs> rows;
  Kernel<simt::LinearArgs> few_rows;
  Kernel<simt::LinearArgs> int8_rows;  // where there are no such: the f32 ones
  Kernel<simt::LinearArgs> int8_few_rows;
};

const ProductKernels& kernels_for(DType dtype) {
#define MYNAH_FLOAT_ENTRY(storage, type)                                     \
  {DType::storage,           kernels::routed_##type, kernels::linear_##type, \
   kernels::few_rows_##type, kernels::linear_##type, kernels::few_rows_##type}
#define MYNAH_CODES_ENTRY(storage, type)                                          \
  {DType::storage,           kernels::routed_##type,      kernels::linear_##type, \
   kernels::few_rows_##type, kernels::linear_int8_##type, kernels::few_rows_int8_##type}
  static constexpr auto kTable = std::to_array<ProductKernels>({
      MYNAH_FLOAT_ENTRY(F32, f32),
      MYNAH_FLOAT_ENTRY(F16, f16),
      MYNAH_FLOAT_ENTRY(BF16, bf16),
      MYNAH_CODES_ENTRY(I8, i8),
      MYNAH_CODES_ENTRY(Q4_0, q4_0),
      MYNAH_CODES_ENTRY(Q4_1, q4_1),
      MYNAH_CODES_ENTRY(Q5_0, q5_0),
      MYNAH_CODES_ENTRY(Q5_1, q5_1),
      MYNAH_CODES_ENTRY(Q8_0, q8_0),
      MYNAH_CODES_ENTRY(Q2_K, q2_k),
      MYNAH_CODES_ENTRY(Q3_K, q3_k),
      MYNAH_CODES_ENTRY(Q4_K, q4_k),
      MYNAH_CODES_ENTRY(Q5_K, q5_k),
      MYNAH_CODES_ENTRY(Q6_K, q6_k),
      MYNAH_CODES_ENTRY(IQ4_NL, iq4_nl),
      MYNAH_CODES_ENTRY(IQ4_XS, iq4_xs),
      MYNAH_CODES_ENTRY(MXFP4, mxfp4),
  });
#undef MYNAH_FLOAT_ENTRY
#undef MYNAH_CODES_ENTRY
  for (const ProductKernels& entry : kTable) {
    if (entry.dtype == dtype) {
      return entry;
    }
  }
  check_failed(__FILE__, __LINE__, "a type of weights", check_message(name(dtype)));
}

Kernel<simt::Conv1dArgs> conv1d_kernel_for(DType dtype) {
  switch (dtype) {
    case DType::F16:
      return kernels::conv1d_f16;
    case DType::BF16:
      return kernels::conv1d_bf16;
    case DType::I8:
      return kernels::conv1d_i8;
    default:
      return kernels::conv1d_f32;
  }
}

// Whether four elements from a multiple of four on can be read at once, in every row.
bool aligned(const simt::Rows& x) {
  return reinterpret_cast<uintptr_t>(x.data) % 16 == 0 && x.stride % 4 == 0;
}

bool aligned(const Tensor& x) {
  constexpr uintptr_t kBytes = 16;
  bool every = reinterpret_cast<uintptr_t>(x.raw()) % kBytes == 0;
  for (int i = 0; i < x.rank() - 1; ++i) {
    every = every && x.stride(i) % 4 == 0;
  }
  return every;
}

template <class Params>
simt::Finish finish_of(const Params& params, const Tensor& out) {
  static_assert(static_cast<int>(simt::Activation::Gelu) == static_cast<int>(Activation::Gelu));
  static_assert(static_cast<int>(simt::Activation::Tanh) == static_cast<int>(Activation::Tanh));
  const Tensor* residual = params.residual;
  return {.bias = params.bias == nullptr ? nullptr : params.bias->template data<const float>(),
          .residual = residual == nullptr ? simt::Rows{} : rows_of(*residual),
          .out = out_rows_of(out),
          .rows = out.dim(0),
          .columns = out.dim(1),
          .activation = static_cast<simt::Activation>(params.activation),
          .aligned = aligned(out) && (residual == nullptr || aligned(*residual))};
}

// How a kernel for few rows in f32 is launched.
struct FewRowsLaunch {
  GridSize grid;
  int threads;
  size_t shared_bytes;
  int panels;  // LinearArgs::panels
};

FewRowsLaunch few_rows_launch(const simt::LinearArgs& args) {
  // A block of several panels reads x less often, one of a single panel leaves more blocks.
  const int64_t all = args.weights.panels;
  const int panels = all >= 4 * kManyBlocks ? 4 : all >= 2 * kManyBlocks ? 2 : 1;
  // Of a panel: two warps at least, so that each of its results has a thread.
  const auto warps = static_cast<int>(std::clamp<int64_t>(
      blocks_for(args.weights.chunks, kFewRowsChunks), 2, kFewRowsWarps / panels));
  const simt::FewRowsMemory memory{
      .rows = static_cast<int>(std::min<int64_t>(args.finish.rows, kFewRows)),
      .chunks = warps * kFewRowsChunks,
      .panels = panels};
  return {.grid = {.x = blocks_for(all, panels), .y = blocks_for(args.finish.rows, kFewRows)},
          .threads = warps * panels * simt::kWarpThreads,
          .shared_bytes = static_cast<size_t>(memory.float_elements()) * sizeof(float),
          .panels = panels};
}

GridSize tiles_of(int64_t rows, int64_t columns) {
  return {.x = blocks_for(rows, kTileRows), .y = blocks_for(columns, kTileColumns)};
}

}  // namespace

simt::CodedRows CodedBuffers::view() const {
  return {.codes = reinterpret_cast<uint8_t*>(codes.get()->data()),
          .sums = reinterpret_cast<float*>(sums.get()->data()),
          .scales = reinterpret_cast<float*>(scales.get()->data())};
}

bool CudaBackend::rounds_to_int8(Precision precision, DType dtype) const {
  constexpr int kLevelOfDot4 = 61;
  return precision == Precision::Fast && (dtype == DType::I8 || is_block_type(dtype)) &&
         processor_->level() >= kLevelOfDot4;
}

void CudaBackend::linear(const Tensor& x, const LinearWeight& w, const LinearParams& params,
                         const Tensor& out) {
  if (uses_units(params.precision, w.dtype)) {
    linear_on_units({.x = rows_of(x), .windows = nullptr, .rows = x.dim(0), .aligned = aligned(x)},
                    w, finish_of(params, out));
    return;
  }
  const ProductKernels& kernels = kernels_for(w.dtype);
  const bool int8 = rounds_to_int8(params.precision, w.dtype);
  const int64_t rows = x.dim(0);
  simt::LinearArgs args{.x = rows_of(x),
                        .in = w.in_features,
                        .aligned = aligned(x),
                        .coded = {},
                        .panels = 1,
                        .weights = weights_of(w),
                        .finish = finish_of(params, out)};
  if (rows > kMostFewRows) {
    if (int8) {
      linear_int8(args.x, nullptr, rows, w, args.finish);
    } else {
      launch(kernels.rows, tiles_of(rows, w.out_features), kTileThreads, args);
    }
    return;
  }
  CodedBuffers coded;
  if (int8 && args.weights.panels >= kPanelsWorthALaunch) {
    coded = code_rows(args.x, nullptr, rows, w, false);
    args.coded = coded.view();
  }
  if (int8) {
    launch_coded_few_rows(kernels.int8_few_rows, args);
  } else {
    launch_few_rows(kernels.few_rows, args);
  }
}

void CudaBackend::linear_int8(const simt::Rows& x, const simt::Windows* windows, int64_t rows,
                              const LinearWeight& w, const simt::Finish& finish) {
  const bool units = processor_->level() >= kLevelOfCodeUnits;
  const CodedBuffers coded = code_rows(x, windows, rows, w, units);
  if (units && w.dtype == DType::I8) {
    launch_codes_on_units(coded, w, finish);
    return;
  }
  launch(kernels_for(w.dtype).int8_rows, tiles_of(rows, w.out_features), kTileThreads,
         {.x = {},
          .in = w.in_features,
          .aligned = false,
          .coded = coded.view(),
          .panels = 1,
          .weights = weights_of(w),
          .finish = finish});
}

void CudaBackend::launch_few_rows(const Kernel<simt::LinearArgs>& kernel, simt::LinearArgs args) {
  const FewRowsLaunch sizes = few_rows_launch(args);
  args.panels = sizes.panels;
  launch(kernel, sizes.grid, sizes.threads, args, sizes.shared_bytes);
}

void CudaBackend::launch_coded_few_rows(const Kernel<simt::LinearArgs>& kernel,
                                        simt::LinearArgs args) {
  const int64_t panels = args.weights.panels;
  const auto rows = static_cast<int>(std::min<int64_t>(args.finish.rows, kFewRows));
  // The more rows, the more a lane gains from reading a chunk of x once for several panels.
  const int64_t enough = rows > 2 ? kManyBlocks * 3 / 4 : kManyBlocks;
  args.panels = panels >= kFewRowsPanels * enough ? kFewRowsPanels : panels >= 2 * enough ? 2 : 1;
  // Each result has a thread.
  const int64_t least = blocks_for(args.panels * rows * simt::kPanel, simt::kWarpThreads);
  const auto warps = static_cast<int>(
      std::clamp<int64_t>(blocks_for(args.weights.chunks, kFewRowsChunks), least, kFewRowsWarps));
  const simt::FewRowsMemory memory{
      .rows = rows, .chunks = warps * kFewRowsChunks, .panels = args.panels};
  launch(kernel,
         {.x = blocks_for(panels, args.panels), .y = blocks_for(args.finish.rows, kFewRows)},
         warps * simt::kWarpThreads, args,
         static_cast<size_t>(memory.int8_elements()) * sizeof(float));
}

void CudaBackend::routed_linear(const Tensor& x, const Tensor& routes, const ExpertWeights& w,
                                const RoutedParams& params, const Tensor& out) {
  // Of one row, whose columns a bias of each expert has.
  const Tensor first = out.narrow(0, 0, 1);
  simt::RoutedArgs args{.linear = {.x = rows_of(x),
                                   .in = w.in_features,
                                   .aligned = aligned(x),
                                   .coded = {},
                                   .panels = 1,
                                   .weights = weights_of(w.of(0)),
                                   .finish = finish_of(LinearParams{.bias = params.bias}, first)},
                        .routes = routes.data<const int32_t>(),
                        .first = 0,
                        .each = out.dim(0) / x.dim(0),
                        .expert_bytes = w.data.stride(0),
                        .experts = static_cast<int32_t>(w.experts)};
  FewRowsLaunch sizes = few_rows_launch(args.linear);
  args.linear.panels = sizes.panels;
  constexpr int64_t kMostDeep = 65535;  // blocks of a grid in z
  for (; args.first < out.dim(0); args.first += sizes.grid.z) {
    sizes.grid.z = std::min(kMostDeep, out.dim(0) - args.first);
    launch(kernels_for(w.dtype).routed, sizes.grid, sizes.threads, args, sizes.shared_bytes);
  }
}

CodedBuffers CudaBackend::code_rows(const simt::Rows& x, const simt::Windows* windows, int64_t rows,
                                    const LinearWeight& w, bool in_panels) {
  constexpr int kRowsOfBlock = 4;  // a warp each
  const int64_t in = w.in_features;
  const bool by_chunk = is_block_type(w.dtype);
  const int64_t scales = by_chunk ? blocks_for(in, simt::kChunk) : 1;  // of a row
  const auto of_row = static_cast<size_t>(blocks_for(in, simt::kChunk) * 2);
  const auto all_rows = static_cast<size_t>(blocks_for(rows, simt::kPanel) * simt::kPanel);
  CodedBuffers coded{.codes = allocate(all_rows * of_row * simt::kChunk / 2),
                     .sums = allocate(static_cast<size_t>(rows) * of_row * sizeof(float)),
                     .scales = allocate(static_cast<size_t>(rows * scales) * sizeof(float))};
  launch(windows == nullptr ? kernels::quantize_rows : kernels::quantize_windows,
         {.x = blocks_for(rows, kRowsOfBlock)}, kRowsOfBlock * simt::kWarpThreads,
         {.x = x,
          .windows = windows == nullptr ? simt::Windows{} : *windows,
          .rows = rows,
          .in = in,
          .aligned = windows == nullptr && aligned(x),
          .in_panels = in_panels,
          .by_chunk = by_chunk,
          .coded = coded.view()});
  return coded;
}

void CudaBackend::matmul(const Tensor& a, const Tensor& b, bool transpose_b, const Tensor& out) {
  const int64_t batch = out.dim(0);
  const int64_t rows = out.dim(1);
  const int64_t columns = out.dim(2);
  const int64_t row_tiles = blocks_for(rows, kTileRows);
  launch(transpose_b ? kernels::matmul_transposed : kernels::matmul,
         {.x = batch * row_tiles, .y = blocks_for(columns, kTileColumns)}, kTileThreads,
         {.a = {.data = a.data<const float>(), .stride = a.stride(1)},
          .b = {.data = b.data<const float>(), .stride = b.stride(1)},
          .a_batch = a.stride(0),
          .b_batch = b.stride(0),
          .out_batch = out.stride(0),
          .row_tiles = static_cast<int>(row_tiles),
          .k = a.dim(2),
          .a_aligned = aligned(a),
          .b_aligned = aligned(b),
          .finish = {.bias = nullptr,
                     .residual = {},
                     .out = {.data = out.data<float>(), .stride = out.stride(1)},
                     .rows = rows,
                     .columns = columns,
                     .activation = simt::Activation::None,
                     .aligned = aligned(out)}});
}

void CudaBackend::conv1d(const Tensor& x, const Lengths& lengths, const LinearWeight& w,
                         const Conv1dParams& params, const Tensor& out) {
  if (params.input != nullptr) {
    Conv1dParams rest = params;
    rest.input = nullptr;
    conv1d(conv1d_seen(x, lengths, *params.input), lengths, w, rest, out);
    return;
  }
  std::vector<simt::Utterance> utterances;
  int64_t out_rows = 0;
  for (const Span& span : lengths.spans()) {
    const int64_t rows = params.out_rows(span.length);
    if (rows > 0) {
      utterances.push_back({.begin = span.begin, .length = span.length, .out_begin = out_rows});
    }
    out_rows += rows;
  }
  const BufferRef on_card = on_device(std::span<const simt::Utterance>(utterances));
  const int64_t channels = w.in_features / params.kernel;
  const simt::Windows windows{
      .utterances = reinterpret_cast<const simt::Utterance*>(on_card.get()->data()),
      .count = static_cast<int64_t>(utterances.size()),
      .x = rows_of(x),
      .rows = out_rows,
      .channels = static_cast<int>(channels),
      .kernel = static_cast<int>(params.kernel),
      .stride = static_cast<int>(params.stride),
      .padding = static_cast<int>(params.padding_left),
      .dilation = static_cast<int>(params.dilation),
      .aligned = aligned(x) && channels % 4 == 0};
  if (params.groups == 1 && uses_units(params.precision, w.dtype)) {
    conv1d_on_units({.x = rows_of(x), .windows = nullptr, .rows = x.dim(0), .aligned = aligned(x)},
                    windows, w, finish_of(params, out));
    return;
  }
  if (params.groups == 1 && rounds_to_int8(params.precision, w.dtype)) {
    linear_int8({}, &windows, out_rows, w, finish_of(params, out));
    return;
  }
  const int64_t group_columns = w.out_features / params.groups;
  simt::Conv1dArgs args{.windows = windows,
                        .weights = weights_of(w),
                        .storage = storage_of(w.dtype),
                        .group_columns = group_columns,
                        .finish = finish_of(params, out)};
  if (params.groups > 1 && group_columns < kLeastGroupColumns) {
    launch(kernels::conv1d_grouped, {.x = blocks_for(out_rows * w.out_features, kTileThreads)},
           kTileThreads, args);
    return;
  }
  // A group's first column is to be aligned too.
  args.finish.aligned = args.finish.aligned && (params.groups == 1 || group_columns % 4 == 0);
  GridSize grid = tiles_of(out_rows, group_columns);
  grid.z = params.groups;
  launch(conv1d_kernel_for(w.dtype), grid, kTileThreads, args);
}

}  // namespace mynah::cuda
