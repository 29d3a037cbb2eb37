#include "chat/generation_queue.h"

#include <algorithm>
#include <future>
#include <limits>
#include <map>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace mynah {
namespace {

// Of a text, that take LanguageFacts::window_bytes while it rests.
int64_t positions_kept(const LanguageFacts& facts) {
  return facts.window_bytes > 0 ? facts.window + facts.rewinds : 0;
}

}  // namespace

GenerationQueue::GenerationQueue(std::shared_ptr<const LanguageModel> model, Limits limits)
    : model_(std::move(model)),
      limits_(limits),
      kept_texts_(std::numeric_limits<size_t>::max()),
      kept_windows_(std::numeric_limits<int64_t>::max()),
      kept_(positions_kept(model_->facts())) {
  const LanguageFacts& facts = model_->facts();
  if (limits_.kept_tokens == 0) {
    limits_.kept_tokens = facts.context;
  }
  if (facts.state_bytes > 0) {
    constexpr uint64_t kLeast = 4;
    constexpr uint64_t kMost = 64;
    kept_texts_ = std::clamp(limits_.kept_state_bytes / facts.state_bytes, kLeast, kMost);
  }
  if (facts.window_bytes > 0) {
    kept_windows_ = std::max(2 * positions_kept(facts),
                             static_cast<int64_t>(limits_.kept_state_bytes / facts.window_bytes));
  }
}

GenerationQueue::~GenerationQueue() {
  thread_.request_stop();
  changed_.notify_all();
}

Status GenerationQueue::check(const GenerationTask& task) const {
  const LanguageFacts& facts = model_->facts();
  const auto is_token = [&](int32_t token) { return token >= 0 && token < facts.vocabulary; };
  if (task.prompt.empty() || !std::ranges::all_of(task.prompt, is_token)) {
    return fail(ErrorCode::InvalidInput, "wanted a prompt of tokens that the model has");
  }
  if (std::ssize(task.prompt) >= facts.context) {
    const bool has_more = facts.context < facts.trained_context;
    return fail(ErrorCode::InvalidInput,
                fmt::format("the text has {} tokens and the context {}: nothing of it was left "
                            "out; shorten it{}",
                            task.prompt.size(), facts.context,
                            has_more ? ", or open the model with more (--context)"
                                     : ", as the model was trained for no more"));
  }
  return {};
}

Status GenerationQueue::submit(GenerationTask task, const std::stop_token& stop, Done done) {
  MYNAH_TRY_STATUS(check(task));
  const auto writing = std::make_shared<Writing>();
  writing->task = std::move(task);
  writing->stop = stop;
  writing->done = std::move(done);
  writing->asked = Clock::now();
  writing->tokens = writing->task.prompt;
  writing->result.prompt_tokens = std::ssize(writing->tokens);
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= limits_.waiting) {
    return fail(ErrorCode::Busy,
                fmt::format("{} texts wait for the model already", waiting_.size()));
  }
  if (!thread_.joinable()) {
    try {
      thread_ = std::jthread([this](const std::stop_token& end) { serve(end); });
    } catch (const std::system_error& error) {
      return fail(ErrorCode::Environment,
                  fmt::format("no thread can be had to write with: {}", error.what()));
    }
  }
  waiting_.push_back(writing);
  std::erase_if(foreseen_, [&](const Foreseen& one) {
    return one.owner == writing->task.owner && one.conversation == writing->task.conversation;
  });
  changed_.notify_all();
  return {};
}

Result<Generated> GenerationQueue::write(GenerationTask task, const std::stop_token& stop) {
  std::promise<Result<Generated>> told;
  auto result = told.get_future();
  MYNAH_TRY_STATUS(submit(std::move(task), stop, [&told](Result<Generated> generated) {
    told.set_value(std::move(generated));
  }));
  return result.get();
}

