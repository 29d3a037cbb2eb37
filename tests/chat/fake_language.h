// A language model without weights: what follows a text is a number made of all its tokens, so that
// a text that was mixed with another, or lost a token, goes on otherwise.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "chat/language_model.h"

namespace mynah::test {

class FakeLanguage final : public LanguageModel {
 public:
  static constexpr int64_t kVocabulary = 1000;

  // `repeats`: what follows is made of the last two tokens alone, and is one of few, so that a text
  // says again what it said. `rewinds` and `window`: of LanguageFacts; what is asked of a text
  // where it does not go back to fails. Without rewinding texts have states.
  explicit FakeLanguage(int64_t context = 4096, bool repeats = false,
                        int64_t rewinds = LanguageFacts::kAnywhere, int64_t window = 0)
      : facts_({.architecture = "fake",
                .vocabulary = kVocabulary,
                .trained_context = context,
                .context = context,
                .position_bytes = 1,
                .rewinds = rewinds,
                .window = window,
                .window_bytes = window > 0 ? 1U : 0U,
                .state_bytes = rewinds > 0 ? 0U : 100U}),
        repeats_(repeats) {}

  // What follows tokens.
  static int32_t next(const std::vector<int32_t>& tokens) {
    uint64_t sum = 14695981039346656037U;
    for (const int32_t token : tokens) {
      sum = (sum ^ static_cast<uint64_t>(token)) * 1099511628211U;
    }
    return static_cast<int32_t>(sum % kVocabulary);
  }

  // What a text is after so many tokens more.
  static std::vector<int32_t> continued(std::vector<int32_t> tokens, int64_t count) {
    std::vector<int32_t> written;
    for (int64_t i = 0; i < count; ++i) {
      written.push_back(next(tokens));
      tokens.push_back(written.back());
    }
    return written;
  }

  [[nodiscard]] const LanguageFacts& facts() const override { return facts_; }

  [[nodiscard]] std::unique_ptr<Session> session() const override {
    return std::make_unique<Texts>(*this);
  }

  // Tokens that were read by all sessions.
  [[nodiscard]] int64_t read() const { return read_; }

  [[nodiscard]] size_t texts() const { return texts_; }

  // The longest step so far, in tokens, and the most texts in one.
  [[nodiscard]] int64_t longest_step() const { return longest_step_; }

  [[nodiscard]] size_t most_together() const { return most_together_; }

  [[nodiscard]] int64_t steps() const { return steps_; }

  // The n-th step from now on fails as a device does.
  void fail_step(int64_t n) { fails_in_ = n; }

 private:
  class Texts final : public Session {
   public:
    explicit Texts(const FakeLanguage& model) : model_(model) {}

    Result<std::vector<ChosenToken>> step(const StepRequest& request) override {
      if (model_.fails_in_ > 0 && --model_.fails_in_ == 0) {
        return fail(ErrorCode::Device, "the device is gone");
      }
      for (const TextFork& fork : request.forks) {
        Text forked = texts_.at(fork.from);
        if (!has(forked, fork.length)) {
          return fail(ErrorCode::InvalidInput, "a fork in a text's middle");
        }
        forked.tokens.resize(static_cast<size_t>(fork.length));
        texts_[fork.to] = std::move(forked);
      }
      for (const uint64_t text : request.forgotten) {
        texts_.erase(text);
      }
      std::vector<ChosenToken> chosen;
      int64_t tokens = 0;
      for (const TextStep& step : request.steps) {
        Text& own = texts_[step.text];
        std::vector<int32_t>& text = own.tokens;
        if (!has(own, step.begin)) {
          return fail(ErrorCode::InvalidInput, "a step that does not begin at its text's end");
        }
        text.resize(static_cast<size_t>(step.begin));
        text.insert(text.end(), step.tokens.begin(), step.tokens.end());
        own.longest = std::max(own.longest, std::ssize(text));
        tokens += std::ssize(step.tokens);
        // Behind each of the last tokens, as if those after it were not there.
        auto length = std::ssize(text) - std::ssize(step.wishes);
        for (const TokenWish& wish : step.wishes) {
          ++length;
          chosen.push_back({.token = choose({text.begin(), text.begin() + length}, wish),
                            .log_probability = -1,
                            .alternatives = {}});
        }
      }
      model_.read_ += tokens;
      ++model_.steps_;
      model_.texts_ = texts_.size();
      model_.longest_step_ = std::max<int64_t>(model_.longest_step_, tokens);
      model_.most_together_ = std::max<size_t>(model_.most_together_, request.steps.size());
      return chosen;
    }

   private:
    struct Text {
      std::vector<int32_t> tokens;
      int64_t longest = 0;  // that it, or what it was forked of, ever was
    };

    [[nodiscard]] bool has(const Text& text, int64_t length) const {
      const auto own = std::ssize(text.tokens);
      return length == own || (length < own && length >= model_.facts_.goes_back_to(text.longest));
    }

    [[nodiscard]] int32_t choose(const std::vector<int32_t>& text, const TokenWish& wish) const {
      int32_t token = next(text);
      if (model_.repeats_) {
        constexpr int kFew = 7;
        const auto last = std::min<ptrdiff_t>(2, std::ssize(text));
        token = next({text.end() - last, text.end()}) % kFew;
        // A draw, and what was said, change it now and then.
        token += wish.temperature > 0 ? static_cast<int32_t>(wish.uniform * 1.2F) : 0;
        const bool is_punished =
            std::ranges::binary_search(wish.penalties, token, {}, &TokenPenalty::token);
        token += is_punished && wish.penalties.size() % 3 == 0 ? 1 : 0;
      }
      while (!wish.allowed.empty() &&
             (wish.allowed[static_cast<size_t>(token) / 32] >> (token % 32) & 1U) == 0) {
        token = (token + 1) % static_cast<int32_t>(kVocabulary);
      }
      return token;
    }

    const FakeLanguage& model_;
    std::map<uint64_t, Text> texts_;
  };

  LanguageFacts facts_;
  bool repeats_ = false;
  mutable std::atomic<int64_t> steps_{0};
  mutable std::atomic<int64_t> read_{0};
  mutable std::atomic<size_t> texts_{0};
  mutable std::atomic<int64_t> longest_step_{0};
  mutable std::atomic<size_t> most_together_{0};
  mutable std::atomic<int64_t> fails_in_{0};
};

}  // namespace mynah::test
