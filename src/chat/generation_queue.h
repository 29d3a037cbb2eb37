// GenerationQueue: replies of everybody who writes with one model, a token of each in a step; what
// a text begins with that another of its owner began with, or is about to read, is not read twice.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/turns.h"
#include "chat/draft.h"
#include "chat/early_change.h"
#include "chat/kept_texts.h"
#include "chat/language_model.h"
#include "chat/prompt_lookup.h"
#include "chat/shared_positions.h"
#include "chat/step_cost.h"
#include "chat/token_rule.h"
#include "nn/decode/sampling.h"
#include "tensor/prompt_rows.h"

namespace mynah {

struct GenerationOptions {
  SamplingOptions sampling;
  int64_t remembered = 0;           // tokens of the prompt that penalties are for, too; the last
  uint64_t seed = 0;                // same seed, same text, alone or in company
  int64_t most_tokens = 0;          // 0: as many as there is room for
  std::vector<int32_t> ends;        // tokens that end the text, in rising order
  int32_t alternatives = -1;        // TokenWish::alternatives
  std::shared_ptr<TokenRule> rule;  // null: none
};

// Why a text ended.
enum class TextEnd : uint8_t {
  Token,     // one of GenerationOptions::ends
  Enough,    // who asked has what he wants
  Length,    // most_tokens
  NoContext  // the model's context is full
};

struct Generated {
  TextEnd end = TextEnd::Token;
  int32_t end_token = -1;  // TextEnd::Token: which
  int64_t prompt_tokens = 0;
  int64_t cached_tokens = 0;  // of the prompt, that were not read again
  // Where a prompt before this one differed so early that most was read again.
  std::optional<EarlyChange> change;
  int64_t tokens = 0;         // that were written, the one that ended it not among them
  int64_t guessed = 0;        // tokens that were checked several in a step
  int64_t guessed_right = 0;  // of them
  double queued_ms = 0;       // until its prompt was begun
  double prompt_ms = 0;       // from then until its first token
  double written_ms = 0;      // from then until its last one
};

// What is asked of a queue.
struct GenerationTask {
  std::vector<int32_t> prompt;  // one token at least
  GenerationOptions options;
  // Whose text it is: beginnings are shared within an owner, and never across. "": they are not
  // shared.
  std::string owner;
  // Of the owner's: a text that was kept goes on within its own, and stays for it.
  std::string conversation;
  // Positions of the prompt behind which others are likely to go on otherwise, in rising order.
  std::vector<int64_t> forks;
  Urgency urgency = Urgency::Interactive;
  // Called with each token that is part of the text, from the queue's thread, which it must not
  // keep waiting; false: it is enough. May be null.
  std::function<bool(const ChosenToken& chosen)> on_token;
};

// What waits for a queue, and what it did.
struct GenerationLoad {
  size_t waiting = 0;  // texts of which nothing was read yet
  size_t writing = 0;
  int64_t kept_tokens = 0;  // that later texts may begin with
  double step_ms = 0;       // that a step took of late
};

// Thread-safe. One thread of its own, where it is needed.
class GenerationQueue {
 public:
  struct Limits {
    size_t side_by_side = 32;  // texts in a step
    size_t waiting = 256;      // that may wait; who comes then is refused: Busy
    int64_t kept_tokens = 0;   // of all texts, those under way among them; 0: the context's
    // States of texts that rest: 4 to 64, and fewer than this fits. Where layers see windows, what
    // those of texts that rest take, or two whole ones.
    uint64_t kept_state_bytes = 512 << 20;
    // Tokens of prompts that a step reads at most; and while others wait for their next token.
    int64_t prompt_piece = kPromptPiece;
    int64_t piece_beside_others = 128;
    // Prompts are cut at multiples of it, so that they are the same wherever that is; a step reads
    // so many tokens at least.
    int64_t cuts = kPromptGrid;
    // Fewer where they take longer by what they took of late: a stop waits for a step, as others
    // do.
    double step_ms = 250;
    double step_beside_others_ms = 60;
    // Tokens of a text that are guessed and checked in a step, at most; 0: none. With the one
    // before them they stay below what backends compute as a prompt, with its rounding.
    int64_t guesses = 6;
    // How much longer a step may take for them where others wait for it.
    double guesses_beside_others = 1.1;
  };

