// How far WhisperWindowDecoder trusts its own texts, and what it does of those that it does not.
#include <algorithm>

#include "speech/decode_quality.h"
#include "speech/whisper/shorter_windows.h"
#include "speech/whisper/window_decoder.h"

namespace mynah {

bool WhisperWindowDecoder::silent(const WindowText& text) const {
  if (!options_.whisper.no_speech_threshold ||
      text.generated.no_speech_probability <= *options_.whisper.no_speech_threshold) {
    return false;
  }
  return !options_.whisper.log_probability_threshold ||
         text.generated.mean_log_probability() <= *options_.whisper.log_probability_threshold;
}

// Text that a model invents over noise and music: it has no letter in it, the model takes the sound
// for no speech, or does not believe what it writes, or half of both. On the nine noise recordings,
// cut in 18 ways, tiny.en's inventions have a doubt of 0.64 and more or are less likely than -1.2;
// of the text of the 96 English clips, cut in four ways, 0.62 is the most and -0.99 the least that
// was said, and -1.06 the least in noise as loud as speech.
bool WhisperWindowDecoder::nobodys(const WindowText& text) const {
  constexpr float kLikelihoodWeight = 0.3F;
  constexpr float kMostDoubt = 0.63F;
  constexpr float kLeastLikelihood = -1.15F;
  const float likelihood = text.generated.mean_log_probability();
  return letters_said(model_->tokenizer().decode(text.generated.tokens)) == 0 ||
         likelihood < kLeastLikelihood ||
         text.generated.no_speech_probability - kLikelihoodWeight * likelihood > kMostDoubt;
}

// Whether the text is a loop: it repeats itself more than text does. In the few seconds of a window
// that is not cut any more (shorter_windows.h) people do that, too, as fast as people speak.
bool WhisperWindowDecoder::loops(const WindowText& text, const WindowTask& task) const {
  if (options_.whisper.entropy_threshold) {
    constexpr size_t kEnough = 32;
    return token_entropy(text.generated.tokens) < *options_.whisper.entropy_threshold &&
           text.generated.tokens.size() > kEnough;
  }
  if (!options_.whisper.compression_ratio_threshold ||
      text.compression_ratio <= *options_.whisper.compression_ratio_threshold) {
    return false;
  }
  const double seconds = task.duration_s();
  return seconds > kShortWindow_s ||
         letters_said(model_->tokenizer().decode(text.generated.tokens)) >
             kUsualLetters_per_s * seconds;
}

bool WhisperWindowDecoder::failed(const WindowText& text, const WindowTask& task) const {
  const bool unlikely =
      options_.whisper.log_probability_threshold &&
      text.generated.mean_log_probability() < *options_.whisper.log_probability_threshold;
  return (loops(text, task) || unlikely) && !silent(text);
}

// The same three words or more, one segment after the other.
bool WhisperWindowDecoder::repeats_a_sentence(const WindowText& text) const {
  constexpr size_t kFewTokens = 3;
  for (size_t i = 1; i < text.cut.segments.size(); ++i) {
    const WindowSegment& segment = text.cut.segments[i];
    if (segment.tokens.size() >= kFewTokens && segment.tokens == text.cut.segments[i - 1].tokens) {
      return true;
    }
  }
  return false;
}

void WhisperWindowDecoder::cut_loop(WindowText& text, const WindowTask& task) const {
  const double seconds = task.duration_s();
  const WhisperTokenizer& tokenizer = model_->tokenizer();
  if (!too_much_said(tokenizer.decode(text.generated.tokens), seconds)) {
    return;
  }
  double room = kUsualLetters_per_s * seconds;
  for (WindowSegment& segment : text.cut.segments) {
    size_t kept = 0;
    for (; kept < segment.tokens.size() && room > 0; ++kept) {
      room -= letters_said(tokenizer.decode({&segment.tokens[kept], 1}));
    }
    segment.tokens.resize(kept);
    segment.token_indices.resize(kept);
  }
  std::erase_if(text.cut.segments, [](const WindowSegment& s) { return s.tokens.empty(); });
}

// Text that can have been said before text that cannot, text that does not repeat itself before
// text that does, then the likelier one.
bool WhisperWindowDecoder::better(const WindowText& text, const WindowText& than,
                                  const WindowTask& task) const {
  const auto impossible = [&](const WindowText& t) {
    return too_much_said(model_->tokenizer().decode(t.generated.tokens), task.duration_s());
  };
  if (impossible(text) != impossible(than)) {
    return impossible(than);
  }
  if (loops(text, task) != loops(than, task)) {
    return loops(than, task);
  }
  return text.generated.mean_log_probability() > than.generated.mean_log_probability();
}

}  // namespace mynah
