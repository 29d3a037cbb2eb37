#include "chat/generation_queue.h"

#include <algorithm>
#include <future>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace mynah {
namespace {

double ms_between(std::chrono::steady_clock::time_point from,
                  std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

}  // namespace

GenerationQueue::GenerationQueue(std::shared_ptr<const LanguageModel> model, Limits limits)
    : model_(std::move(model)), limits_(limits) {
  if (limits_.kept_tokens == 0) {
    limits_.kept_tokens = model_->facts().context;
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
    return fail(ErrorCode::InvalidInput,
                fmt::format("the text has {} tokens and the context {}: nothing of it was left "
                            "out; shorten it, or open the model with more (--context)",
                            task.prompt.size(), facts.context));
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
          .kept_tokens = kept_.tokens(),
          .step_ms = step_ms_};
}

void GenerationQueue::forget(const std::string& owner) {
  const std::lock_guard lock(mutex_);
  const auto gone = kept_.forget(owner);
  forgotten_.insert(forgotten_.end(), gone.begin(), gone.end());
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
  kept_.add(
      {.number = writing.text, .owner = writing.task.owner, .tokens = std::move(writing.tokens)});
}

std::vector<GenerationQueue::WritingRef> GenerationQueue::take_stopped() {
  std::vector<WritingRef> stopped;
  const auto is_stopped = [&](const WritingRef& writing) {
    if (!writing->stop.stop_requested()) {
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

void GenerationQueue::admit() {
  while (!waiting_.empty() && writing_.size() < limits_.side_by_side) {
    // Urgent ones first, else who came first.
    const auto urgent = std::ranges::find_if(
        waiting_, [](const WritingRef& one) { return one->task.urgency == Urgency::Interactive; });
    const auto next = urgent == waiting_.end() ? waiting_.begin() : urgent;
    const WritingRef writing = *next;
    int64_t under_way = std::ssize(writing->tokens);
    for (const WritingRef& one : writing_) {
      under_way += std::ssize(one->tokens);
    }
    if (!writing_.empty() && under_way > limits_.kept_tokens) {
      return;  // it has room when another has ended
    }
    waiting_.erase(next);
    writing->begun = Clock::now();
    writing->text = next_text_++;
    // The last token is read anew in any case: what follows it is wanted.
    const std::span<const int32_t> prompt = writing->tokens;
    if (const auto found = writing->task.owner.empty()
                               ? std::nullopt
                               : kept_.find(writing->task.owner, prompt.first(prompt.size() - 1))) {
      if (found->whole) {
        writing->text = found->number;
      } else {
        forks_.push_back({.from = found->number, .to = writing->text, .length = found->length});
      }
      writing->there = found->length;
      writing->result.cached_tokens = found->length;
    }
    const auto gone = kept_.shrink(limits_.kept_tokens - under_way);
    forgotten_.insert(forgotten_.end(), gone.begin(), gone.end());
    writing_.push_back(writing);
  }
}

int64_t GenerationQueue::room_for_prompts(bool beside_others) const {
  const int64_t most = beside_others ? limits_.piece_beside_others : limits_.prompt_piece;
  if (read_ms_ <= 0) {
    return most;
  }
  // Products of fewer rows cost nearly as much as of these.
  constexpr int64_t kLeast = 32;
  const double time_ms = beside_others ? limits_.step_beside_others_ms : limits_.step_ms;
  return std::clamp(static_cast<int64_t>(time_ms / read_ms_), std::min(kLeast, most), most);
}

void GenerationQueue::note_times(double took_ms, int64_t prompt_tokens) {
  constexpr double kOfLate = 0.2;
  const auto mixed = [](double before, double now) {
    return before == 0 ? now : (1 - kOfLate) * before + kOfLate * now;
  };
  step_ms_ = mixed(step_ms_, took_ms);
  constexpr int64_t kEnough = 16;
  if (prompt_tokens >= kEnough) {
    read_ms_ = mixed(read_ms_, took_ms / static_cast<double>(prompt_tokens));
  }
}

std::vector<GenerationQueue::Part> GenerationQueue::choose_parts() const {
  std::vector<Part> parts;
  for (const WritingRef& writing : writing_) {
    if (std::ssize(writing->tokens) - writing->there == 1) {
      parts.push_back({.writing = writing, .count = 1});
    }
  }
  // What is left of prompts, who came first first; of every owner one at a time.
  int64_t room = room_for_prompts(!parts.empty());
  std::map<std::string, int> turns;
  std::vector<std::pair<int, WritingRef>> reading;
  for (const WritingRef& writing : writing_) {
    if (std::ssize(writing->tokens) - writing->there > 1) {
      reading.emplace_back(turns[writing->task.owner]++, writing);
    }
  }
  std::ranges::stable_sort(reading, {}, &std::pair<int, WritingRef>::first);
  for (const auto& [turn, writing] : reading) {
    const int64_t count = std::min(room, std::ssize(writing->tokens) - writing->there);
    if (count > 0) {
      parts.push_back({.writing = writing, .count = count});
      room -= count;
    }
  }
  return parts;
}

TokenWish GenerationQueue::wish_of(const Writing& writing) {
  const GenerationOptions& options = writing.task.options;
  const auto prompt = static_cast<size_t>(writing.result.prompt_tokens);
  const size_t first =
      prompt - std::min(prompt, static_cast<size_t>(std::max<int64_t>(0, options.remembered)));
  NextTokens next;
  next.add({}, options.sampling, std::span(writing.tokens).subspan(first),
           random_uniform(options.seed, 0, static_cast<uint64_t>(writing.result.tokens)));
  const SampleRow& row = next.rows.front();
  TokenWish wish{.temperature = row.temperature,
                 .uniform = row.uniform,
                 .top_k = row.top_k,
                 .top_p = row.top_p,
                 .min_p = row.min_p,
                 .typical_p = row.typical_p,
                 .penalties = std::move(next.penalties),
                 .allowed = {},
                 .alternatives = options.alternatives};
  if (options.rule != nullptr) {
    const auto allowed = options.rule->allowed();
    wish.allowed.assign(allowed.begin(), allowed.end());
  }
  return wish;
}

StepRequest GenerationQueue::request_of(const std::vector<Part>& parts) {
  StepRequest request;
  for (const Part& part : parts) {
    const Writing& writing = *part.writing;
    const auto from = writing.tokens.begin() + writing.there;
    TextStep step{.text = writing.text,
                  .begin = writing.there,
                  .tokens = {from, from + part.count},
                  .wishes = {}};
    if (writing.there + part.count == std::ssize(writing.tokens)) {
      step.wishes.push_back(wish_of(writing));
    }
    request.steps.push_back(std::move(step));
  }
  return request;
}

void GenerationQueue::end(const WritingRef& writing, TextEnd why) {
  writing->result.end = why;
  {
    const std::lock_guard lock(mutex_);
    std::erase(writing_, writing);
    keep(*writing);
  }
  writing->done(writing->result);
}

// A token that follows is part of the text, or ends it.
void GenerationQueue::take(const Part& part, const ChosenToken& chosen) {
  Writing& writing = *part.writing;
  const GenerationOptions& options = writing.task.options;
  Generated& result = writing.result;
  const auto now = Clock::now();
  writing.first = writing.first.value_or(now);
  result.queued_ms = ms_between(writing.asked, *writing.begun);
  result.prompt_ms = ms_between(*writing.begun, *writing.first);
  result.written_ms = ms_between(*writing.first, now);
  if (std::ranges::binary_search(options.ends, chosen.token)) {
    result.end_token = chosen.token;
    return end(part.writing, TextEnd::Token);
  }
  if (options.rule != nullptr) {
    options.rule->take(chosen.token);
  }
  ++result.tokens;
  writing.tokens.push_back(chosen.token);
  const bool more = writing.task.on_token == nullptr || writing.task.on_token(chosen);
  if (!more) {
    return end(part.writing, TextEnd::Enough);
  }
  if (options.most_tokens > 0 && result.tokens >= options.most_tokens) {
    return end(part.writing, TextEnd::Length);
  }
  if (std::ssize(writing.tokens) >= model_->facts().context) {
    return end(part.writing, TextEnd::NoContext);
  }
}

void GenerationQueue::step(const std::vector<Part>& parts) {
  const bool urgent = std::ranges::any_of(
      parts, [](const Part& part) { return part.writing->task.urgency == Urgency::Interactive; });
  const UrgencyScope scope(urgent ? Urgency::Interactive : Urgency::Bulk);
  StepRequest request = request_of(parts);
  {
    const std::lock_guard lock(mutex_);
    request.forgotten = std::exchange(forgotten_, {});
    request.forks = std::exchange(forks_, {});
  }
  if (session_ == nullptr) {
    session_ = model_->session();
  }
  const auto begun = Clock::now();
  const auto chosen = session_->step(request);
  const double took_ms = ms_between(begun, Clock::now());
  if (!chosen) {
    // Nothing is known of any text, so nothing is kept of what these had.
    session_.reset();
    std::vector<WritingRef> failed;
    {
      const std::lock_guard lock(mutex_);
      kept_.clear();
      forks_.clear();
      forgotten_.clear();
      failed = std::exchange(writing_, {});
    }
    for (const WritingRef& writing : failed) {
      writing->done(std::unexpected(chosen.error()));
    }
    return;
  }
  int64_t prompt_tokens = 0;
  auto next = chosen->begin();
  for (size_t i = 0; i < parts.size(); ++i) {
    prompt_tokens += parts[i].count > 1 ? parts[i].count : 0;
    parts[i].writing->there += parts[i].count;
    for (size_t wish = 0; wish < request.steps[i].wishes.size(); ++wish) {
      take(parts[i], *next++);
    }
  }
  const std::lock_guard lock(mutex_);
  note_times(took_ms, prompt_tokens);
}

void GenerationQueue::serve(const std::stop_token& end) {
  std::unique_lock lock(mutex_);
  const auto has_work = [this] { return !waiting_.empty() || !writing_.empty(); };
  while (changed_.wait(lock, end, has_work)) {
    const std::vector<WritingRef> stopped = take_stopped();
    admit();
    const std::vector<Part> parts = choose_parts();
    lock.unlock();
    for (const WritingRef& writing : stopped) {
      writing->done(fail(ErrorCode::Cancelled, "stopped"));
    }
    if (!parts.empty()) {
      step(parts);
    }
    lock.lock();
  }
}

}  // namespace mynah
