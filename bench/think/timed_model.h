// TimedModel: a language model whose steps are timed one by one, so that medians leave out those
// that something else held up.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "chat/language_model.h"

namespace mynah::bench {

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

// A step in which texts grow by what was chosen last, and guesses; right behind another one.
struct TimedStep {
  size_t texts = 0;
  size_t tokens = 0;
  double step_ms = 0;
  double between_ms = 0;  // that the queue took before it
};

class TimedModel final : public LanguageModel {
 public:
  explicit TimedModel(std::shared_ptr<const LanguageModel> model) : model_(std::move(model)) {}

  [[nodiscard]] const LanguageFacts& facts() const override { return model_->facts(); }

  [[nodiscard]] std::unique_ptr<Session> session() const override {
    return std::make_unique<TimedSession>(*this, model_->session());
  }

  // Those since it was asked last. No step may be under way.
  [[nodiscard]] std::vector<TimedStep> take_steps() const {
    last_.reset();
    return std::exchange(steps_, {});
  }

 private:
  using Clock = std::chrono::steady_clock;

  class TimedSession final : public Session {
   public:
    TimedSession(const TimedModel& model, std::unique_ptr<Session> session)
        : model_(model), session_(std::move(session)) {}

    Result<std::vector<ChosenToken>> step(const StepRequest& request) override {
      const auto begun = Clock::now();
      auto chosen = session_->step(request);
      model_.note(request, begun);
      return chosen;
    }

   private:
    const TimedModel& model_;
    std::unique_ptr<Session> session_;
  };

  void note(const StepRequest& request, Clock::time_point begun) const {
    const auto ended = Clock::now();
    const auto ms = [](Clock::duration took) {
      return std::chrono::duration<double, std::milli>(took).count();
    };
    TimedStep timed{.texts = request.steps.size(), .step_ms = ms(ended - begun)};
    bool grows = true;
    for (const TextStep& step : request.steps) {
      timed.tokens += step.tokens.size();
      grows = grows && step.tokens.size() == step.wishes.size();
    }
    if (grows && last_) {
      timed.between_ms = ms(begun - *last_);
      steps_.push_back(timed);
    }
    last_ = ended;
  }

  std::shared_ptr<const LanguageModel> model_;
  mutable std::vector<TimedStep> steps_;
  mutable std::optional<Clock::time_point> last_;
};

// What steps took together, each as the median of those with as many tokens, with all that was done
// between them.
inline double sum_by_medians(const std::vector<TimedStep>& steps) {
  std::map<size_t, std::vector<double>> by_tokens;
  double sum = 0;
  for (const TimedStep& step : steps) {
    by_tokens[step.tokens].push_back(step.step_ms);
    sum += step.between_ms;
  }
  for (const auto& [tokens, times] : by_tokens) {
    sum += static_cast<double>(times.size()) * median(times);
  }
  return sum;
}

}  // namespace mynah::bench