GenerationLoad GenerationQueue::load() const {
  const std::lock_guard lock(mutex_);
  return {.waiting = waiting_.size(),
          .writing = writing_.size(),
          .kept_tokens = kept_.size().tokens,
          .step_ms = step_ms_};
}

void GenerationQueue::forget(const std::string& owner) {
  const std::lock_guard lock(mutex_);
  const auto gone = kept_.forget(owner);
  forgotten_.insert(forgotten_.end(), gone.begin(), gone.end());
}

void GenerationQueue::foresee(const std::string& owner, const std::string& conversation,
                              std::function<std::vector<int32_t>()> beginning) {
  constexpr size_t kMost = 16;
  const std::lock_guard lock(mutex_);
  std::erase_if(foreseen_, [&](const Foreseen& one) {
    return one.owner == owner && one.conversation == conversation;
  });
  foreseen_.push_front(
      {.owner = owner, .conversation = conversation, .beginning = std::move(beginning)});
  if (foreseen_.size() > kMost) {
    foreseen_.pop_back();
  }
  changed_.notify_all();
}

bool GenerationQueue::somebody_waits() const {
  return std::ranges::any_of(waiting_, [](const WritingRef& one) { return !one->foreseen; });
}

void GenerationQueue::admit_foreseen(std::unique_lock<std::mutex>& lock) {
  const Foreseen next = std::move(foreseen_.front());
  foreseen_.pop_front();
  lock.unlock();
  const auto writing = std::make_shared<Writing>();
  writing->task.prompt = next.beginning();
  writing->task.owner = next.owner;
  writing->task.conversation = next.conversation;
  writing->task.urgency = Urgency::Bulk;
  const bool is_good = check(writing->task).has_value();
  lock.lock();
  if (is_good) {
    writing->foreseen = true;
    writing->tokens = writing->task.prompt;
    waiting_.push_back(writing);
  }
}

void GenerationQueue::keep(Writing& writing) {
  if (writing.text == 0) {
    return;
  }
  if (writing.task.owner.empty() || writing.there < KeptTexts::kShortest) {
    forgotten_.push_back(writing.text);
    return;
  }
  writing.tokens.resize(static_cast<size_t>(writing.there));
  kept_.add({.number = writing.text,
             .owner = writing.task.owner,
             .conversation = writing.task.conversation,
             .tokens = std::move(writing.tokens),
             .from = writing.from,
             .beginning = writing.beginning});
}

std::vector<int64_t> GenerationQueue::forks_of(const Writing& writing) const {
  const GenerationTask& task = writing.task;
  if (model_->facts().rewinds == LanguageFacts::kAnywhere || task.owner.empty()) {
    return {};
  }
  // What two prompts began with a third one may begin with.
  std::vector<int64_t> forks = task.forks;
  forks.push_back(kept_.alike(task.owner, task.prompt));
  const int64_t last_fork = std::ssize(task.prompt) - least_piece();
  if (model_->facts().rewinds > 0 && task.forks.empty()) {
    forks.push_back(last_fork);  // a raw text's, which names none
  }
  for (int64_t& position : forks) {
    position = std::max<int64_t>(0, std::min(position, last_fork));
    position -= position % limits_.cuts;
  }
  std::ranges::sort(forks);
  const auto last = std::ranges::unique(forks).begin();
  forks.erase(last, forks.end());
  std::erase_if(forks, [&](int64_t position) {
    return position < std::max(KeptTexts::kShortest, writing.there + least_piece());
  });
  return forks;
}

void GenerationQueue::keep_forks(Writing& writing) {
  while (!writing.forks.empty() && writing.forks.front() <= writing.there) {
    const int64_t length = writing.forks.front();
    writing.forks.erase(writing.forks.begin());
    const uint64_t number = next_text_++;
    forks_.push_back({.from = writing.text, .to = number, .length = length});
    kept_.add({.number = number,
               .owner = writing.task.owner,
               .conversation = writing.task.conversation,
               .tokens = {writing.tokens.begin(), writing.tokens.begin() + length},
               .from = writing.from,
               .beginning = {.text = writing.text, .length = length},
               .stays = true});
  }
}

