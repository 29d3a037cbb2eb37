// WindowModel: text of windows of at most 30 seconds, wherever it is computed. What recordings and
// live sessions are heard with.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "models/whisper/alignment.h"
#include "models/whisper/generate.h"
#include "models/whisper/mel_filters.h"
#include "models/whisper/model_header.h"
#include "speech/probe.h"
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
  size_t job = 0;                  // whose window it is, and where in its recording it begins:
  double begin_s = 0;              // for what is told of it, not for the text

  [[nodiscard]] double duration_s() const {
    return static_cast<double>(samples.size()) / whisper::kSampleRate_hz;
  }
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

// Keeps a chunk's segments to where its detector heard speech, in seconds of the recording: one
// that begins in the silence before it, or ends in that behind it, is cut to it, and so are their
// words. What is all silence is left as it is.
void keep_to_speech(std::span<Segment> segments, double begin_s, double end_s);

// Milliseconds of each stage.
struct WindowTimings {
  double mel_ms = 0;
  double encoder_ms = 0;
  double decoder_ms = 0;
  double words_ms = 0;

  // What was spent since then.
  [[nodiscard]] WindowTimings since(const WindowTimings& before) const {
    return {.mel_ms = mel_ms - before.mel_ms,
            .encoder_ms = encoder_ms - before.encoder_ms,
            .decoder_ms = decoder_ms - before.decoder_ms,
            .words_ms = words_ms - before.words_ms};
  }

  void add(const WindowTimings& spent, double share = 1) {
    mel_ms += spent.mel_ms * share;
    encoder_ms += spent.encoder_ms * share;
    decoder_ms += spent.decoder_ms * share;
    words_ms += spent.words_ms * share;
  }
};

// "cpu", "cuda:0".
struct WindowDevices {
  std::string encoder;
  std::string decoder;

  // One name; two where they are apart: "cuda:0,cpu".
  [[nodiscard]] std::string text() const {
    return encoder == decoder ? encoder : encoder + "," + decoder;
  }
};

// Options and rules of one run over one model. One thread at a time.
class WindowDecoder {
 public:
  virtual ~WindowDecoder() = default;

  // One text a task, in their order; a text depends on its own task alone. Once stop is requested
  // it ends between two layers or two tokens, and the texts mean nothing. Throws DeviceError.
  [[nodiscard]] virtual std::vector<WindowText> decode(std::span<const WindowTask> tasks,
                                                       const std::stop_token& stop) = 0;

  // The first text that comes to mind: greedy, not tried again, without word times. For what is
  // shown while it is still being said; silent where it is in doubt.
  [[nodiscard]] virtual WindowText draft(const WindowTask& task, const std::stop_token& stop) = 0;

  // What was spent so far.
  [[nodiscard]] virtual const WindowTimings& timings() const = 0;
};

// Const after load; shared by all who listen.
class WindowModel {
 public:
  virtual ~WindowModel() = default;

  [[nodiscard]] virtual const whisper::ModelHeader& header() const = 0;

  // Options that cannot be followed are refused. They are copied.
  [[nodiscard]] virtual Result<std::unique_ptr<WindowDecoder>> decoder(
      const RecognizerOptions& options) const = 0;

  // Computes a short piece of sound, by all stages, always the same.
  [[nodiscard]] virtual Result<Probe> probe() const = 0;

  // Hears one full window with the default options, as far as one token after the other, and tells
  // what a device must have room for. Throws DeviceError. Unsupported where it computes in another
  // process.
  [[nodiscard]] virtual Result<WindowMemory> hear_full_window() const {
    return fail(ErrorCode::Unsupported, "the memory of a model in another process is not measured");
  }

  // Where it computes now.
  [[nodiscard]] virtual WindowDevices devices() const = 0;

  // Into how many parts long work is best shared out (Backend::parts()), each with a decoder of its
  // own.
  [[nodiscard]] virtual int parts() const { return 1; }

  // As Backend::run_parts().
  virtual void run_parts(int parts, FunctionRef<void(int)> fn) const {
    for (int i = 0; i < parts; ++i) {
      fn(i);
    }
  }
};

// A Whisper file (see load_whisper()) on a device of this process.
Result<std::shared_ptr<const WindowModel>> load_whisper_windows(const std::string& path,
                                                                const WhisperLoadOptions& options,
                                                                Backend& backend);

// What is known of the file without its weights.
Result<whisper::ModelHeader> read_whisper_header(const std::string& path);

// `voice` may be null.
std::shared_ptr<const Recognizer> make_recognizer(std::shared_ptr<const WindowModel> model,
                                                  std::shared_ptr<const VoiceDetector> voice);

}  // namespace mynah
