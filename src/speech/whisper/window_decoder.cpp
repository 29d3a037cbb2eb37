#include "speech/whisper/window_decoder.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <numeric>

#include "models/whisper/alignment.h"
#include "ops/ops.h"
#include "speech/decode_quality.h"
#include "speech/whisper/shorter_windows.h"
#include "tensor/device_error.h"

namespace mynah {
namespace {

// Nobody says more than this: a draft that goes on repeats itself.
constexpr double kDraftTokens_per_s = 10;
constexpr int kLeastDraftTokens = 16;
// A draft's words are said for good without what comes behind them: more beams than a whole text
// needs find them. Measured with tiny.en on 2,147 words of English (bench/live.py --pace 0): 253
// word errors with one, 240 with three, 232 with five, 241 with eight.
constexpr int kDraftBeams = 5;

// Windows of a short recording, whose peak of memory counts more than a little time.
constexpr size_t kFewWindows = 2;

// Windows that are heard again in full: what the decoder reads of each takes twice as much memory
// as of the usual one, and they are few.
constexpr size_t kFullWindowsTogether = 2;

// Lists of words that are kept from one batch to the next.
constexpr size_t kMostKnownWords = 4;

// Adds the time between its making and its end.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum_ms) : sum_ms_(sum_ms) {}

