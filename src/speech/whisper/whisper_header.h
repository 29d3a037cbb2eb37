// WhisperHeader: what is known of a Whisper model without its weights, for who hears with it.
#pragma once

#include <memory>
#include <string>

#include "models/whisper/model_header.h"
#include "models/whisper/rules.h"
#include "speech/hearing.h"

namespace mynah {

class WhisperHeader final : public HearingHeader {
 public:
  explicit WhisperHeader(std::shared_ptr<const whisper::ModelHeader> model);

  [[nodiscard]] const HearingFacts& facts() const override { return facts_; }

  [[nodiscard]] Status check(const DecodingOptions& options) const override;
  [[nodiscard]] double effort(const DecodingOptions& options) const override;

  [[nodiscard]] std::string token_text(int32_t token) const override {
    return model_->tokenizer.bytes(token);
  }

 private:
  std::shared_ptr<const whisper::ModelHeader> model_;
  HearingFacts facts_;
};

// Which tokens may come next, as the options say.
[[nodiscard]] whisper::RuleOptions rules_of(const DecodingOptions& options);

}  // namespace mynah
