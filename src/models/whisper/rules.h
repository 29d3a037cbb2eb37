// TokenRules: which tokens may come next. openai/whisper decoding.py SuppressBlank, SuppressTokens
// and ApplyTimestampRules, as numbers for Backend::sample.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "tensor/backend.h"
#include "text/whisper_tokenizer.h"

namespace mynah::whisper {

struct RuleOptions {
  bool timestamps = true;
  bool suppress_blank = true;
  std::vector<int32_t> suppress_tokens = {-1};  // -1: WhisperTokenizer::non_speech_tokens
  std::string suppress_regex = {};              // RE2: tokens whose text it is never come
  float max_initial_timestamp_s = 1.0F;         // 0 or less: no limit
};

// Const after creation, shared by all sequences of a batch.
class TokenRules {
 public:
  // Fails on a regular expression that is none, or on tokens the model does not have.
  static Status check(const WhisperTokenizer& tokenizer, const RuleOptions& options);
  // Fails as check() does.
  static Result<TokenRules> create(const WhisperTokenizer& tokenizer, const RuleOptions& options,
                                   Backend& backend);

  // What may follow `sampled`, the tokens after the prompt.
  [[nodiscard]] SampleRow next(std::span<const int32_t> sampled) const;

  // (kinds, n_vocab) f32: SampleParams::masks.
  [[nodiscard]] const Tensor& masks() const { return masks_; }

  // Tokens that never come by the options, in rising order.
  [[nodiscard]] std::span<const int32_t> suppressed() const { return suppressed_; }

 private:
  // Rows of masks_.
  enum Mask : int32_t { kText, kFirstText, kOnlyEnd, kMaskCount };

  [[nodiscard]] SampleRow timestamp_rule(std::span<const int32_t> sampled) const;

  WhisperSpecialTokens special_;
  RuleOptions options_;
  std::vector<int32_t> suppressed_;
  Tensor masks_;
};

}  // namespace mynah::whisper