  ~Stopwatch() {
    sum_ms_ += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
                   .count();
  }

  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& sum_ms_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Mel frames that the encoder computes for a task.
int64_t frames_of(const WindowTask& task, AudioContext context, const whisper::Model& model) {
  return context == AudioContext::Full
             ? model.config().window_frames()
             : model.frames_before_silence(static_cast<int64_t>(task.samples.size()));
}

// Its text begins with those segments, as far as there is room for more.
void begin_with(std::span<const Segment> segments, int max_new_tokens,
                whisper::GenerateRequest& request) {
  const auto add = [&](int32_t token, float log_probability) {
    if (static_cast<int>(request.begun.size()) + 1 < max_new_tokens) {
      request.begun.push_back(token);
      request.begun_log_probabilities.push_back(log_probability);
    }
  };
  for (const Segment& segment : segments) {
    if (segment.opening) {
      add(segment.opening->token, segment.opening->log_probability);
    }
    for (size_t i = 0; i < segment.tokens.size(); ++i) {
      add(segment.tokens[i], segment.token_log_probabilities[i]);
    }
    if (segment.closing) {
      add(segment.closing->token, segment.closing->log_probability);
    }
  }
}

// Throws DeviceError where a state is no number. Nothing behind would show it: attention passes
// over what is none, and a text comes of it all the same.
void check_states(Backend& backend, const Tensor& states) {
  const std::vector<float> mean =
      ops::to_host(backend, ops::mean(backend, ops::mean(backend, states)));
  if (!std::isfinite(mean.front())) {
    throw DeviceError({ErrorCode::Device,
                       "stt.encoder computed numbers that are none (NaN): the device, or the "
                       "model's file, is damaged"});
  }
}

}  // namespace

Result<std::unique_ptr<WhisperWindowDecoder>> WhisperWindowDecoder::create(
    std::shared_ptr<const whisper::Model> model, const DecodingOptions& options) {
  MYNAH_TRY(auto made, whisper::TokenRules::create(model->tokenizer(), rules_of(options),
                                                   model->decoder_backend()));
  return std::unique_ptr<WhisperWindowDecoder>(
      new WhisperWindowDecoder(std::move(model), options, std::move(made)));
}

WhisperWindowDecoder::Heard WhisperWindowDecoder::hear(std::span<const WindowTask> tasks,
                                                       std::vector<size_t> which,
                                                       AudioContext context,
                                                       const std::stop_token& stop) {
  const whisper::SilenceCache* const silence =
      context == AudioContext::Cached ? &model_->silence() : nullptr;
  Heard heard{{.layers = {}, .lengths = {}, .silence = silence}, std::move(which)};
  // The encoder takes as many windows as one full window has frames: what its layers hand on then
  // stays in the processor's caches, and its memory does not grow with the batch.
  for (size_t first = 0; first < heard.tasks.size() && !stop.stop_requested();) {
    std::vector<whisper::AudioWindow> windows;
    int64_t total = 0;
    for (; first < heard.tasks.size(); ++first) {
      const WindowTask& task = tasks[heard.tasks[first]];
      const int64_t frames = frames_of(task, context, *model_);
      if (!windows.empty() && total + frames > model_->config().window_frames()) {
        break;
      }
      windows.push_back({task.samples, frames});
      total += frames;
    }
    Lengths frames;
    Tensor mel;
    {
      const Stopwatch watch(timings_.mel_ms);
      mel = model_->log_mel(windows, frames);
    }
    const Stopwatch watch(timings_.encoder_ms);
    const Tensor states =
        model_->encoder().forward(mel, frames, whisper::encoder_tail(silence), nullptr, stop);
    if (!stop.stop_requested()) {
      check_states(model_->encoder_backend(), states);
    }
    heard.cross.append(model_->cross_cache(states, frames));
  }
  return heard;
}

// A window that fills the model's context has been heard in full either way.
bool WhisperWindowDecoder::in_part(const Heard& heard, size_t utterance) const {
  return heard.cross.silence != nullptr &&
         heard.cross.lengths[static_cast<int64_t>(utterance)].length < model_->config().n_audio_ctx;
}

void WhisperWindowDecoder::find_languages(const Heard& heard, std::span<const WindowTask> tasks,
                                          std::span<WindowText> texts) {
  for (size_t i = 0; i < tasks.size(); ++i) {
    texts[i].language_token = model_->tokenizer().language_token(tasks[i].language).value_or(-1);
  }
  const bool unknown =
      std::ranges::any_of(heard.tasks, [&](size_t i) { return texts[i].language_token < 0; });
  if (!unknown || !model_->config().multilingual()) {
    return;
  }
  const std::vector<whisper::LanguageGuess> guesses = model_->detect_language(heard.cross);
  for (size_t u = 0; u < heard.tasks.size(); ++u) {
    const size_t i = heard.tasks[u];
    if (texts[i].language_token < 0) {
      texts[i].language_token = guesses[u].token;
      texts[i].language_probability = guesses[u].probability;
    }
  }
}

std::vector<int32_t> WhisperWindowDecoder::sot_sequence(int32_t language_token) const {
  return model_->tokenizer().sot_sequence(language_token, options_.task == Task::Translate);
}

// <|startofprev|> previous text <|startoftranscript|> language task <|notimestamps|>
std::vector<int32_t> WhisperWindowDecoder::prompt_of(const WindowTask& task, const WindowText& text,
                                                     int64_t& sot_index) const {
  const WhisperSpecialTokens& special = model_->tokenizer().special();
  std::vector<int32_t> told;
  for (const std::string& prompted : task.prompts) {
    std::ranges::copy(model_->tokenizer().encode(" " + prompted), std::back_inserter(told));
  }
  told.insert(told.end(), task.previous.begin(), task.previous.end());
  std::vector<int32_t> prompt;
  const int64_t limit = std::clamp<int64_t>(options_.whisper.max_context_tokens, 0,
                                            model_->config().n_text_ctx / 2 - 1);
  const size_t used = std::min(told.size(), static_cast<size_t>(limit));
  if (used > 0) {
    prompt.push_back(special.sot_prev);
    prompt.insert(prompt.end(), told.end() - static_cast<ptrdiff_t>(used), told.end());
  }
  sot_index = static_cast<int64_t>(prompt.size());
  const std::vector<int32_t> start = sot_sequence(text.language_token);
  prompt.insert(prompt.end(), start.begin(), start.end());
  if (!options_.timestamps) {
    prompt.push_back(special.no_timestamps);
  }
  return prompt;
}

// One list of thousands of words is for all windows of a recording, and of a server's most.
const whisper::ContextGraph* WhisperWindowDecoder::words_of(const WindowTask& task) {
  if (task.hotwords.empty()) {
    return nullptr;
  }
  auto known = std::ranges::find(known_words_, task.hotwords, &KnownWords::words);
  if (known == known_words_.end()) {
    known_words_.insert(known_words_.begin(),
                        {.words = task.hotwords,
                         .graph = std::make_unique<const whisper::ContextGraph>(
                             model_->tokenizer(), task.hotwords, rules_.suppressed())});
    known = known_words_.begin();
  }
  return known->graph->empty() ? nullptr : known->graph.get();
}

DecodeTry WhisperWindowDecoder::at_temperature(float temperature) const {
  const int64_t most = model_->config().n_text_ctx / 2;
  return {.temperature = temperature,
          .beam_size = options_.whisper.beam_size,
          .max_new_tokens =
              static_cast<int>(std::clamp<int64_t>(options_.whisper.max_new_tokens, 1, most))};
}

DecodeTry WhisperWindowDecoder::first_try() const {
  return at_temperature(
      options_.whisper.temperatures.empty() ? 0.0F : options_.whisper.temperatures.front());
}

std::vector<size_t> WhisperWindowDecoder::generate(
    const Heard& heard, std::span<const size_t> utterances, std::span<const WindowTask> tasks,
    const DecodeTry& how, std::span<WindowText> texts, const std::stop_token& stop) {
  const Stopwatch watch(timings_.decoder_ms);
  std::vector<whisper::GenerateRequest> requests;
  for (const size_t u : utterances) {
    const size_t i = heard.tasks[u];
    whisper::GenerateRequest request;
    request.utterance = static_cast<int64_t>(u);
    request.prompt = prompt_of(tasks[i], texts[i], request.sot_index);
    begin_with(tasks[i].begun, how.max_new_tokens, request);
    request.words = words_of(tasks[i]);
    request.stop = tasks[i].stop;
    request.seed = tasks[i].seed ^ static_cast<uint64_t>(how.temperature * 1000.0F);
    requests.push_back(std::move(request));
  }
  const whisper::GenerateOptions options{
      .sampling = {.temperature = how.temperature,
                   .repetition_penalty = options_.whisper.repetition_penalty,
                   .no_repeat_ngram_size = options_.whisper.no_repeat_ngram_size},
      .beam_size = how.beam_size,
      .best_of = options_.whisper.best_of,
      .patience = options_.whisper.patience,
      .length_penalty = options_.whisper.length_penalty,
      .max_new_tokens = how.max_new_tokens};
  whisper::Generator generator = model_->generator(rules_);
  if (requests.size() > kFewWindows) {
    generator.after_step = {};
  }
  std::vector<whisper::Generated> results = generator.run(requests, options, heard.cross, stop);
  if (known_words_.size() > kMostKnownWords) {
    known_words_.resize(kMostKnownWords);
  }
  std::vector<size_t> doubtful;
  for (size_t r = 0; r < utterances.size(); ++r) {
    const size_t i = heard.tasks[utterances[r]];
    if (tasks[i].stop.stop_requested()) {
      continue;
    }
    WindowText& text = texts[i];
    text.generated = std::move(results[r]);
    text.temperature = how.temperature;
    const std::string words = model_->tokenizer().decode(text.generated.tokens);
    text.compression_ratio = compression_ratio(words);
    text.cut = cut_into_segments(model_->tokenizer(), text.generated.tokens, tasks[i].duration_s(),
                                 tasks[i].alone ? LastWords::Kept : LastWords::HeardAgain);
    text.silent = tasks[i].begun.empty() && silent(text);
    const bool impossible = !text.silent && too_much_said(words, tasks[i].duration_s());
    if (impossible || failed(text, tasks[i]) ||
        (in_part(heard, utterances[r]) && repeats_a_sentence(text))) {
      doubtful.push_back(utterances[r]);
    }
  }
  return doubtful;
}

void WhisperWindowDecoder::fall_back(const Heard& heard, std::vector<size_t> utterances,
                                     std::span<const WindowTask> tasks, std::span<WindowText> texts,
                                     const std::stop_token& stop) {
  // Samples at a temperature are more than the beams before them: so many utterances at a time that
  // they need no more memory.
  const auto beams = static_cast<size_t>(std::max(1, options_.whisper.beam_size)) * texts.size();
  const auto samples = static_cast<size_t>(std::max(1, options_.whisper.best_of));
  const size_t together = std::max<size_t>(1, beams / samples);
  while (!utterances.empty() && !stop.stop_requested()) {
    const size_t count = std::min(together, utterances.size());
    fall_back_together(heard,
                       {utterances.begin(), utterances.begin() + static_cast<ptrdiff_t>(count)},
                       tasks, texts, stop);
    utterances.erase(utterances.begin(), utterances.begin() + static_cast<ptrdiff_t>(count));
  }
}

void WhisperWindowDecoder::fall_back_together(const Heard& heard, std::vector<size_t> utterances,
                                              std::span<const WindowTask> tasks,
                                              std::span<WindowText> texts,
                                              const std::stop_token& stop) {
  std::vector<WindowText> best(texts.begin(), texts.end());
  for (size_t t = 1;
       t < options_.whisper.temperatures.size() && !utterances.empty() && !stop.stop_requested();
       ++t) {
    utterances = generate(heard, utterances, tasks,
                          at_temperature(options_.whisper.temperatures[t]), texts, stop);
    for (const size_t u : utterances) {
      const size_t i = heard.tasks[u];
      if (better(texts[i], best[i], tasks[i])) {
        best[i] = texts[i];
      }
    }
  }
  for (const size_t u : utterances) {
    texts[heard.tasks[u]] = best[heard.tasks[u]];
  }
}

void WhisperWindowDecoder::find_words(const Heard& heard, std::span<const size_t> utterances,
                                      std::span<const WindowTask> tasks,
                                      std::span<WindowText> texts) {
  const Stopwatch watch(timings_.words_ms);
  std::vector<whisper::AlignmentRequest> requests;
  std::vector<size_t> which;
  for (const size_t u : utterances) {
    const size_t i = heard.tasks[u];
    const WindowText& text = texts[i];
    // 20 ms a position.
    const auto own =
        (static_cast<int64_t>(tasks[i].samples.size()) + 2 * kMelHop - 1) / (2 * kMelHop);
    whisper::AlignmentRequest request{
        .utterance = static_cast<int64_t>(u),
        .positions = std::min(own, heard.cross.lengths[static_cast<int64_t>(u)].length),
        .sot_sequence = sot_sequence(text.language_token),
        .text_tokens = {},
        .language = language_code(text.language_token)};
    for (const WindowSegment& segment : text.cut.segments) {
      request.text_tokens.insert(request.text_tokens.end(), segment.tokens.begin(),
                                 segment.tokens.end());
    }
    if (!text.silent && !request.text_tokens.empty() && !tasks[i].stop.stop_requested()) {
      requests.push_back(std::move(request));
      which.push_back(i);
    }
  }
  auto timings = whisper::align_words(*model_, heard.cross, requests);
  for (size_t r = 0; r < timings.size(); ++r) {
    for (whisper::WordTiming& timing : timings[r]) {
      texts[which[r]].words.push_back({.text = std::move(timing.word),
                                       .tokens = std::move(timing.tokens),
                                       .start_s = timing.start_s,
                                       .end_s = timing.end_s,
                                       .probability = timing.probability});
    }
  }
}

std::string WhisperWindowDecoder::language_code(int32_t language_token) const {
  return language_token < 0 ? "en" : std::string(model_->tokenizer().language_code(language_token));
}

// Encoder and decoder take turns: what one leaves is not held while the other works, where a short
// recording's peak is at stake. Many windows need more for their own states, and getting each page
// again would cost 5 percent of their time.
void WhisperWindowDecoder::release_between_stages(size_t windows) const {
  if (windows <= kFewWindows) {
    model_->release_idle_memory();
  }
}

Result<std::vector<HeardWindow>> WhisperWindowDecoder::decode(std::span<const WindowTask> tasks,
                                                              const std::stop_token& stop) {
  return or_device_error([&] {
    std::vector<WindowText> texts = write_down(tasks, stop);
    std::vector<HeardWindow> heard;
    heard.reserve(texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      const auto shorter =
          shorter_window(model_->tokenizer(), options_.whisper, tasks[i].samples, texts[i]);
      heard.push_back(heard_window(model_->tokenizer(), std::move(texts[i])));
      heard.back().shorter = shorter;
    }
    return heard;
  });
}

std::vector<WindowText> WhisperWindowDecoder::write_down(std::span<const WindowTask> tasks,
                                                         const std::stop_token& stop) {
  std::vector<WindowText> texts(tasks.size());
  std::vector<size_t> all(tasks.size());
  std::iota(all.begin(), all.end(), size_t{0});
  release_between_stages(tasks.size());
  Heard heard = hear(tasks, all, options_.whisper.context, stop);
  release_between_stages(tasks.size());
  if (stop.stop_requested()) {
    return texts;
  }
  find_languages(heard, tasks, texts);
  std::vector<size_t> doubtful = generate(heard, all, tasks, first_try(), texts, stop);
  std::vector<size_t> partly_heard;
  std::erase_if(doubtful, [&](size_t u) {
    const bool part = in_part(heard, u);
    if (part) {
      partly_heard.push_back(heard.tasks[u]);
    }
    return part;
  });
  fall_back(heard, std::move(doubtful), tasks, texts, stop);
  std::erase_if(all,
                [&](size_t i) { return std::ranges::find(partly_heard, i) != partly_heard.end(); });
  finish(heard, all, tasks, texts, stop);
  heard = {};  // what is heard in full takes its place
  while (!partly_heard.empty() && !stop.stop_requested()) {
    const size_t count = std::min(partly_heard.size(), kFullWindowsTogether);
    hear_in_full({partly_heard.end() - static_cast<ptrdiff_t>(count), partly_heard.end()}, tasks,
                 texts, stop);
    partly_heard.resize(partly_heard.size() - count);
  }
  return texts;
}

void WhisperWindowDecoder::hear_in_full(std::vector<size_t> which,
                                        std::span<const WindowTask> tasks,
                                        std::span<WindowText> texts, const std::stop_token& stop) {
  release_between_stages(tasks.size());
  const Heard full = hear(tasks, std::move(which), AudioContext::Full, stop);
  release_between_stages(tasks.size());
  if (stop.stop_requested()) {
    return;  // not all of them were heard
  }
  std::vector<size_t> again(full.tasks.size());
  std::iota(again.begin(), again.end(), size_t{0});
  for (const size_t i : full.tasks) {
    texts[i].decoded_again = true;
  }
  fall_back(full, generate(full, again, tasks, first_try(), texts, stop), tasks, texts, stop);
  finish(full, again, tasks, texts, stop);
}

// What is left to be done of texts that are not tried again.
void WhisperWindowDecoder::finish(const Heard& heard, std::span<const size_t> utterances,
                                  std::span<const WindowTask> tasks, std::span<WindowText> texts,
                                  const std::stop_token& stop) {
  for (const size_t u : utterances) {
    const size_t i = heard.tasks[u];
    texts[i].silent =
        texts[i].silent || (!tasks[i].surely_speech && tasks[i].begun.empty() && nobodys(texts[i]));
    cut_loop(texts[i], tasks[i]);
  }
  if (options_.words && !stop.stop_requested()) {
    find_words(heard, utterances, tasks, texts);
  }
}

Result<HeardWindow> WhisperWindowDecoder::draft(const WindowTask& task,
                                                const std::stop_token& stop) {
  return or_device_error(
      [&] { return heard_window(model_->tokenizer(), write_draft(task, stop)); });
}

WindowText WhisperWindowDecoder::write_draft(const WindowTask& task, const std::stop_token& stop) {
  const auto tasks = std::span(&task, 1);
  std::vector<WindowText> texts(1);
  const Heard heard = hear(tasks, {0}, options_.whisper.context, stop);
  if (stop.stop_requested()) {
    return std::move(texts.front());
  }
  find_languages(heard, tasks, texts);
  DecodeTry how = at_temperature(0);
  how.beam_size = how.beam_size > 1 ? std::max(kDraftBeams, how.beam_size) : 1;
  how.max_new_tokens =
      std::min(how.max_new_tokens,
               kLeastDraftTokens + static_cast<int>(task.duration_s() * kDraftTokens_per_s));
  constexpr size_t kOnly = 0;
  const bool doubtful = !generate(heard, {&kOnly, 1}, tasks, how, texts, stop).empty();
  texts.front().silent =
      texts.front().silent || doubtful || (!task.surely_speech && nobodys(texts.front()));
  return std::move(texts.front());
}

}  // namespace mynah
