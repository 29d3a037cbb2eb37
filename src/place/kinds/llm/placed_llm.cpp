// A language model where it is placed: its texts are kept here as tokens, so that another device
// can read them again and go on.
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "place/kinds/llm/llm.h"
#include "place/state/rungs.h"
#include "place/workers/remote_probe.h"

namespace mynah::place {
namespace {

using LanguageRungs = Rungs<LanguageModel>;

// Tokens of a text that are computed anew at once: a device that died may have died of memory.
constexpr int64_t kReadAgain = kPromptPiece;

// Steps until room is made once more for what a device has too little memory for: sooner it is one
// that texts do not fit on, and all of them would be read again for each few tokens.
constexpr uint64_t kBetweenRooms = 256;

class PlacedLanguageSession final : public LanguageModel::Session, private Keeper {
 public:
  PlacedLanguageSession(std::shared_ptr<LanguageRungs> rungs, LanguageFacts facts)
      : rungs_(std::move(rungs)), facts_(std::move(facts)) {
    rungs_->add(*this);
  }

  ~PlacedLanguageSession() override { rungs_->remove(*this); }

  PlacedLanguageSession(const PlacedLanguageSession&) = delete;
  PlacedLanguageSession& operator=(const PlacedLanguageSession&) = delete;

  Result<std::vector<ChosenToken>> step(const StepRequest& request) override {
    MYNAH_TRY_STATUS(write_down(request));
    return rungs_->on_some_rung(
        [&](const LanguageRungs::Rung& rung) -> Result<std::vector<ChosenToken>> {
          if (rung.number != number_) {
            move_to(rung);
          }
          number_ = 0;  // what a session remembers of a step that fails is not known
          const bool can_let_go = has_texts_there() && written_ >= room_again_;
          auto chosen = compute(request);
          if (!chosen && chosen.error().code == ErrorCode::OutOfMemory && can_let_go) {
            room_again_ = written_ + kBetweenRooms;
            rungs_->made_room(rung, chosen.error(),
                              "what it remembered of texts is read again where it is wanted");
            move_to(rung);
            chosen = compute(request);
          }
          if (!chosen) {
            return chosen;
          }
          number_ = rung.number;
          rungs_->vouch(rung, fmt::format("token {}", written_ + 1));
          ++written_;
          return chosen;
        });
  }

 private:
  // A text, how much of it the session of the device has, and the fewest positions that it goes
  // back to there, beside none.
  struct Text {
    std::vector<int32_t> tokens;
    int64_t there = 0;
    int64_t from = 0;
  };

  // The texts as the request will have them.
  Status write_down(const StepRequest& request) {
    const std::lock_guard lock(mutex_);
    for (const TextFork& fork : request.forks) {
      const auto from = texts_.find(fork.from);
      if (from == texts_.end() || fork.length > std::ssize(from->second.tokens)) {
        return fail(ErrorCode::InvalidInput, "a text that begins as more than another has");
      }
      Text forked;
      forked.tokens.assign(from->second.tokens.begin(), from->second.tokens.begin() + fork.length);
      if (from->second.there >= fork.length && from->second.from <= fork.length) {
        forks_.push_back(fork);
        forked.there = fork.length;
        forked.from = from->second.from;
      }
      texts_[fork.to] = std::move(forked);
    }
    for (const uint64_t text : request.forgotten) {
      texts_.erase(text);
      forgotten_.push_back(text);
    }
    for (const TextStep& step : request.steps) {
      Text& text = texts_[step.text];
      if (step.begin > std::ssize(text.tokens)) {
        return fail(ErrorCode::InvalidInput, "a step behind the end of its text");
      }
      text.tokens.resize(static_cast<size_t>(step.begin));
      text.tokens.insert(text.tokens.end(), step.tokens.begin(), step.tokens.end());
      text.there = text.from <= step.begin ? std::min(text.there, step.begin) : 0;
      text.from = text.there > 0 ? text.from : 0;
    }
    return {};
  }

  Result<std::vector<ChosenToken>> compute(const StepRequest& request) {
    StepRequest now{.forks = std::exchange(forks_, {}),
                    .forgotten = std::exchange(forgotten_, {}),
                    .steps = {}};
    for (const TextStep& step : request.steps) {
      Text& text = texts_.at(step.text);
      while (text.there < step.begin) {
        const int64_t count = std::min(kReadAgain, step.begin - text.there);
        const auto from = text.tokens.begin() + text.there;
        now.steps = {
            {.text = step.text, .begin = text.there, .tokens = {from, from + count}, .wishes = {}}};
        MYNAH_TRY_STATUS(session_->step(now));
        now = {};
        text.there += count;
        text.from = std::max(text.from, facts_.goes_back_to(text.there));
      }
    }
    now.steps = request.steps;
    MYNAH_TRY(auto chosen, session_->step(now));
    for (const TextStep& step : request.steps) {
      Text& text = texts_.at(step.text);
      text.there = std::ssize(text.tokens);
      text.from = std::max(text.from, facts_.goes_back_to(text.there));
    }
    return chosen;
  }

