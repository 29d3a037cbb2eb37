// A model that hears words by their length alone.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "speech/hearing.h"
#include "speech/window_model.h"

namespace mynah {

// Hears the words w0, w1, ... of which one lasts 0.4 s, and takes the last word of a draft for
// another one each time.
class WordModel final : public WindowModel, public HearingHeader {
 public:
  static constexpr size_t kWord = kHearingRate_hz * 2 / 5;
  static constexpr int32_t kMisheard = 1000;

  // What is heard waits until it is opened again.
  void close(bool closed) {
    const std::lock_guard lock(mutex_);
    closed_ = closed;
    changed_.notify_all();
  }

  void be_nobody() { nobody_ = true; }

  [[nodiscard]] int drafts() const { return drafts_; }

  [[nodiscard]] int texts() const { return texts_; }

  [[nodiscard]] const HearingFacts& facts() const override { return facts_; }

  [[nodiscard]] Status check(const DecodingOptions& /*options*/) const override { return {}; }

  [[nodiscard]] double effort(const DecodingOptions& /*options*/) const override { return 1; }

  [[nodiscard]] std::string token_text(int32_t token) const override {
    return token < kMisheard ? " w" + std::to_string(token) : " x" + std::to_string(token);
  }

  [[nodiscard]] std::shared_ptr<const HearingHeader> header() const override {
    return {std::shared_ptr<const HearingHeader>(), this};
  }

  [[nodiscard]] Result<std::unique_ptr<WindowDecoder>> decoder(
      const DecodingOptions& options) const override;

  [[nodiscard]] Result<Probe> probe() const override { return Probe(); }

  [[nodiscard]] WindowDevices devices() const override { return {}; }

  HeardWindow hear(const WindowTask& task, bool draft, const std::stop_token& stop) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [this] { return !closed_; });
    ++(draft ? drafts_ : texts_);
    HeardWindow heard;
    Segment segment;
    for (const Segment& begun : task.begun) {
      segment.tokens.insert(segment.tokens.end(), begun.tokens.begin(), begun.tokens.end());
    }
    for (size_t i = segment.tokens.size(); i < task.samples.size() / kWord; ++i) {
      segment.tokens.push_back(static_cast<int32_t>(i));
    }
    if (draft && segment.tokens.size() > (task.begun.empty() ? 0 : task.begun[0].tokens.size())) {
      segment.tokens.back() = kMisheard + drafts_;
    }
    segment.token_log_probabilities.assign(segment.tokens.size(), -0.1F);
    for (const int32_t token : segment.tokens) {
      segment.text += token_text(token);
    }
    segment.end_s = task.duration_s();
    heard.segments = {std::move(segment)};
    heard.silent = nobody_ && !draft;
    return heard;
  }

 private:
  HearingFacts facts_{.languages = {"en"}, .longest_window_s = 30};
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  bool closed_ = false;
  std::atomic<bool> nobody_ = false;
  mutable std::atomic<int> drafts_ = 0;
  mutable std::atomic<int> texts_ = 0;
};

class WordDecoder final : public WindowDecoder {
 public:
  explicit WordDecoder(const WordModel& model) : model_(model) {}

  [[nodiscard]] Result<std::vector<HeardWindow>> decode(std::span<const WindowTask> tasks,
                                                        const std::stop_token& stop) override {
    std::vector<HeardWindow> heard;
    for (const WindowTask& task : tasks) {
      heard.push_back(model_.hear(task, false, stop));
    }
    return heard;
  }

  [[nodiscard]] Result<HeardWindow> draft(const WindowTask& task,
                                          const std::stop_token& stop) override {
    return model_.hear(task, true, stop);
  }

  [[nodiscard]] const WindowTimings& timings() const override { return timings_; }

 private:
  const WordModel& model_;
  WindowTimings timings_;
};

inline Result<std::unique_ptr<WindowDecoder>> WordModel::decoder(
    const DecodingOptions& /*options*/) const {
  return std::make_unique<WordDecoder>(*this);
}

}  // namespace mynah