std::vector<GenerationQueue::WritingRef> GenerationQueue::take_stopped() {
  std::vector<WritingRef> stopped;
  const bool waits = somebody_waits();
  const auto is_stopped = [&](const WritingRef& writing) {
    if (!(writing->foreseen ? waits : writing->stop.stop_requested())) {
      return false;
    }
    keep(*writing);
    stopped.push_back(writing);
    return true;
  };
  std::erase_if(waiting_, is_stopped);
  std::erase_if(writing_, is_stopped);
  return stopped;
}

// Urgent ones first. Owners take turns, and an owner's conversations: next is who has the fewest
// places, then who came first.
std::list<GenerationQueue::WritingRef>::iterator GenerationQueue::next_of_waiting() {
  std::map<std::string, int> of_owner;
  std::map<std::pair<std::string, std::string>, int> of_conversation;
  const auto key = [](const GenerationTask& task) {
    return std::pair(task.owner, task.conversation);
  };
  for (const WritingRef& one : writing_) {
    ++of_owner[one->task.owner];
    ++of_conversation[key(one->task)];
  }
  const auto rank = [&](const WritingRef& one) {
    const GenerationTask& task = one->task;
    return std::tuple(task.urgency != Urgency::Interactive, of_owner[task.owner],
                      of_conversation[key(task)]);
  };
  auto next = waiting_.end();
  for (auto one = waiting_.begin(); one != waiting_.end(); ++one) {
    if (!gains_by_waiting(**one) && (next == waiting_.end() || rank(*one) < rank(*next))) {
      next = one;
    }
  }
  return next;
}

std::span<const int32_t> GenerationQueue::shareable(const Writing& writing) const {
  const std::span<const int32_t> prompt = writing.task.prompt;
  const int64_t anew = model_->facts().rewinds > 0 ? least_piece() : 1;
  return prompt.first(static_cast<size_t>(std::max<int64_t>(0, std::ssize(prompt) - anew)));
}

int64_t GenerationQueue::ahead_for(const Writing& reading,
                                   std::span<const int32_t> beginning) const {
  const int64_t alike =
      std::ranges::mismatch(reading.task.prompt, beginning).in2 - beginning.begin();
  if (model_->facts().rewinds == LanguageFacts::kAnywhere) {
    return alike > reading.there ? alike : 0;
  }
  const auto beyond = std::ranges::upper_bound(reading.forks, alike);
  return beyond == reading.forks.begin() ? 0 : *std::prev(beyond);
}

bool GenerationQueue::gains_by_waiting(const Writing& writing) const {
  const std::string& owner = writing.task.owner;
  if (owner.empty()) {
    return false;
  }
  const std::span<const int32_t> beginning = shareable(writing);
  int64_t ahead = KeptTexts::kShortest - 1;
  for (const WritingRef& one : writing_) {
    // Nobody who is waited for waits for what has time.
    const bool is_as_urgent =
        one->task.urgency == Urgency::Interactive || writing.task.urgency != Urgency::Interactive;
    if (one->task.owner == owner && is_as_urgent) {
      ahead = std::max(ahead, ahead_for(*one, beginning));
    }
  }
  return ahead >= KeptTexts::kShortest && ahead > kept_.length_of_beginning(owner, beginning);
}

int64_t GenerationQueue::under_way() const {
  SharedPositions all;
  for (const WritingRef& one : writing_) {
    all.add(one->text, std::ssize(one->tokens), one->beginning);
  }
  return all.total();
}

