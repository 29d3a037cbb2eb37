// The choice of the next token.
#include <cstddef>
#include <type_traits>

#include "backend/cuda/cuda_backend_class.h"

namespace mynah::cuda {

namespace {

// The rules go to the card as they are.
using simt::PickPenalty;
using simt::PickRule;
static_assert(std::is_trivially_copyable_v<TokenRule> && sizeof(TokenRule) == sizeof(PickRule));
static_assert(offsetof(TokenRule, text_begin) == offsetof(PickRule, text_begin));
static_assert(offsetof(TokenRule, text_end) == offsetof(PickRule, text_end));
static_assert(offsetof(TokenRule, timestamp_begin) == offsetof(PickRule, timestamp_begin));
static_assert(offsetof(TokenRule, timestamp_low) == offsetof(PickRule, timestamp_low));
static_assert(offsetof(TokenRule, timestamp_high) == offsetof(PickRule, timestamp_high));
static_assert(offsetof(TokenRule, text_allowed) == offsetof(PickRule, text_allowed));
static_assert(offsetof(TokenRule, prefer_timestamps) == offsetof(PickRule, prefer_timestamps));
static_assert(offsetof(TokenRule, mask) == offsetof(PickRule, mask));
static_assert(offsetof(TokenRule, temperature) == offsetof(PickRule, temperature));
static_assert(offsetof(TokenRule, uniform) == offsetof(PickRule, uniform));
static_assert(offsetof(TokenRule, penalties_begin) == offsetof(PickRule, penalties_begin));
static_assert(offsetof(TokenRule, penalties_count) == offsetof(PickRule, penalties_count));
static_assert(std::is_trivially_copyable_v<TokenPenalty>);
static_assert(sizeof(TokenPenalty) == sizeof(PickPenalty));
static_assert(offsetof(TokenPenalty, token) == offsetof(PickPenalty, token));
static_assert(offsetof(TokenPenalty, penalty) == offsetof(PickPenalty, penalty));

// A row's block: as many threads as one can have for a language model's vocabulary.
int pick_threads(int64_t vocabulary) {
  constexpr int64_t kSmall = 2048;
  return vocabulary <= kSmall ? 128 : 1024;
}

}  // namespace

void CudaBackend::pick_token(const Tensor& logits, const PickTokenParams& params, const Tensor& ids,
                             const Tensor& log_probabilities) {
  const BufferRef rules = on_device(params.rules);
  // The last that a step brings: however many there are, nothing else moves, and so a graph of the
  // step is good for all of them.
  const BufferRef penalties = on_device(params.penalties);
  const int64_t vocabulary = logits.dim(1);
  launch(kernels::pick_token, {.x = logits.dim(0)}, pick_threads(vocabulary),
         {.logits = rows_of(logits),
          .masks = params.masks == nullptr ? simt::Rows{} : rows_of(*params.masks),
          .rules = reinterpret_cast<const PickRule*>(rules.get()->data()),
          .penalties = reinterpret_cast<const PickPenalty*>(penalties.get()->data()),
          .ids = ids.data<int32_t>(),
          .ids_stride = ids.stride(0),
          .log_probabilities = out_rows_of(log_probabilities),
          .vocabulary = static_cast<int32_t>(vocabulary),
          .top = params.top});
}

}  // namespace mynah::cuda
