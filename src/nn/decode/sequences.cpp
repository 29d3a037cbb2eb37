#include "nn/decode/sequences.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace mynah {

Sampled sample(Backend& backend, const Tensor& logits, const SampleParams& params) {
  const ops::SampledTokens sampled = ops::sample(backend, logits, params);
  return {ops::to_host_i32(backend, sampled.ids), ops::to_host(backend, sampled.log_probabilities)};
}

Sequences::Sequences(Backend& backend, const TokenModel& model, StepRunner& steps, KvCache cache)
    : backend_(backend), model_(model), steps_(steps), cache_(std::move(cache)) {}

Sequences::Waits& Sequences::waits(int64_t sequence) {
  if (sequence >= std::ssize(waits_)) {
    waits_.resize(static_cast<size_t>(sequence) + 1);
  }
  return waits_[static_cast<size_t>(sequence)];
}

int64_t Sequences::admit(std::span<const int32_t> tokens, int64_t context) {
  const int64_t sequence = cache_.add();
  waits(sequence) = {.tokens = {tokens.begin(), tokens.end()}, .context = context};
  return sequence;
}

int64_t Sequences::fork(int64_t sequence) {
  const int64_t forked = cache_.fork(sequence, cache_.length(sequence));
  const Waits same = waits(sequence);
  waits(forked) = same;
  return forked;
}

int64_t Sequences::fork(int64_t sequence, int64_t length) {
  const int64_t forked = cache_.fork(sequence, length);
  const int64_t context = waits(sequence).context;
  waits(forked) = {.tokens = {}, .context = context};
  return forked;
}

void Sequences::append(int64_t sequence, int32_t token) {
  waits(sequence).tokens.push_back(token);
}

void Sequences::evict(int64_t sequence) {
  cache_.remove(sequence);
  waits(sequence) = {};
}

// The cache's pages are its own and not a step's: they are there before the pass.
Sequences::Pass Sequences::begin(std::span<const int64_t> growing,
                                 std::span<const int64_t> sequences) {
  Pass pass;
  const auto add = [&](int64_t sequence) {
    Waits& waiting = waits(sequence);
    MYNAH_CHECK(!waiting.tokens.empty(), "sequence ", std::to_string(sequence),
                " has nothing to be computed");
    pass.tokens.insert(pass.tokens.end(), waiting.tokens.begin(), waiting.tokens.end());
    pass.lanes.push_back(
        {.sequence = sequence, .count = std::ssize(waiting.tokens), .context = waiting.context});
    waiting.tokens.clear();
  };
  std::ranges::for_each(growing, add);
  std::ranges::for_each(sequences, add);
  cache_.reserve(pass.lanes);
  return pass;
}

// Where those that something is sampled behind stand among a pass's tokens.
std::vector<int32_t> Sequences::asked_rows(std::span<const Lane> lanes, const Beside& beside) {
  std::vector<int32_t> rows;
  int64_t end = 0;
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    end += lanes[lane].count;
    if (lane < beside.growing.size()) {
      continue;
    }
    const int64_t count = beside.asked.empty() ? 1 : beside.asked[lane - beside.growing.size()];
    for (int64_t row = end - count; row < end; ++row) {
      rows.push_back(static_cast<int32_t>(row));
    }
  }
  return rows;
}

Tensor Sequences::run(std::span<const int64_t> sequences) {
  const Pass pass = begin({}, sequences);
  return model_.forward(pass.tokens, pass.lanes, cache_);
}

Sampled Sequences::step(std::span<const int64_t> sequences, const SampleParams& params,
                        const Beside& beside) {
  const Pass pass = begin(beside.growing, sequences);
  const auto rows = std::ssize(params.rows);
  if (std::ssize(pass.tokens) > rows || beside.on_logits) {
    // With a prompt among them, or somebody who looks on: like no other step.
    const std::vector<int32_t> last = asked_rows(pass.lanes, beside);
    MYNAH_CHECK(std::ssize(last) == rows, "a step of ", std::to_string(rows),
                " rows that asks for ", std::to_string(last.size()));
    const Tensor hidden = model_.forward(pass.tokens, pass.lanes, cache_);
    if (rows == 0) {
      return {};
    }
    const Tensor ends = ops::gather_rows(
        backend_, hidden, ops::from_host(backend_, std::span<const int32_t>(last), {rows}));
    const Tensor logits = model_.logits(ends);
    if (beside.on_logits) {
      beside.on_logits(logits);
    }
    return sample(backend_, logits, params);
  }
  const Shape shape{rows, params.top};
  const auto count = static_cast<size_t>(shape.elements());
  // The ids, then the log probabilities.
  std::vector<std::byte> result(count * (sizeof(int32_t) + sizeof(float)));
  steps_.run(
      [&](const BufferRef& memory) {
        const Tensor hidden = model_.forward(pass.tokens, pass.lanes, cache_);
        ops::sample_into(backend_, model_.logits(hidden), params,
                         {.ids = {memory, 0, shape, DType::I32, backend_.device()},
                          .log_probabilities = {memory, count * sizeof(int32_t), shape, DType::F32,
                                                backend_.device()}});
      },
      result);
  Sampled sampled{std::vector<int32_t>(count), std::vector<float>(count)};
  std::memcpy(sampled.ids.data(), result.data(), count * sizeof(int32_t));
  std::memcpy(sampled.log_probabilities.data(), result.data() + count * sizeof(int32_t),
              count * sizeof(float));
  return sampled;
}

}  // namespace mynah
