// What a step of a GenerationQueue computes, and what becomes of it.
#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "chat/generation_queue.h"

namespace mynah {
namespace {

// What guesses may lose: of a text's time, and tokens at its beginning.
constexpr double kLoss = 0.005;
constexpr double kFirstLoss = 1;

double ms_between(std::chrono::steady_clock::time_point from,
                  std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

}  // namespace

int64_t GenerationQueue::room_for_prompts(bool beside_others) const {
  const int64_t most = beside_others ? limits_.piece_beside_others : limits_.prompt_piece;
  if (read_ms_ <= 0) {
    return most;
  }
  const double time_ms = beside_others ? limits_.step_beside_others_ms : limits_.step_ms;
  return std::clamp(static_cast<int64_t>(time_ms / read_ms_), std::min(limits_.cuts, most), most);
}

GenerationQueue::StepSize GenerationQueue::size_of(const std::vector<Part>& parts) {
  StepSize size;
  for (const Part& part : parts) {
    if (part.count > 1) {
      size.prompts += part.count;
    } else {
      ++size.texts;
      size.written += 1 + std::ssize(part.guesses);
    }
  }
  return size;
}

void GenerationQueue::note_times(double took_ms, const StepSize& size) {
  constexpr double kOfLate = 0.2;
  const auto mixed = [](double before, double now) {
    return before == 0 ? now : (1 - kOfLate) * before + kOfLate * now;
  };
  step_ms_ = mixed(step_ms_, took_ms);
  constexpr int64_t kEnough = 16;
  if (size.prompts >= kEnough) {
    read_ms_ = mixed(read_ms_, took_ms / static_cast<double>(size.prompts));
  }
}

// Who came first first; of every owner one at a time, and of every conversation of his. In every
// other step who has least left goes before: a short prompt does not wait until a long one was
// read, and that goes on at half its pace at least.
std::vector<GenerationQueue::WritingRef> GenerationQueue::prompts_in_turn() const {
  std::vector<WritingRef> reading;
  std::ranges::copy_if(writing_, std::back_inserter(reading), [](const WritingRef& one) {
    return std::ssize(one->tokens) - one->there > 1;
  });
  const auto take_turns = [&reading](const auto& whose) {
    std::map<std::string, int> turns;
    std::vector<std::pair<int, WritingRef>> order;
    order.reserve(reading.size());
    for (WritingRef& one : reading) {
      order.emplace_back(turns[whose(one->task)]++, std::move(one));
    }
    std::ranges::stable_sort(order, {}, &std::pair<int, WritingRef>::first);
    std::ranges::transform(order, reading.begin(), &std::pair<int, WritingRef>::second);
  };
  take_turns([](const GenerationTask& task) { return task.owner + '\n' + task.conversation; });
  take_turns([](const GenerationTask& task) { return task.owner; });
  if (shortest_first_) {
    std::ranges::stable_sort(
        reading, {}, [](const WritingRef& one) { return std::ssize(one->tokens) - one->there; });
  }
  return reading;
}

int64_t GenerationQueue::piece_of(const Writing& writing, int64_t room, bool is_first) const {
  // A fork that the text can go back to once it is read is no end of a piece.
  const auto length = std::ssize(writing.tokens);
  const auto fork = std::ranges::find_if(writing.forks, [&](int64_t position) {
    return position < model_->facts().goes_back_to(length);
  });
  const int64_t end = fork == writing.forks.end() ? length : *fork;
  int64_t cut = (writing.there + std::max<int64_t>(0, room)) / limits_.cuts * limits_.cuts;
  if (cut < writing.there + least_piece()) {
    if (!is_first) {
      return end - writing.there <= room ? end - writing.there : 0;
    }
    const int64_t least = writing.there + least_piece();
    cut = (least + limits_.cuts - 1) / limits_.cuts * limits_.cuts;
  }
  // What is left is as long as a piece, or none.
  const bool is_rest = end - writing.there <= room || end - cut < least_piece();
  return (is_rest ? end : cut) - writing.there;
}

std::vector<GenerationQueue::Part> GenerationQueue::choose_parts() const {
  std::vector<Part> parts;
  for (const WritingRef& writing : writing_) {
    if (std::ssize(writing->tokens) - writing->there == 1) {
      parts.push_back({.writing = writing, .count = 1, .guesses = {}, .guesses_cost = 0});
    }
  }
  int64_t room = room_for_prompts(!parts.empty());
  bool is_first = true;
  for (const WritingRef& writing : prompts_in_turn()) {
    const int64_t count = piece_of(*writing, room, is_first);
    if (count > 0) {
      parts.push_back({.writing = writing, .count = count, .guesses = {}, .guesses_cost = 0});
      room -= count;
      is_first = false;
    }
  }
  return parts;
}

TokenWish GenerationQueue::wish_of(const Writing& writing, const Draft& draft, size_t behind) {
  const GenerationOptions& options = writing.task.options;
  const auto prompt = static_cast<size_t>(writing.result.prompt_tokens);
  const size_t first =
      prompt - std::min(prompt, static_cast<size_t>(std::max<int64_t>(0, options.remembered)));
  std::span<const int32_t> said = std::span(writing.tokens).subspan(first);
  std::vector<int32_t> with_draft;
  if (behind > 0) {
    with_draft.assign(said.begin(), said.end());
    with_draft.insert(with_draft.end(), draft.tokens.begin(),
                      draft.tokens.begin() + static_cast<ptrdiff_t>(behind));
    said = with_draft;
  }
  NextTokens next;
  next.add({}, options.sampling, said,
           random_uniform(options.seed, 0, static_cast<uint64_t>(writing.result.tokens) + behind));
  const SampleRow& row = next.rows.front();
  return {.temperature = row.temperature,
          .uniform = row.uniform,
          .top_k = row.top_k,
          .top_p = row.top_p,
          .min_p = row.min_p,
          .typical_p = row.typical_p,
          .penalties = std::move(next.penalties),
          .allowed = draft.allowed[behind],
          .alternatives = options.alternatives};
}

Draft GenerationQueue::draft_of(const Part& part, const StepSize& size) const {
  const Writing& writing = *part.writing;
  const GenerationOptions& options = writing.task.options;
  DraftWish wish{.lookup = writing.lookup ? &*writing.lookup : nullptr,
                 .rule = options.rule.get(),
                 .ends = options.ends,
                 .most = 0,
                 .cost = nullptr,
                 .others = static_cast<double>(std::max<int64_t>(0, size.texts - 1)),
                 .may_cost = kFirstLoss + kLoss * static_cast<double>(writing.result.tokens) +
                             writing.guesses_gave};
  if (part.count > 1 || model_->facts().rewinds == 0) {
    return make_draft(wish);
  }
  // With the one that follows them.
  int64_t room = model_->facts().context - std::ssize(writing.tokens);
  if (options.most_tokens > 0) {
    room = std::min(room, options.most_tokens - writing.result.tokens);
  }
  wish.most = std::min({limits_.guesses, room - 1, model_->facts().rewinds});
  const double prompts_ms = read_ms_ * static_cast<double>(size.prompts);
  const auto tokens = static_cast<double>(size.written);
  const double without = prompts_ms + cost_.of(tokens);
  const double most =
      size.texts > 1 ? limits_.guesses_beside_others : std::numeric_limits<double>::infinity();
  wish.cost = [=, this](int64_t more) {
    const double with = prompts_ms + cost_.of(tokens + static_cast<double>(more));
    const double times = without > 0 ? with / without : 1;
    return times <= most ? times : std::numeric_limits<double>::infinity();
  };
  return make_draft(wish);
}

StepRequest GenerationQueue::request_of(std::vector<Part>& parts) const {
  StepRequest request;
  StepSize size = size_of(parts);
  for (Part& part : parts) {
    const Writing& writing = *part.writing;
    const auto from = writing.tokens.begin() + writing.there;
    TextStep step{.text = writing.text,
                  .begin = writing.there,
                  .tokens = {from, from + part.count},
                  .wishes = {}};
    if (!writing.foreseen && writing.there + part.count == std::ssize(writing.tokens)) {
      Draft draft = draft_of(part, size);
      for (size_t behind = 0; behind <= draft.tokens.size(); ++behind) {
        step.wishes.push_back(wish_of(writing, draft, behind));
      }
      step.tokens.insert(step.tokens.end(), draft.tokens.begin(), draft.tokens.end());
      size.written += std::ssize(draft.tokens);
      part.guesses = std::move(draft.tokens);
      part.guesses_cost = draft.cost;
    }
    request.steps.push_back(std::move(step));
  }
  return request;
}

// A token that follows is part of the text, or ends it.
bool GenerationQueue::take(const WritingRef& taking, const ChosenToken& chosen) {
  Writing& writing = *taking;
  const GenerationOptions& options = writing.task.options;
  Generated& result = writing.result;
  const auto now = Clock::now();
  writing.first = writing.first.value_or(now);
  result.queued_ms = ms_between(writing.asked, *writing.begun);
  result.prompt_ms = ms_between(*writing.begun, *writing.first);
  result.written_ms = ms_between(*writing.first, now);
  const auto ends = [&](TextEnd why) {
    end(taking, why);
    return false;
  };
  if (std::ranges::binary_search(options.ends, chosen.token)) {
    result.end_token = chosen.token;
    return ends(TextEnd::Token);
  }
  if (options.rule != nullptr) {
    options.rule->take(chosen.token);
  }
  if (limits_.guesses > 0 && model_->facts().rewinds > 0) {
    if (!writing.lookup) {
      writing.lookup.emplace(writing.tokens);
    }
    writing.lookup->take(chosen.token);
  }
  ++result.tokens;
  writing.tokens.push_back(chosen.token);
  const bool more = writing.task.on_token == nullptr || writing.task.on_token(chosen);
  if (!more) {
    return ends(TextEnd::Enough);
  }
  if (options.most_tokens > 0 && result.tokens >= options.most_tokens) {
    return ends(TextEnd::Length);
  }
  if (std::ssize(writing.tokens) >= model_->facts().context) {
    return ends(TextEnd::NoContext);
  }
  return true;
}

void GenerationQueue::take(const Part& part, std::span<const ChosenToken> chosen) {
  Writing& writing = *part.writing;
  writing.there += part.count;
  writing.from = std::max(writing.from,
                          model_->facts().goes_back_to(writing.there + std::ssize(part.guesses)));
  {
    const std::lock_guard lock(mutex_);
    keep_forks(writing);
  }
  writing.result.guessed += std::ssize(part.guesses);
  writing.guesses_gave -= part.guesses_cost;
  if (writing.foreseen && writing.there == std::ssize(writing.tokens)) {
    return end(part.writing, TextEnd::Enough);
  }
  for (size_t i = 0; i < chosen.size(); ++i) {
    const bool is_right = i < part.guesses.size() && part.guesses[i] == chosen[i].token;
    writing.result.guessed_right += is_right ? 1 : 0;
    writing.guesses_gave += is_right ? 1 : 0;
    if (!take(part.writing, chosen[i]) || !is_right) {
      return;
    }
    ++writing.there;
  }
}

void GenerationQueue::step(std::vector<Part> parts) {
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
      if (writing->done != nullptr) {
        writing->done(std::unexpected(chosen.error()));
      }
    }
    return;
  }
  const StepSize size = size_of(parts);
  shortest_first_ = size.prompts > 0 ? !shortest_first_ : shortest_first_;
  std::span<const ChosenToken> rest = *chosen;
  for (size_t i = 0; i < parts.size(); ++i) {
    const size_t wishes = request.steps[i].wishes.size();
    take(parts[i], rest.first(wishes));
    rest = rest.subspan(wishes);
  }
  if (size.prompts == 0) {
    cost_.note(size.written, took_ms);
  }
  const std::lock_guard lock(mutex_);
  note_times(took_ms, size);
}

}  // namespace mynah
