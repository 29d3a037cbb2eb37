// Synthesizer: text to speech. Text comes in whole or in pieces; speech goes out clause by clause.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "speech/voice_model.h"
#include "tensor/backend.h"
#include "text/phonemes/phonemizer.h"
#include "text/spoken/spoken_text.h"

namespace mynah {

// What the text is.
enum class TextKind : uint8_t {
  Plain,     // words as people write them, in which marks may stand (text/spoken/inline_marks.h)
  Markdown,  // the same with Markdown around it, as language models write; HTML
  Html,
  Ssml,     // SSML 1.1 (text/spoken/ssml.h), read as a whole
  Phonemes  // the model's own alphabet, words between spaces
};

// Where loudness is set, what no wave of the sound goes beyond: what encoders add then stays below
// full scale (EBU R 128, 2023).
constexpr double kMostPeak_dBTP = -1;

// Phonemes of a first clause that is there early: about two seconds of speech, on two cores within
// a third of a second.
inline constexpr size_t kEarlyPhonemes = 32;

struct SpeakOptions {
  VoiceSettings voice;
  std::string language;  // BCP 47; "": the voice's
  float volume = 1.0F;
  // As loud as every voice is to be, in LUFS: each gets a gain of its own, and true peaks stay at
  // kMostPeak_dBTP. None: as loud as its model speaks.
  std::optional<double> loudness_lufs{};
  TextKind kind = TextKind::Plain;
  // Whether marks in the text may name files as voices, as whoever sits at this machine may.
  bool voice_files = true;
  bool normalize = true;                     // numbers, signs and short forms in words
  EmojiReading emoji = EmojiReading::Names;  // of normalized text
  // Silence between two clauses of a sentence that was cut, two sentences, two paragraphs, at speed
  // 1.
  double clause_silence_s = 0.12;
  double sentence_silence_s = 0.3;
  double paragraph_silence_s = 0.6;
  // Silence before everything, of text that goes on where another session ended.
  double lead_silence_s = 0;
  // Phonemes that the first clause has at most (kEarlyPhonemes: sound starts early); 0: as many as
  // fit.
  size_t first_phonemes = 0;
};

struct SpokenPhoneme {
  std::string symbol;
  double start_s = 0;
  double end_s = 0;
};

// A word as it was written. Times count from the begin of the whole output.
struct SpokenWord {
  std::string text;
  double start_s = 0;
  double end_s = 0;
  std::vector<SpokenPhoneme> phonemes;
};

// A piece of the output. Pieces follow each other without a gap: silence between them belongs to
// the later one.
struct SpokenClause {
  std::string text;
  size_t begin = 0;  // bytes of all text that was pushed
  size_t end = 0;
  bool ends_sentence = false;
  bool ends_paragraph = false;
  double start_s = 0;  // of its speech, behind the silence before it
  double end_s = 0;
  std::vector<SpokenWord> words;
  std::vector<float> samples;
};

// Hears what is spoken, clause by clause, in order, from the thread that pushes.
class SpeechObserver {
 public:
  virtual ~SpeechObserver() = default;

  // An error ends the session with it.
  virtual Status on_clause(const SpokenClause& clause) = 0;

  // Something that was left out or read otherwise than it was written.
  virtual void on_warning(const std::string& /*text*/) {}
};

// The phonemizer for a language and a model; an error says why there is none.
using PhonemizerSource =
    std::function<Result<std::shared_ptr<const Phonemizer>>(const std::string& language)>;

class VoiceLevels;
class VoiceLoudness;

// A voice model with what reads text to it. Const after load.
class Synthesizer {
 public:
  // `levels`: where it is kept how loud voices are; null: they are measured anew.
  Synthesizer(std::unique_ptr<const VoiceModel> model, PhonemizerSource phonemizers,
              std::shared_ptr<VoiceLevels> levels = nullptr);
  ~Synthesizer();

  // One text, spoken.
  class Session {
   public:
    virtual ~Session() = default;
    // Speaks what of the text so far can be spoken: whole sentences.
    virtual Status push(std::string_view text) = 0;
    // The text is over: speaks the rest.
    virtual Status finish() = 0;
  };

  // `observer` must outlive it, the synthesizer too. Errors: NotFound for a voice that is not
  // there; InvalidInput for options out of range; what the language's phonemizer says. After stop
  // is requested a session ends with Cancelled.
  [[nodiscard]] Result<std::unique_ptr<Session>> session(const SpeakOptions& options,
                                                         SpeechObserver& observer,
                                                         const std::stop_token& stop) const;

  // All of a text at once.
  [[nodiscard]] Status speak(std::string_view text, const SpeakOptions& options,
                             SpeechObserver& observer, const std::stop_token& stop) const;

  // The phonemes of a text, as speak() would give them to the model: what TextKind::Phonemes takes.
  // Unsupported where the model reads letters.
  [[nodiscard]] Result<std::string> phonemes(std::string_view text, SpeakOptions options,
                                             const std::stop_token& stop) const;

  [[nodiscard]] const VoiceModel& model() const { return *model_; }

  // Measures how loud a voice is, unless that is known. Errors: the model's.
  [[nodiscard]] Status measure(const std::string& voice) const;

  // Refuses what session() would, before any text is read; gives the voice that will speak.
  [[nodiscard]] Result<VoiceFacts> check(const SpeakOptions& options) const;

 private:
  std::unique_ptr<const VoiceModel> model_;
  PhonemizerSource phonemizers_;
  std::unique_ptr<VoiceLoudness> loudness_;
};

// Whether a voice that somebody names is a file: "." stands in the numbers of a mix alone.
[[nodiscard]] bool is_voice_file(std::string_view voice);

// Flite's US-English voices, which need no weights and read words as they are written
// (WrittenWords): what there is when nothing else is.
std::unique_ptr<const VoiceModel> builtin_voice();

}  // namespace mynah
