// WindowRecognizer: Recognizer over a model of windows, whatever its family and wherever it is
// computed.
#pragma once

#include <memory>

#include "speech/recognizer.h"
#include "speech/window_model.h"
#include "speech/window_queue.h"

namespace mynah {

class WindowRecognizer final : public Recognizer {
 public:
  // `voice` may be null.
  WindowRecognizer(std::shared_ptr<const WindowModel> model,
                   std::shared_ptr<const VoiceDetector> voice)
      : model_(model),
        voice_(std::move(voice)),
        queue_(std::make_shared<WindowQueue>(std::move(model))) {}

  [[nodiscard]] Result<std::unique_ptr<Session>> session(
      const RecognizerOptions& options) const override;
  void run(std::span<const RecognizerJob> jobs, const RecognizerOptions& options,
           RecognizerObserver& observer, const std::stop_token& stop) const override;

  [[nodiscard]] std::string model_name() const override { return model_->header()->facts().model; }

  [[nodiscard]] bool multilingual() const override {
    return model_->header()->facts().multilingual();
  }

  [[nodiscard]] ModelFacts facts() const override { return model_->header()->facts().sizes; }

  [[nodiscard]] HearingLoad load() const override { return queue_->load(); }

  [[nodiscard]] std::shared_ptr<WindowQueue> windows() const override { return queue_; }

  [[nodiscard]] std::string token_text(int32_t token) const override {
    return model_->header()->token_text(token);
  }

  [[nodiscard]] Status check(const RecognizerOptions& options) const override;

 private:
  std::shared_ptr<const WindowModel> model_;
  std::shared_ptr<const VoiceDetector> voice_;
  std::shared_ptr<WindowQueue> queue_;  // of all who listen
};

}  // namespace mynah