KeptTexts::Found GenerationQueue::beginning_beside(const Writing& writing) const {
  KeptTexts::Found longest;
  if (writing.task.owner.empty() || model_->facts().rewinds == 0) {
    return longest;
  }
  const std::span<const int32_t> beginning = shareable(writing);
  for (const WritingRef& one : writing_) {
    if (one->task.owner == writing.task.owner) {
      const auto there = std::span(one->tokens).first(static_cast<size_t>(one->there));
      const int64_t alike = std::ranges::mismatch(beginning, there).in1 - beginning.begin();
      if (alike > longest.length && alike >= one->from) {
        longest = {.number = one->text,
                   .length = alike,
                   .from = one->from,
                   .beginning = {.text = one->text, .length = alike}};
      }
    }
  }
  return longest.length < KeptTexts::kShortest ? KeptTexts::Found() : longest;
}

void GenerationQueue::admit() {
  while (!waiting_.empty() && writing_.size() < limits_.side_by_side) {
    const auto next = next_of_waiting();
    if (next == waiting_.end()) {
      return;  // all of them gain by waiting
    }
    WritingRef writing = *next;
    const KeptTexts::Found beside = beginning_beside(*writing);
    const int64_t tokens = under_way() + std::ssize(writing->tokens) - beside.length;
    if (!writing_.empty() && tokens > limits_.kept_tokens) {
      return;  // it has room when another has ended
    }
    waiting_.erase(next);
    writing->begun = Clock::now();
    writing->text = next_text_++;
    begin_as_others(*writing, beside);
    writing->forks = forks_of(*writing);
    const auto gone = kept_.shrink(
        {.tokens = limits_.kept_tokens - tokens, .windows = kept_windows_}, kept_texts_);
    forgotten_.insert(forgotten_.end(), gone.begin(), gone.end());
    writing_.push_back(std::move(writing));
  }
}

void GenerationQueue::begin_as_others(Writing& writing, const KeptTexts::Found& beside) {
  const std::string& owner = writing.task.owner;
  if (owner.empty()) {
    return;
  }
  const std::string& conversation = writing.task.conversation;
  auto change = kept_.find_change(owner, conversation, writing.task.prompt);
  const KeptTexts::Found found =
      kept_.find(owner, conversation, shareable(writing), beside.length).value_or(beside);
  writing.beginning = found.beginning;
  writing.there = found.length;
  writing.from = found.from;
  writing.result.cached_tokens = found.length;
  if (found.whole) {
    writing.text = found.number;
  } else if (found.length > 0) {
    forks_.push_back({.from = found.number, .to = writing.text, .length = found.length});
  }
  if (!found.whole && writing.foreseen && found.own && !found.stays &&
      model_->facts().rewinds > 0) {
    // What is foreseen is what becomes of that one.
    kept_.remove(found.number);
    forgotten_.push_back(found.number);
  }
  if (change && std::ssize(writing.tokens) - writing.there >= change->alike_behind) {
    writing.result.change = std::move(change);
  }
}

void GenerationQueue::end(const WritingRef& writing, TextEnd why) {
  writing->result.end = why;
  {
    const std::lock_guard lock(mutex_);
    std::erase(writing_, writing);
    keep(*writing);
  }
  if (writing->done != nullptr) {
    writing->done(writing->result);
  }
}

void GenerationQueue::serve(const std::stop_token& end) {
  std::unique_lock lock(mutex_);
  const auto has_work = [this] {
    return !waiting_.empty() || !writing_.empty() || !foreseen_.empty();
  };
  while (changed_.wait(lock, end, has_work) && !end.stop_requested()) {
    if (waiting_.empty() && writing_.empty()) {
      admit_foreseen(lock);
      continue;
    }
    const std::vector<WritingRef> stopped = take_stopped();
    admit();
    std::vector<Part> parts = choose_parts();
    lock.unlock();
    for (const WritingRef& writing : stopped) {
      if (writing->done != nullptr) {
        writing->done(fail(ErrorCode::Cancelled, "stopped"));
      }
    }
    if (!parts.empty()) {
      step(std::move(parts));
    }
    lock.lock();
  }
}

}  // namespace mynah
