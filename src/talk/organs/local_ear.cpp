#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/file_name.h"
#include "speech/hearing.h"
#include "speech/hotwords.h"
#include "speech/window_queue.h"
#include "talk/organs/local_organs.h"

namespace mynah::talk {

namespace {

// One window's answer, which comes from a thread of the queue's.
class WindowAnswer {
 public:
  void tell(Result<HeardWindow> heard) {
    const std::lock_guard lock(mutex_);
    heard_ = std::move(heard);
    told_.notify_all();
  }

  [[nodiscard]] Result<HeardWindow> wait() {
    std::unique_lock lock(mutex_);
    told_.wait(lock, [this] { return heard_.has_value(); });
    return *std::move(heard_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable told_;
  std::optional<Result<HeardWindow>> heard_;
};

class LocalEar final : public Ear {
 public:
  LocalEar(RecognizerLease lease, std::shared_ptr<WindowQueue> queue,
           std::unique_ptr<WindowQueue::Client> client, std::vector<std::string> hotwords)
      : lease_(std::move(lease)),
        queue_(std::move(queue)),
        hotwords_(std::move(hotwords)),
        client_(std::move(client)) {}

  Result<HeardText> hear(std::span<const float> samples, const HearWish& wish,
                         const std::stop_token& stop) override {
    const HearingFacts& facts = queue_->model().header()->facts();
    const auto most = static_cast<size_t>(samples_of(facts.longest_window_s));
    HeardText text{.text = {}, .language = wish.language, .language_probability = 1};
    size_t length = most;
    while (!samples.empty()) {
      length = std::min(length, samples.size());
      MYNAH_TRY(const HeardWindow heard,
                hear_window(samples.first(length), wish, text.language, stop));
      if (heard.shorter && *heard.shorter > 0 && static_cast<size_t>(*heard.shorter) < length) {
        length = static_cast<size_t>(*heard.shorter);
        continue;
      }
      if (text.language.empty()) {
        text.language = heard.language;
        text.language_probability = heard.language_probability;
      }
      if (!heard.silent) {
        text.text += text_of(heard.segments);
      }
      samples = samples.subspan(length);
      length = most;
    }
    if (text.language.empty() && !facts.multilingual()) {
      text.language = facts.languages.front();
    }
    text.text = trimmed(text.text, " \t\n");
    return text;
  }

  [[nodiscard]] OrganFacts facts() const override {
    return {.model = lease_->recognizer->model_name(),
            .place = lease_->device(),
            .leaves_machine = false};
  }

 private:
  // `language`: that an earlier window was in; "": none was.
  Result<HeardWindow> hear_window(std::span<const float> samples, const HearWish& wish,
                                  const std::string& language, const std::stop_token& stop) {
    const WindowTask task{.samples = samples,
                          .prompts = wish.prompts,
                          .previous = {},
                          .language = language,
                          .hotwords = hotwords_,
                          .surely_speech = wish.surely_speech,
                          .alone = true,
                          .stop = stop};
    WindowAnswer answer;
    client_->submit(
        {&task, 1}, stop,
        [&answer](size_t /*window*/, WindowQueue::Outcome outcome) {
          answer.tell(std::move(outcome.heard));
        },
        wish.draft);
    // Who stops is told at once, though the window waits for its turn.
    const std::stop_callback stopped(stop, [this] { client_->drop_stopped(); });
    return answer.wait();
  }

  RecognizerLease lease_;
  std::shared_ptr<WindowQueue> queue_;
  std::vector<std::string> hotwords_;
  std::unique_ptr<WindowQueue::Client> client_;  // the first to go
};

}  // namespace

Result<std::unique_ptr<Ear>> local_ear(RecognizerLease lease, const DecodingOptions& decoding,
                                       std::vector<std::string> hotwords) {
  MYNAH_TRY_STATUS(check_hotwords(hotwords));
  std::shared_ptr<WindowQueue> queue = lease->recognizer->windows();
  if (queue == nullptr) {
    return fail(ErrorCode::Unsupported,
                lease->recognizer->model_name() + " hears in no windows: wanted a model that does");
  }
  MYNAH_TRY(auto client,
            queue->client(decoding, {.urgency = Urgency::Interactive, .owner = "talk"}));
  return std::make_unique<LocalEar>(std::move(lease), std::move(queue), std::move(client),
                                    std::move(hotwords));
}

}  // namespace mynah::talk