  explicit GenerationQueue(std::shared_ptr<const LanguageModel> model)
      : GenerationQueue(std::move(model), Limits()) {}

  GenerationQueue(std::shared_ptr<const LanguageModel> model, Limits limits);

  // Nobody may wait for it any more.
  ~GenerationQueue();
  GenerationQueue(const GenerationQueue&) = delete;
  GenerationQueue& operator=(const GenerationQueue&) = delete;

  // Called once, from the queue's thread, which it must not keep waiting, or from that of who asks.
  using Done = std::function<void(Result<Generated> result)>;

  // Writes what follows the prompt, and tells when it has ended: Cancelled once stop is requested,
  // at the next step; the device's error where none is left that can write. Refused, and `done` is
  // not called: InvalidInput for a prompt that has no room in the context, Busy where too many
  // wait, Environment where no thread can be had.
  [[nodiscard]] Status submit(GenerationTask task, const std::stop_token& stop, Done done);

  // The same for who waits.
  [[nodiscard]] Result<Generated> write(GenerationTask task, const std::stop_token& stop);

  [[nodiscard]] GenerationLoad load() const;

  [[nodiscard]] const LanguageModel& model() const { return *model_; }

  // Forgets what texts of that owner began with.
  void forget(const std::string& owner);

  // What a next text of the owner's conversation will begin with: asked for from the queue's thread
  // once nothing else is to be done, and read until there is. The conversation's next text, or
  // another such beginning, takes its place.
  void foresee(const std::string& owner, const std::string& conversation,
               std::function<std::vector<int32_t>()> beginning);

 private:
  using Clock = std::chrono::steady_clock;

  // A text under way, which the queue's thread alone has once it is submitted.
  struct Writing {
    GenerationTask task;
    std::stop_token stop;
    Done done;
    bool foreseen = false;  // it is read, and nothing is written
    Clock::time_point asked;
    std::optional<Clock::time_point> begun;
    std::optional<Clock::time_point> first;  // token
    uint64_t text = 0;
    SharedBeginning beginning;           // of the text
    std::vector<int32_t> tokens;         // the prompt and what was written
    int64_t there = 0;                   // of them, that the model has read
    int64_t from = 0;                    // of those, the fewest that others may begin with
    std::vector<int64_t> forks;          // positions behind which what was read is kept for others
    std::optional<PromptLookup> lookup;  // from the first token that was written on
    double guesses_gave = 0;             // tokens, less those that they cost
    Generated result;
  };

  using WritingRef = std::shared_ptr<Writing>;

  struct Foreseen {
    std::string owner;
    std::string conversation;
    std::function<std::vector<int32_t>()> beginning;
  };

  // A part of a step: whose, how many of its tokens are read, and guesses behind them.
  struct Part {
    WritingRef writing;
    int64_t count = 0;
    std::vector<int32_t> guesses;
    double guesses_cost = 0;  // Draft::cost
  };

  // Tokens of a step: of prompts, and of texts that are written.
  struct StepSize {
    int64_t prompts = 0;
    int64_t texts = 0;  // that are written
    int64_t written = 0;
  };