  [[nodiscard]] bool has_texts_there() const {
    return std::ranges::any_of(texts_, [](const auto& entry) { return entry.second.there > 0; });
  }

  void move_to(const LanguageRungs::Rung& rung) {
    forget_session();
    model_ = rung.model;
    session_ = model_->session();
  }

  void forget_session() {
    session_.reset();
    model_.reset();
    number_ = 0;
    forgotten_.clear();
    forks_.clear();
    for (auto& [number, text] : texts_) {
      text.there = 0;
      text.from = 0;
    }
  }

  // The texts stay as tokens: what the device remembered of them is read again when it is wanted.
  void let_go() override {
    const std::lock_guard lock(mutex_);
    forget_session();
  }

  std::shared_ptr<LanguageRungs> rungs_;
  LanguageFacts facts_;
  std::mutex mutex_;  // of who has no rung in use: the model may be let go meanwhile
  std::shared_ptr<const LanguageModel> model_;  // that session_ is of
  std::unique_ptr<LanguageModel::Session> session_;
  uint64_t number_ = 0;
  std::map<uint64_t, Text> texts_;
  // What the session is still to be told.
  std::vector<uint64_t> forgotten_;
  std::vector<TextFork> forks_;
  uint64_t written_ = 0;     // steps
  uint64_t room_again_ = 0;  // steps from which on room may be made
};

class PlacedLanguage final : public LanguageModel {
 public:
  PlacedLanguage(std::shared_ptr<LanguageRungs> rungs, LanguageFacts facts)
      : rungs_(std::move(rungs)), facts_(std::move(facts)) {}

  [[nodiscard]] const LanguageFacts& facts() const override { return facts_; }

  [[nodiscard]] std::unique_ptr<Session> session() const override {
    return std::make_unique<PlacedLanguageSession>(rungs_, facts_);
  }

 private:
  std::shared_ptr<LanguageRungs> rungs_;
  LanguageFacts facts_;  // the same on every device, and known while the model is let go
};

// What all stages that keep something of texts have room for; `wanted`: nothing was planned.
int64_t planned_context(PlacementState& state, ModelId id, int64_t wanted) {
  int64_t least = 0;
  for (const auto& [stage, chosen] : state.planner().choices(id)) {
    const int64_t units = chosen.plan.units;
    least = least == 0 || (units > 0 && units < least) ? units : least;
  }
  return least > 0 ? least : wanted;
}

}  // namespace

Result<std::shared_ptr<const LanguageModel>> place_language(
    const std::shared_ptr<PlacementState>& state, const LanguageFile& file,
    const std::shared_ptr<const WritingFile>& opened) {
  const ModelId id = state->context().expect(file);
  std::map<Stage, GrowingMemory> growing = memory_of_texts(*opened, file);
  state->context().note_growing(id, growing);
  // Once it was opened its context is what it is: texts may be as long as that.
  const auto context = std::make_shared<int64_t>(0);
  const auto open = [id, file = file, context, now = std::weak_ptr(opened)](
                        const StagePlaces& where,
                        PlacementState& here) mutable -> Result<LanguageRungs::Opened> {
    const StageDevice& device = where.at(kLlmStage);
    const StageDevice& lower = where.at(kLlmLower);
    file.context = *context > 0 ? *context : planned_context(here, id, file.context);
    if (!is_here(where)) {
      MYNAH_TRY(auto worker, here.openings().worker_for(id, where));
      const StepPace pace = here.planner().step_pace(id);
      MYNAH_TRY(auto model, open_remote_language(worker, file, lower, device, pace));
      return LanguageRungs::Opened{.model = std::move(model),
                                   .probe = remote_probe(std::move(worker), kLlmGroup, pace)};
    }
    std::shared_ptr<Backend> below;
    if (is_apart(where)) {
      MYNAH_TRY(below, here.openings().open_here(id, kLlmLower, lower));
    }
    MYNAH_TRY(auto backend, here.openings().open_here(id, kLlmStage, device));
    std::shared_ptr<const WritingFile> read = now.lock();
    if (read == nullptr) {
      MYNAH_TRY(read, open_writing(file.path));
    }
    MYNAH_TRY(auto model, load_language(*read, file, below.get(),
                                        {.backend = *backend, .storage = device.storage}));
    auto kept = keeping(std::move(model), std::move(backend));
    if (below != nullptr) {
      kept = keeping(std::move(kept), std::move(below));
    }
    return LanguageRungs::Opened{.model = std::move(kept), .probe = {}};
  };
  auto rungs = std::make_shared<LanguageRungs>(id, state, open);
  MYNAH_TRY(const auto model, rungs->begin());
  *context = model->facts().context;
  for (auto& [stage, own] : growing) {
    own.units = {*context};
  }
  state->context().note_growing(id, std::move(growing));
  state->openings().add(hooks_of(rungs));
  return std::make_shared<const PlacedLanguage>(std::move(rungs), model->facts());
}

}  // namespace mynah::place
