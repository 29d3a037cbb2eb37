// WhisperRecognizer: Recognizer over a Whisper model.
#pragma once

#include <memory>

#include "models/whisper/model.h"
#include "speech/recognizer.h"

namespace mynah {

class WhisperRecognizer final : public Recognizer {
 public:
  // `voice` may be null.
  WhisperRecognizer(std::shared_ptr<const whisper::Model> model,
                    std::shared_ptr<const VoiceDetector> voice)
      : model_(std::move(model)), voice_(std::move(voice)) {}

  [[nodiscard]] std::unique_ptr<Session> session(const RecognizerOptions& options) const override;
  void run(std::span<const RecognizerJob> jobs, const RecognizerOptions& options,
           RecognizerObserver& observer, const std::stop_token& stop) const override;

  [[nodiscard]] std::string model_name() const override { return model_->name(); }

  [[nodiscard]] bool multilingual() const override { return model_->config().multilingual(); }

  [[nodiscard]] ModelFacts facts() const override;

  [[nodiscard]] std::string token_text(int32_t token) const override {
    return model_->tokenizer().bytes(token);
  }

  [[nodiscard]] Status check(const RecognizerOptions& options) const override;

 private:
  std::shared_ptr<const whisper::Model> model_;
  std::shared_ptr<const VoiceDetector> voice_;
};

}  // namespace mynah
