// WindowDecoder: text of a batch of windows of at most 30 seconds, decoded again where it is in
// doubt.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "models/whisper/alignment.h"
#include "models/whisper/model.h"
#include "speech/recognizer.h"
#include "speech/window_segments.h"

namespace mynah {

// One window to be written down.
struct WindowTask {
  std::span<const float> samples;  // 16 kHz mono, at most 30 seconds
  std::vector<int32_t> previous;   // tokens of text before it: prompt; may be empty
  int32_t language_token = -1;     // -1: to be found out
  uint64_t seed = 0;               // of samples at temperature > 0
  bool surely_speech = true;       // false: text that is in doubt itself is nobody's
};

// How a batch is tried.
struct DecodeTry {
  float temperature = 0;
  int beam_size = 1;
  int max_new_tokens = 224;
};

struct WindowText {
  whisper::Generated generated;
  WindowSegments cut;
  std::vector<whisper::WordTiming> words;  // of the window, where asked for
  int32_t language_token = -1;             // -1: English model
  float language_probability = 1;
  float temperature = 0;
  float compression_ratio = 0;
  bool silent = false;         // nobody speaks: there is no text
  bool decoded_again = false;  // with full context, because the first text was in doubt
};

// A window's text as segments of a recording in which the window begins at offset_s; without words
// and numbers.
[[nodiscard]] std::vector<Segment> segments_of(const WhisperTokenizer& tokenizer,
                                               const WindowText& text, double offset_s);

// Milliseconds of each stage.
struct WindowTimings {
  double mel_ms = 0;
  double encoder_ms = 0;
  double decoder_ms = 0;
  double words_ms = 0;
};

// Options and rules of one run over one model. One thread at a time.
class WindowDecoder {
 public:
  static Result<WindowDecoder> create(std::shared_ptr<const whisper::Model> model,
                                      const RecognizerOptions& options);

  // One text a task, in their order; a text depends on its own task alone. Once stop is requested
  // it ends between two layers or two tokens, and the texts mean nothing.
  [[nodiscard]] std::vector<WindowText> decode(std::span<const WindowTask> tasks,
                                               const std::stop_token& stop);

  // The first text that comes to mind: greedy, not tried again, without word times. For what is
  // shown while it is still being said; silent where it is in doubt.
  [[nodiscard]] WindowText draft(const WindowTask& task, const std::stop_token& stop);

  [[nodiscard]] const WindowTimings& timings() const { return timings_; }

  [[nodiscard]] const whisper::Model& model() const { return *model_; }

  [[nodiscard]] const RecognizerOptions& options() const { return options_; }

 private:
  // A batch of windows as the decoder hears it.
  struct Heard {
    whisper::CrossCache cross;
    std::vector<size_t> tasks;  // of each utterance
  };

  WindowDecoder(std::shared_ptr<const whisper::Model> model, const RecognizerOptions& options,
                whisper::TokenRules rules)
      : model_(std::move(model)), options_(options), rules_(std::move(rules)) {}

  [[nodiscard]] Heard hear(std::span<const WindowTask> tasks, std::vector<size_t> which,
                           AudioContext context, const std::stop_token& stop);
  // Whether an utterance was heard without all of the window around it.
  [[nodiscard]] bool in_part(const Heard& heard, size_t utterance) const;
  void release_between_stages(size_t windows) const;
  void find_languages(const Heard& heard, std::span<const WindowTask> tasks,
                      std::span<WindowText> texts);
  // Decodes some utterances of `heard` once; returns those whose text is in doubt.
  [[nodiscard]] std::vector<size_t> generate(const Heard& heard, std::span<const size_t> utterances,
                                             std::span<const WindowTask> tasks,
                                             const DecodeTry& how, std::span<WindowText> texts,
                                             const std::stop_token& stop);
  // A try as the options say.
  [[nodiscard]] DecodeTry at_temperature(float temperature) const;
  // The other temperatures, for utterances in doubt: the first text that is not, else the
  // likeliest.
  void fall_back(const Heard& heard, std::vector<size_t> utterances,
                 std::span<const WindowTask> tasks, std::span<WindowText> texts,
                 const std::stop_token& stop);
  void find_words(const Heard& heard, std::span<const size_t> utterances,
                  std::span<const WindowTask> tasks, std::span<WindowText> texts);
  [[nodiscard]] bool better(const WindowText& text, const WindowText& than) const;
  [[nodiscard]] std::vector<int32_t> prompt_of(const WindowTask& task, const WindowText& text,
                                               int64_t& sot_index) const;
  [[nodiscard]] std::vector<int32_t> sot_sequence(int32_t language_token) const;
  [[nodiscard]] std::string language_code(int32_t language_token) const;
  [[nodiscard]] bool failed(const WindowText& text) const;
  [[nodiscard]] bool silent(const WindowText& text) const;
  [[nodiscard]] bool nobodys(const WindowText& text) const;
  [[nodiscard]] bool repeats_a_sentence(const WindowText& text) const;

  std::shared_ptr<const whisper::Model> model_;
  RecognizerOptions options_;
  whisper::TokenRules rules_;
  WindowTimings timings_;
};

}  // namespace mynah
