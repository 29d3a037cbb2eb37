#include "place/kinds/windows/windows_questions.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "place/wire/possible.h"
#include "speech/hotwords.h"

namespace mynah::place {
namespace {

constexpr size_t kMostText = 20000;

std::unexpected<Error> refuse(const char* what) {
  return fail(ErrorCode::InvalidInput, fmt::format("a question with {}", what));
}

bool are_texts(const std::vector<std::string>& texts) {
  size_t bytes = 0;
  for (const std::string& text : texts) {
    bytes += text.size();
  }
  return bytes <= kMostText;
}

bool are_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

bool is_count(int value, int least, int most) {
  return value >= least && value <= most;
}

// What a text costs grows with these: no more than a user of this mynah could ask of it.
Status check_options(const DecodingOptions& options) {
  constexpr int kMostSequences = 100;
  constexpr int kMostTokens = 4096;
  constexpr size_t kMostTries = 32;
  const WhisperOptions& whisper = options.whisper;
  const auto is_threshold = [](const std::optional<float>& value) {
    return !value || std::isfinite(*value);
  };
  if (options.language.size() > kMostText || whisper.suppress_regex.size() > kMostText ||
      whisper.suppress_tokens.size() > kMostText) {
    return refuse("options that are too long");
  }
  if (!is_count(whisper.beam_size, 1, kMostSequences) ||
      !is_count(whisper.best_of, 1, kMostSequences) ||
      !is_count(whisper.no_repeat_ngram_size, 0, kMostTokens) ||
      !is_count(whisper.max_context_tokens, -1, kMostTokens) ||
      !is_count(whisper.max_new_tokens, 1, kMostTokens)) {
    return refuse("counts that nobody asks for");
  }
  if (whisper.temperatures.empty() || whisper.temperatures.size() > kMostTries ||
      !std::ranges::all_of(whisper.temperatures,
                           [](float value) { return is_within(value, 0, 10); }) ||
      !is_within(whisper.patience, 1e-3, 100) || !is_within(whisper.length_penalty, -100, 100) ||
      !is_within(whisper.repetition_penalty, 1e-3, 100) ||
      !is_within(whisper.max_initial_timestamp_s, -1, 1e6) ||
      !is_threshold(whisper.compression_ratio_threshold) ||
      !is_threshold(whisper.log_probability_threshold) ||
      !is_threshold(whisper.no_speech_threshold) || !is_threshold(whisper.entropy_threshold)) {
    return refuse("numbers that nobody asks for");
  }
  return {};
}

Status check_task(const WindowTask& task, const HearingFacts& facts) {
  const auto most = static_cast<size_t>(samples_of(facts.longest_window_s));
  const auto is_token = [&](int32_t token) { return token >= 0 && token < facts.sizes.n_vocab; };
  const auto room = static_cast<size_t>(std::max<int64_t>(0, facts.sizes.n_text_ctx));
  if (task.samples.size() > most || !are_finite(task.samples)) {
    return refuse("a window of samples that is none");
  }
  MYNAH_TRY_STATUS(check_hotwords(task.hotwords));
  if (!are_texts(task.prompts) || task.previous.size() > kMostText ||
      !std::ranges::all_of(task.previous, is_token)) {
    return refuse("a prompt that is none");
  }
  if (!task.language.empty() &&
      std::ranges::find(facts.languages, task.language) == facts.languages.end()) {
    return refuse("a language that the model does not know");
  }
  // What a draft of this very window could have been.
  HeardWindow begun;
  begun.segments = task.begun;
  size_t tokens = 0;
  for (const Segment& segment : task.begun) {
    tokens += segment.tokens.size();
  }
  if (tokens > room || task.begun.size() > kMostText ||
      !is_possible(begun, facts, task.samples.size())) {
    return refuse("a beginning that no model wrote");
  }
  return {};
}

}  // namespace

Status check_question(const WindowsQuestion& question, const HearingFacts& facts) {
  if (question.tasks.size() > kMostTasks) {
    return refuse("too many windows");
  }
  MYNAH_TRY_STATUS(check_options(question.options));
  for (const WindowTask& task : question.tasks) {
    MYNAH_TRY_STATUS(check_task(task, facts));
  }
  return {};
}

}  // namespace mynah::place
