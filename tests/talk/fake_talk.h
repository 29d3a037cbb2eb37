// Organs that do as a test says, on a clock of its own: the samples that are captured.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "speech/hearing.h"
#include "talk/loop/conversation.h"

namespace mynah::talk {

inline constexpr int kFrame = 160;
inline constexpr int kFakeRate_hz = 24000;

// Somebody speaks in frames of 32 ms that are not silent.
class LoudVoice final : public VoiceDetector {
 public:
  static constexpr size_t kSamples = 512;

  class LoudSession final : public Session {
   public:
    Result<std::vector<float>> push(std::span<const float> samples) override {
      held_.insert(held_.end(), samples.begin(), samples.end());
      std::vector<float> probabilities;
      size_t at = 0;
      for (; at + kSamples <= held_.size(); at += kSamples) {
        const auto first = held_.begin() + static_cast<ptrdiff_t>(at);
        const auto loud = std::count_if(first, first + kSamples, [](float x) { return x != 0; });
        probabilities.push_back(loud * 2 > static_cast<ptrdiff_t>(kSamples) ? 0.9F : 0.1F);
      }
      held_.erase(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(at));
      return probabilities;
    }

    Result<std::vector<float>> flush() override {
      held_.clear();
      return std::vector<float>();
    }

    void reset() override { held_.clear(); }

    [[nodiscard]] Result<std::vector<std::byte>> save() const override {
      return std::vector<std::byte>();
    }

    Status restore(std::span<const std::byte> /*state*/) override { return {}; }

   private:
    std::vector<float> held_;
  };

  [[nodiscard]] std::unique_ptr<Session> session() const override {
    return std::make_unique<LoudSession>();
  }

  [[nodiscard]] Result<std::vector<std::vector<float>>> probabilities(
      std::span<const std::span<const float>> /*recordings*/) const override {
    return fail(ErrorCode::Unsupported, "not asked for here");
  }

  [[nodiscard]] int rate_hz() const override { return kHearingRate_hz; }

  [[nodiscard]] double frame_s() const override {
    return static_cast<double>(kSamples) / kHearingRate_hz;
  }

  [[nodiscard]] std::string name() const override { return "loud"; }
};

// Each value of a sample stands for a word of a list: whoever hears it says the words in order,
// each once where it came in one run, whole or not.
class WordEar final : public Ear {
 public:
  explicit WordEar(std::vector<std::string> words) : words_(std::move(words)) {}

  // The sample that stands for a word.
  [[nodiscard]] float sample_of(std::string_view word) const {
    const auto at = std::ranges::find(words_, word);
    return 0.01F * static_cast<float>(at - words_.begin() + 1);
  }

  Result<HeardText> hear(std::span<const float> samples, const HearWish& /*wish*/,
                         const std::stop_token& stop) override {
    asked.push_back(static_cast<int64_t>(samples.size()));
    if (stop.stop_requested()) {
      return fail(ErrorCode::Cancelled, "stopped");
    }
    if (failures > 0) {
      --failures;
      return fail(ErrorCode::Device, "the ear is deaf");
    }
    HeardText heard{.text = {}, .language = "en"};
    float last = 0;
    for (const float sample : samples) {
      if (sample != last && sample != 0) {
        const auto word = static_cast<size_t>(std::lround(sample / 0.01F)) - 1;
        heard.text += (heard.text.empty() ? "" : " ") + words_.at(word);
      }
      last = sample;
    }
    heard.text = trimmed(heard.text, " ");
    return heard;
  }

  [[nodiscard]] OrganFacts facts() const override { return {.model = "words", .place = "cpu"}; }

  int failures = 0;
  std::vector<int64_t> asked;

