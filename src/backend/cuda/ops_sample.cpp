// The choice of the next token.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <type_traits>

#include "backend/cuda/cuda_backend_class.h"

namespace mynah::cuda {

namespace {

// What is said of rows and tokens goes to the card as it is.
static_assert(std::is_trivially_copyable_v<TokenRange>);
static_assert(sizeof(TokenRange) == sizeof(simt::TokenRange));
static_assert(offsetof(TokenRange, begin) == offsetof(simt::TokenRange, begin));
static_assert(offsetof(TokenRange, end) == offsetof(simt::TokenRange, end));
static_assert(std::is_trivially_copyable_v<SampleRow>);
static_assert(sizeof(SampleRow) == sizeof(simt::SampleRow));
static_assert(offsetof(SampleRow, first) == offsetof(simt::SampleRow, first));
static_assert(offsetof(SampleRow, second) == offsetof(simt::SampleRow, second));
static_assert(offsetof(SampleRow, prefer_second) == offsetof(simt::SampleRow, prefer_second));
static_assert(offsetof(SampleRow, mask) == offsetof(simt::SampleRow, mask));
static_assert(offsetof(SampleRow, penalties_begin) == offsetof(simt::SampleRow, penalties_begin));
static_assert(offsetof(SampleRow, penalties_count) == offsetof(simt::SampleRow, penalties_count));
static_assert(offsetof(SampleRow, temperature) == offsetof(simt::SampleRow, temperature));
static_assert(offsetof(SampleRow, uniform) == offsetof(simt::SampleRow, uniform));
static_assert(offsetof(SampleRow, top_k) == offsetof(simt::SampleRow, top_k));
static_assert(offsetof(SampleRow, typical_p) == offsetof(simt::SampleRow, typical_p));
static_assert(offsetof(SampleRow, top_p) == offsetof(simt::SampleRow, top_p));
static_assert(offsetof(SampleRow, min_p) == offsetof(simt::SampleRow, min_p));
static_assert(std::is_trivially_copyable_v<TokenPenalty>);
static_assert(sizeof(TokenPenalty) == sizeof(simt::TokenPenalty));
static_assert(offsetof(TokenPenalty, token) == offsetof(simt::TokenPenalty, token));
static_assert(offsetof(TokenPenalty, factor) == offsetof(simt::TokenPenalty, factor));
static_assert(offsetof(TokenPenalty, offset) == offsetof(simt::TokenPenalty, offset));
static_assert(offsetof(TokenPenalty, bias) == offsetof(simt::TokenPenalty, bias));

// A row's block: as many threads as one can have for a language model's vocabulary.
int sample_threads(int64_t vocabulary, int most) {
  constexpr int64_t kSmall = 2048;
  return vocabulary <= kSmall ? 128 : most;
}

}  // namespace

void CudaBackend::sample(const Tensor& logits, const SampleParams& params, const Tensor& ids,
                         const Tensor& log_probabilities) {
  const BufferRef rows = on_device(params.rows);
  // The last that a step brings: however many there are, nothing else moves, and so a graph of the
  // step is good for all of them.
  const BufferRef penalties = on_device(params.penalties);
  const int64_t vocabulary = logits.dim(1);
  const simt::SampleArgs args{
      .logits = rows_of(logits),
      .masks = params.masks == nullptr ? simt::Rows{} : rows_of(*params.masks),
      .rows = reinterpret_cast<const simt::SampleRow*>(rows.get()->data()),
      .penalties = reinterpret_cast<const simt::TokenPenalty*>(penalties.get()->data()),
      .ids = ids.data<int32_t>(),
      .ids_stride = ids.stride(0),
      .log_probabilities = out_rows_of(log_probabilities),
      .vocabulary = static_cast<int32_t>(vocabulary),
      .top = params.top};
  const GridSize grid{.x = logits.dim(0)};
  const auto filtered = std::ranges::count_if(params.rows, &SampleRow::filters);
  if (filtered < std::ssize(params.rows)) {
    launch(kernels::sample, grid, sample_threads(vocabulary, 1024), args);
  }
  if (filtered > 0) {
    launch(kernels::sample_filtered, grid, sample_threads(vocabulary, 512), args);
  }
}

}  // namespace mynah::cuda