  [[nodiscard]] Status check(const GenerationTask& task) const;
  void serve(const std::stop_token& end);
  // Takes those who wait and have room beside the others; wants the lock.
  void admit();
  // Who of those who wait is next, the list's end where all of them gain by waiting; wants the
  // lock.
  [[nodiscard]] std::list<WritingRef>::iterator next_of_waiting();
  // Whether another text is about to have read more of what this one begins with than there is of
  // it; wants the lock.
  [[nodiscard]] bool gains_by_waiting(const Writing& writing) const;
  // What a text under way will have read, and has not yet, of what another begins with.
  [[nodiscard]] int64_t ahead_for(const Writing& reading, std::span<const int32_t> beginning) const;
  // What a prompt may begin with that others began with: the rest of it is read anew in any case,
  // since what follows its end is wanted, as behind a prompt.
  [[nodiscard]] std::span<const int32_t> shareable(const Writing& writing) const;
  // Tokens of all texts under way, those that they share once; wants the lock.
  [[nodiscard]] int64_t under_way() const;
  // What a text under way has read of what this one begins with, the most of all, as if it were
  // kept; a length of 0: none has; wants the lock.
  [[nodiscard]] KeptTexts::Found beginning_beside(const Writing& writing) const;
  // Has the next of what was foreseen wait; wants the lock, and lets go of it meanwhile.
  void admit_foreseen(std::unique_lock<std::mutex>& lock);
  // Whether somebody waits for a text; wants the lock.
  [[nodiscard]] bool somebody_waits() const;
  // Shares what a text of its owner began with: one that is kept, or one under way, which has
  // `beside` of it; wants the lock.
  void begin_as_others(Writing& writing, const KeptTexts::Found& beside);
  // Takes out those who do not want their text any more; wants the lock.
  [[nodiscard]] std::vector<WritingRef> take_stopped();
  [[nodiscard]] std::vector<Part> choose_parts() const;
  // Tokens of prompts that the next step reads at most.
  [[nodiscard]] int64_t room_for_prompts(bool beside_others) const;
  // What is left to be read of prompts, in the order in which that is done.
  [[nodiscard]] std::vector<WritingRef> prompts_in_turn() const;
  // How many tokens of a prompt a step reads that has room for so many; of the first one some.
  [[nodiscard]] int64_t piece_of(const Writing& writing, int64_t room, bool is_first) const;

  // A piece is as long, so that it is read as all of a prompt would be.
  [[nodiscard]] int64_t least_piece() const { return std::min(kPromptRows, limits_.cuts); }

  // What a step took, with so many tokens of prompts; wants the lock.
  [[nodiscard]] static StepSize size_of(const std::vector<Part>& parts);
  void note_times(double took_ms, const StepSize& size);
  // Adds the guesses to parts.
  [[nodiscard]] StepRequest request_of(std::vector<Part>& parts) const;
  // Guesses of what a text goes on with, in a step that has so many tokens without them.
  [[nodiscard]] Draft draft_of(const Part& part, const StepSize& size) const;
  // What is wanted behind the text with the first of a draft's tokens, by their number.
  [[nodiscard]] static TokenWish wish_of(const Writing& writing, const Draft& draft, size_t behind);
  // What the model chose behind a part's tokens, until a guess was wrong.
  void take(const Part& part, std::span<const ChosenToken> chosen);
  // False: the text has ended.
  bool take(const WritingRef& taking, const ChosenToken& chosen);
  void step(std::vector<Part> parts);
  void end(const WritingRef& writing, TextEnd why);
  // What was read of it stays for others of its owner; wants the lock.
  void keep(Writing& writing);
  // Where a text does not go back to any position: those of its prompt at which it is to be kept,
  // since a later one may begin alike; wants the lock.
  [[nodiscard]] std::vector<int64_t> forks_of(const Writing& writing) const;
  // Keeps what was read up to such positions; wants the lock.
  void keep_forks(Writing& writing);

  std::shared_ptr<const LanguageModel> model_;
  Limits limits_;
  size_t kept_texts_;     // that rest, at most
  int64_t kept_windows_;  // of those, in positions
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::list<WritingRef> waiting_;
  std::vector<WritingRef> writing_;  // of the thread; changed under the lock
  KeptTexts kept_;                   // likewise
  std::list<Foreseen> foreseen_;     // the last one first
  double step_ms_ = 0;
  double read_ms_ = 0;  // that a token of a prompt took of late; 0: none was read
  // The thread's own.
  std::unique_ptr<LanguageModel::Session> session_;
  StepCost cost_;  // of steps in which no prompt was read
  std::vector<TextFork> forks_;
  std::vector<uint64_t> forgotten_;
  uint64_t next_text_ = 1;
  bool shortest_first_ = false;  // of prompts, in the next step
  std::jthread thread_;
};

}  // namespace mynah