 private:
  std::vector<std::string> words_;
};

// Replies with what it is told to, in pieces of a few letters.
class ScriptMind final : public Mind {
 public:
  Result<ChatReply> reply(const ChatRequest& request, ChatObserver& observer,
                          const std::stop_token& stop) override {
    asked.push_back(request.messages);
    ChatReply reply;
    const std::string text = answers.empty() ? answer : answers.front();
    if (!answers.empty()) {
      answers.pop_front();
    }
    for (size_t at = 0; at < text.size(); at += 4) {
      if (stop.stop_requested()) {
        return fail(ErrorCode::Cancelled, "stopped");
      }
      if (fails_at && at >= *fails_at) {
        return fail(ErrorCode::Io, "the mind went away");
      }
      ChatDelta delta;
      delta.said.content = text.substr(at, 4);
      delta.said.reasoning = "a thought. ";
      if (const Status told = observer.on_delta(delta); !told) {
        return std::unexpected(told.error());
      }
    }
    return reply;
  }

  [[nodiscard]] OrganFacts facts() const override { return {.model = "script", .place = "cpu"}; }

  std::string answer = "All right.";
  std::deque<std::string> answers;  // before that
  std::optional<size_t> fails_at;
  std::vector<ChatRequest::Json> asked;
};

// Each letter sounds for 10 ms, each word's samples are its number in all that was said.
class LetterMouth final : public Mouth {
 public:
  static constexpr size_t kLetter = kFakeRate_hz / 100;

  [[nodiscard]] int rate_hz() const override { return kFakeRate_hz; }

  Status speak(std::string_view text, const SpeakWish& wish, SpeechObserver& observer,
               const std::stop_token& stop) override {
    if (stop.stop_requested()) {
      return fail(ErrorCode::Cancelled, "stopped");
    }
    if (fails) {
      return fail(ErrorCode::Device, "the mouth is dumb");
    }
    wishes.push_back(wish);
    spoken.emplace_back(text);
    SpokenClause clause{.text = std::string(text), .end = text.size()};
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find(' ', at), text.size());
      SpokenWord word{.text = std::string(text.substr(at, end - at))};
      word.start_s = seconds(clause.samples.size());
      clause.samples.insert(clause.samples.end(), (end - at) * kLetter,
                            0.001F * static_cast<float>(++words_));
      word.end_s = seconds(clause.samples.size());
      clause.words.push_back(std::move(word));
      if (end < text.size()) {
        clause.samples.insert(clause.samples.end(), kLetter, 0.0F);
      }
      at = end + 1;
    }
    clause.end_s = seconds(clause.samples.size());
    return observer.on_clause(clause);
  }

  [[nodiscard]] OrganFacts facts() const override { return {.model = "letters", .place = "cpu"}; }

  bool fails = false;
  std::vector<std::string> spoken;
  std::vector<SpeakWish> wishes;

 private:
  static double seconds(size_t samples) { return static_cast<double>(samples) / kFakeRate_hz; }

  int words_ = 0;
};

// Work is done when the clock has come to its end: each organ has a time that it takes.
class ClockWorkers final : public Workers {
 public:
  void run(Organ organ, std::function<void()> work) override {
    int64_t& free_at = free_at_[static_cast<size_t>(organ)];
    free_at = std::max(free_at, now_) + takes[static_cast<size_t>(organ)];
    waiting_.push_back({free_at, std::move(work)});
  }

  // Does what is due at that sample.
  void go_to(int64_t sample) {
    now_ = sample;
    while (true) {
      const auto due = std::ranges::find_if(waiting_, [&](const auto& w) { return w.at <= now_; });
      if (due == waiting_.end()) {
        return;
      }
      const std::function<void()> work = std::move(due->work);
      waiting_.erase(due);
      work();
    }
  }

  void finish() { go_to(std::numeric_limits<int64_t>::max() / 2); }

  // Samples that each organ takes for each of its tasks.
  std::array<int64_t, kOrgans> takes{};

 private:
  struct Waiting {
    int64_t at = 0;
    std::function<void()> work;
  };

  int64_t now_ = 0;
  std::array<int64_t, kOrgans> free_at_{};
  std::deque<Waiting> waiting_;
};

}  // namespace mynah::talk
