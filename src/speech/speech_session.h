// SpeechSession: one text on its way through a Synthesizer.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "speech/synthesizer.h"
#include "speech/text_reader.h"
#include "text/spoken/sentences.h"

namespace mynah {

class SpeechSession final : public Synthesizer::Session {
 public:
  // What it stands on must outlive it. `phonemizer` may be null where the text is phonemes.
  SpeechSession(const VoiceModel& model, std::shared_ptr<const Phonemizer> phonemizer,
                SpeakOptions options, const std::string& language, SpeechObserver& observer,
                std::stop_token stop);

  Status push(std::string_view text) override;
  Status finish() override;

 private:
  // A run of words that is spoken at once.
  struct Piece {
    std::vector<PhonemeWord> words;  // their places are bytes of the sentence
    size_t begin = 0;                // bytes of the sentence
    size_t end = 0;
  };

  Status speak(const Sentence& sentence);
  Result<std::vector<Piece>> cut(const Sentence& sentence);
  Result<std::vector<PhonemeWord>> phonemes(std::string_view text) const;
  Status speak(const Sentence& sentence, const Piece& piece, bool last);
  [[nodiscard]] std::vector<SpokenWord> words_of(const Sentence& sentence, const Piece& piece,
                                                 const ClauseSound& sound, double start_s) const;

  const VoiceModel& model_;
  std::optional<TextReader> reader_;  // none where the text is phonemes
  SpeakOptions options_;
  SpeechObserver& observer_;
  std::stop_token stop_;
  SentenceSplitter splitter_;
  double silence_s_ = 0;  // to come before what is spoken next
  size_t samples_ = 0;    // given out so far
  bool first_ = true;     // nothing was spoken yet
};

}  // namespace mynah
