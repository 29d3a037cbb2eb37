// A conversation with organs that do as a test says.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "fake_talk.h"

namespace mynah::talk {

class TalkTest : public ::testing::Test {
 protected:
  using Kind = TalkEvent::Kind;

  ~TalkTest() override {
    if (conversation_) {
      conversation_->close();
      workers_.finish();
    }
  }

  void begin(TalkSettings settings = {}) {
    conversation_ = std::make_unique<Conversation>(
        TalkParts{.voice = std::make_shared<LoudVoice>(),
                  .ear = ear_,
                  .mind = outer_ == nullptr ? static_cast<Mind&>(mind_) : *outer_,
                  .mouth = mouth_,
                  .end = *end_,
                  .workers = workers_},
        std::move(settings));
  }

  // Captures that sample for so long.
  void capture(float sample, double seconds) {
    const std::vector<float> frame(kFrame, sample);
    for (auto left = samples_of(seconds); left > 0; left -= kFrame) {
      now_ += kFrame;
      conversation_->step(frame, played_);
      workers_.go_to(now_);
      for (TalkEvent& event : conversation_->take_events()) {
        events_.push_back(std::move(event));
      }
    }
  }

  void say(std::string_view word, double seconds = 0.5) { capture(ear_.sample_of(word), seconds); }

  void wait(double seconds) { capture(0, seconds); }

  [[nodiscard]] std::vector<TalkEvent> all(Kind kind) const {
    std::vector<TalkEvent> found;
    std::ranges::copy_if(events_, std::back_inserter(found),
                         [kind](const TalkEvent& event) { return event.kind == kind; });
    return found;
  }

  [[nodiscard]] std::vector<std::string> texts(Kind kind) const {
    std::vector<std::string> found;
    for (const TalkEvent& event : all(kind)) {
      found.push_back(event.text);
    }
    return found;
  }

  // What was said, as the model is told it: "user: hello", ... without the system's message.
  [[nodiscard]] std::vector<std::string> record() const {
    std::vector<std::string> lines;
    for (const auto& message : conversation_->messages()) {
      if (message["role"] != "system") {
        lines.push_back(message["role"].get<std::string>() + ": " +
                        message["content"].get<std::string>());
      }
    }
    return lines;
  }

  // Whether anything sounds in that second of what was played.
  [[nodiscard]] bool sounds(double from_s, double to_s) const {
    const auto at = [this](double seconds) {
      return played_.begin() + std::min(static_cast<ptrdiff_t>(seconds * kFakeRate_hz),
                                        static_cast<ptrdiff_t>(played_.size()));
    };
    return std::any_of(at(from_s), at(to_s), [](float x) { return x != 0; });
  }

  [[nodiscard]] double now_s() const { return seconds_of(now_); }

  WordEar ear_{{"hello", "there", "stop", "mhm", "", "wait", "what", "time"}};
  ScriptMind mind_;
  Mind* outer_ = nullptr;  // that replies in its place
  LetterMouth mouth_;
  std::unique_ptr<EndRule> end_ = std::make_unique<SilenceRule>(0.6);
  ClockWorkers workers_;
  std::unique_ptr<Conversation> conversation_;
  int64_t now_ = 0;
  std::vector<float> played_;
  std::vector<TalkEvent> events_;
};

}  // namespace mynah::talk
