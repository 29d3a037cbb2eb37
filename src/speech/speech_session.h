// SpeechSession: one text on its way through a Synthesizer.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "speech/synthesizer.h"
#include "speech/text_reader.h"
#include "speech/voice_loudness.h"
#include "text/spoken/inline_marks.h"
#include "text/spoken/markup.h"
#include "text/spoken/sentences.h"
#include "text/spoken/speak_parts.h"

namespace mynah {

class SpeechSession final : public Synthesizer::Session {
 public:
  // What it stands on must outlive it.
  SpeechSession(const VoiceModel& model, PhonemizerSource phonemizers, VoiceLoudness& loudness,
                SpeakOptions options, VoiceFacts voice, SpeechObserver& observer,
                std::stop_token stop);

  Status push(std::string_view text) override;
  Status finish() override;

 private:
  // A run of words under one voice, and where its text came from.
  struct Stretch {
    std::string_view text;
    std::vector<TextMark> marks{};      // of `text`
    const SourceMap* source = nullptr;  // null: text is of the document, from `begin` on
    size_t begin = 0;  // bytes: of `text` in the part that `source` maps, or in the
                       // document
    VoiceSettings voice;
    float volume = 1.0F;
    std::string language{};
    bool ends_sentence = true;
    bool ends_paragraph = false;
  };

  // A run of words that is spoken at once.
  struct Piece {
    std::vector<PhonemeWord> words;  // their places are bytes of the stretch
    size_t begin = 0;                // bytes of the stretch
    size_t end = 0;
  };

  Status speak(std::span<const Sentence> sentences);
  Status speak(const Sentence& sentence);
  Status speak_document();
  Status speak(const SpeakPart& part, bool sentences, bool ends_sentence, bool ends_paragraph);
  Status speak(const Stretch& stretch);
  Status speak(const Stretch& stretch, const Piece& piece, bool last);
  Result<std::vector<Piece>> cut(const Stretch& stretch);
  Result<std::vector<PhonemeWord>> read(const Stretch& stretch, std::string_view text);
  Result<const TextReader*> reader_for(const std::string& language);
  // What a part changes of the options; what it cannot is told and left. An error: the device
  // failed.
  Result<Stretch> stretch_of(const SpeakPart& part);
  [[nodiscard]] static Stretch trimmed(Stretch stretch);
  void pause(double seconds);
  void warn(std::span<const std::string> warnings);
  // What of a text of phonemes the model does not have.
  void look_for_unknown(std::string_view phonemes);
  // Tells once, behind all of the text, what was left out of it. InvalidInput for a text of
  // phonemes of which the model has none.
  Status tell_left_out();
  [[nodiscard]] static std::vector<SpokenWord> words_of(const Stretch& stretch, const Piece& piece,
                                                        const ClauseSound& sound, double start_s,
                                                        double rate);

  const VoiceModel& model_;
  PhonemizerSource phonemizers_;
  VoiceLoudness& loudness_;
  SpeakOptions options_;
  VoiceFacts voice_;
  SpeechObserver& observer_;
  std::stop_token stop_;
  SentenceSplitter splitter_;
  InlineMarks marks_;
  std::optional<MarkupFilter> markup_;         // where the text has it
  std::string document_;                       // of a kind that is read as a whole
  std::map<std::string, TextReader> readers_;  // by language
  ForeignWords foreign_;
  std::set<std::string> unknown_;  // phonemes that the model does not have, of a text of phonemes
  std::set<std::string> warned_;
  double silence_s_ = 0;  // to come before what is spoken next
  double pause_s_ = 0;    // the same, where the text asks for it
  size_t samples_ = 0;    // given out so far
  bool first_ = true;     // nothing was spoken yet
};

}  // namespace mynah
