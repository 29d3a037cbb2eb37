#include "chat/embedder.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/stop_scope.h"

namespace mynah {
namespace {

// Tokens of a batch: enough to keep a processor's threads busy, and no more than another client may
// wait for.
constexpr int64_t kBatchTokens = 1024;

void shorten(std::vector<float>& vector, const EmbeddingOptions& options, bool normalized) {
  if (options.dimensions == 0) {
    return;
  }
  vector.resize(static_cast<size_t>(options.dimensions));
  double squares = 0;
  for (const float value : vector) {
    squares += double{value} * value;
  }
  if (normalized && squares > 0) {
    const double scale = 1.0 / std::sqrt(squares);
    for (float& value : vector) {
      value = static_cast<float>(value * scale);
    }
  }
}

}  // namespace

bool Embedder::Turns::begin(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const uint64_t own = next_++;
  waiting_.push_back(own);
  if (changed_.wait(lock, stop, [&] { return waiting_.front() == own; })) {
    return true;
  }
  std::erase(waiting_, own);
  changed_.notify_all();
  return false;
}

void Embedder::Turns::end() {
  const std::lock_guard lock(mutex_);
  waiting_.pop_front();
  changed_.notify_all();
}

Result<std::unique_ptr<Embedder>> Embedder::open(const TensorFile& file,
                                                 std::shared_ptr<const EmbeddingModel> model) {
  MYNAH_TRY(auto tokenizer, create_text_tokenizer(file));
  const SpecialTokens& special = tokenizer->special();
  if (!special.add_bos || !special.add_eos) {
    return fail(ErrorCode::InvalidInput,
                file.path +
                    ": wanted marks around a text ([CLS] and [SEP]) among its tokens, found "
                    "none");
  }
  if (tokenizer->size() > model->facts().vocabulary) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: its tokenizer has {} tokens, and its model {}", file.path,
                            tokenizer->size(), model->facts().vocabulary));
  }
  return std::unique_ptr<Embedder>(new Embedder(std::move(tokenizer), std::move(model)));
}

Result<Embedding> Embedder::cut(std::vector<int32_t>& text, size_t number,
                                const EmbeddingOptions& options) const {
  Embedding told;
  const int64_t longest = facts().longest;
  told.left_out = std::max<int64_t>(0, std::ssize(text) - longest);
  if (told.left_out > 0) {
    if (!options.cuts) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("text {}: wanted {} tokens at most, which is what the model reads, "
                              "found {}",
                              number + 1, longest, text.size()));
    }
    text.resize(static_cast<size_t>(longest));
    text.back() = *tokenizer_->special().eos;
  }
  told.tokens = std::ssize(text);
  return told;
}

Result<std::vector<float>> Embedder::compute(const TokenTexts& batch,
                                             const std::stop_token& stop) const {
  if (!turns_.begin(stop)) {
    return fail(ErrorCode::Cancelled, "stopped");
  }
  // Whatever happens, who waits goes on.
  const std::unique_ptr<Turns, void (*)(Turns*)> turn(&turns_, [](Turns* turns) { turns->end(); });
  const StopScope scope(stop);
  return model_->embed(batch);
}

// Texts of like lengths are computed together, the longest first, so that threads end at once.
Result<std::vector<Embedding>> Embedder::run(TokenTexts texts, const EmbeddingOptions& options,
                                             const std::stop_token& stop) const {
  const int64_t width = facts().width;
  if (options.dimensions < 0 || options.dimensions > width) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted 1 to {} dimensions, which is what the model's vectors have, "
                            "found {}",
                            width, options.dimensions));
  }
  std::vector<Embedding> results;
  results.reserve(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    MYNAH_TRY(Embedding told, cut(texts[i], i, options));
    results.push_back(std::move(told));
  }
  std::vector<size_t> order(texts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](size_t i) { return texts[i].size(); });
  for (size_t begin = 0; begin < order.size();) {
    TokenTexts batch;
    int64_t tokens = 0;
    size_t end = begin;
    while (end < order.size() &&
           (batch.empty() || tokens + std::ssize(texts[order[end]]) <= kBatchTokens)) {
      tokens += std::ssize(texts[order[end]]);
      batch.push_back(std::move(texts[order[end]]));
      ++end;
    }
    MYNAH_TRY(const std::vector<float> vectors, compute(batch, stop));
    for (size_t i = begin; i < end; ++i) {
      const auto from = vectors.begin() + static_cast<int64_t>(i - begin) * width;
      Embedding& result = results[order[i]];
      result.vector.assign(from, from + width);
      shorten(result.vector, options, facts().normalized);
    }
    begin = end;
  }
  return results;
}

Result<std::vector<Embedding>> Embedder::embed(std::span<const std::string> texts,
                                               const EmbeddingOptions& options,
                                               const std::stop_token& stop) const {
  TokenTexts tokens;
  tokens.reserve(texts.size());
  for (const std::string& text : texts) {
    if (stop.stop_requested()) {
      return fail(ErrorCode::Cancelled, "stopped");
    }
    tokens.push_back(this->tokens(text));
  }
  return run(std::move(tokens), options, stop);
}

Result<std::vector<Embedding>> Embedder::embed_tokens(TokenTexts texts,
                                                      const EmbeddingOptions& options,
                                                      const std::stop_token& stop) const {
  const SpecialTokens& special = tokenizer_->special();
  for (size_t i = 0; i < texts.size(); ++i) {
    std::vector<int32_t>& text = texts[i];
    const auto stray = std::ranges::find_if(
        text, [&](int32_t token) { return token < 0 || token >= tokenizer_->size(); });
    if (stray != text.end()) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("text {}: wanted tokens of this model, 0 to {}, found {}", i + 1,
                              tokenizer_->size() - 1, *stray));
    }
    if (text.empty() || text.front() != *special.bos) {
      text.insert(text.begin(), *special.bos);
    }
    if (text.back() != *special.eos) {
      text.push_back(*special.eos);
    }
  }
  return run(std::move(texts), options, stop);
}

Status Embedder::warm_up() const {
  MYNAH_TRY_STATUS(embed(std::vector<std::string>{"a"}, {}, {}));
  return {};
}

}  // namespace mynah
