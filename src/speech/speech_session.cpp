#include "speech/speech_session.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "speech/clause_edges.h"
#include "text/spoken/clauses.h"
#include "text/utf8.h"

namespace mynah {
namespace {

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// Kokoro's marks of punctuation: they take time, but are no part of a word's sound.
bool is_mark(const std::string& symbol) {
  constexpr std::string_view kMarks = ";:,.!?\"()";
  return kMarks.contains(symbol) || symbol == "—" || symbol == "…" || symbol == "“" ||
         symbol == "”";
}

// Phonemes as a text: words between spaces.
std::vector<PhonemeWord> split_phonemes(std::string_view text) {
  std::vector<PhonemeWord> words;
  for (size_t at = 0; at < text.size();) {
    if (is_space(text[at])) {
      ++at;
      continue;
    }
    const size_t begin = at;
    while (at < text.size() && !is_space(text[at])) {
      ++at;
    }
    const std::string word(text.substr(begin, at - begin));
    words.push_back({.text = word,
                     .phonemes = word,
                     .space_after = at < text.size(),
                     .begin = begin,
                     .end = at});
  }
  return words;
}

}  // namespace

SpeechSession::SpeechSession(const VoiceModel& model, std::shared_ptr<const Phonemizer> phonemizer,
                             SpeakOptions options, const std::string& language,
                             SpeechObserver& observer, std::stop_token stop)
    : model_(model),
      options_(std::move(options)),
      observer_(observer),
      stop_(std::move(stop)),
      splitter_({.language = language.substr(0, language.find('-'))}),
      silence_s_(options_.lead_silence_s / options_.voice.speed) {
  if (phonemizer) {
    reader_.emplace(std::move(phonemizer), language, options_.normalize);
  }
}

Status SpeechSession::push(std::string_view text) {
  for (const Sentence& sentence : splitter_.push(text)) {
    MYNAH_TRY_STATUS(speak(sentence));
  }
  return {};
}

Status SpeechSession::finish() {
  for (const Sentence& sentence : splitter_.finish()) {
    MYNAH_TRY_STATUS(speak(sentence));
  }
  return {};
}

Result<std::vector<PhonemeWord>> SpeechSession::phonemes(std::string_view text) const {
  if (!reader_) {
    return split_phonemes(text);
  }
  return reader_->read(text);
}

// The sentence as a whole where the model takes it, as its words are read by what is around them;
// else its clauses.
Result<std::vector<SpeechSession::Piece>> SpeechSession::cut(const Sentence& sentence) {
  MYNAH_TRY(std::vector<PhonemeWord> words, phonemes(sentence.text));
  // One more for the space behind it.
  const auto cost_of = [this](const PhonemeWord& word) {
    return model_.count_phonemes(word.phonemes) + (word.space_after ? 1 : 0);
  };
  size_t total = 0;
  for (const PhonemeWord& word : words) {
    total += cost_of(word);
  }
  const size_t first = first_ ? options_.first_phonemes : 0;
  if (total <= model_.most_phonemes() && (first == 0 || total <= first)) {
    return std::vector{Piece{.words = std::move(words), .begin = 0, .end = sentence.text.size()}};
  }
  // Of a word that lies in the part by half, half the cost.
  const auto cost = [&](std::string_view part) {
    const auto begin = static_cast<size_t>(part.data() - sentence.text.data());
    const size_t end = begin + part.size();
    size_t sum = 0;
    for (auto word = std::ranges::upper_bound(words, begin, {}, &PhonemeWord::end);
         word != words.end() && word->begin < end; ++word) {
      const size_t inside = std::min(end, word->end) - std::max(begin, word->begin);
      const size_t bytes = std::max<size_t>(1, word->end - word->begin);
      sum += (cost_of(*word) * inside + bytes - 1) / bytes;
    }
    return sum;
  };
  std::vector<Piece> pieces;
  for (const Clause& clause : cut_clauses(
           sentence.text, {.max_cost = model_.most_phonemes(), .first_cost = first}, cost)) {
    Piece piece{.words = {}, .begin = clause.begin, .end = clause.end};
    bool whole = true;
    for (const PhonemeWord& word : words) {
      if (word.begin < clause.end && word.end > clause.begin) {
        whole = whole && word.begin >= clause.begin && word.end <= clause.end;
        piece.words.push_back(word);
      }
    }
    if (!whole) {  // cut within a word, which is then read anew
      MYNAH_TRY(
          piece.words,
          phonemes(
              std::string_view(sentence.text).substr(clause.begin, clause.end - clause.begin)));
      for (PhonemeWord& word : piece.words) {
        word.begin += clause.begin;
        word.end += clause.begin;
      }
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

Status SpeechSession::speak(const Sentence& sentence) {
  MYNAH_TRY(const std::vector<Piece> pieces, cut(sentence));
  for (size_t i = 0; i < pieces.size(); ++i) {
    MYNAH_TRY_STATUS(speak(sentence, pieces[i], i + 1 == pieces.size()));
  }
  return {};
}

Status SpeechSession::speak(const Sentence& sentence, const Piece& piece, bool last) {
  if (stop_.stop_requested()) {
    return fail(ErrorCode::Cancelled, "stopped");
  }
  MYNAH_TRY(ClauseSound sound, model_.speak(piece.words, options_.voice));
  trim_clause(sound, model_.rate_hz());
  const bool paragraph = last && sentence.after == Sentence::Break::Paragraph;
  if (sound.samples.empty()) {
    // Nothing to be heard, but a paragraph ends with it all the same.
    if (paragraph && !first_) {
      silence_s_ = std::max(silence_s_, options_.paragraph_silence_s / options_.voice.speed);
    }
    return {};
  }
  const double rate = model_.rate_hz();
  const auto silence = static_cast<size_t>(std::lround(silence_s_ * rate));
  SpokenClause clause{
      .text = sentence.text.substr(piece.begin, piece.end - piece.begin),
      .begin = sentence.begin + piece.begin,
      .end = sentence.begin + piece.end,
      .ends_sentence = last,
      .ends_paragraph = paragraph,
      .start_s = static_cast<double>(samples_ + silence) / rate,
      .end_s = static_cast<double>(samples_ + silence + sound.samples.size()) / rate,
      .words = {},
      .samples = std::vector<float>(silence)};
  clause.words = words_of(sentence, piece, sound, clause.start_s);
  clause.samples.reserve(silence + sound.samples.size());
  for (const float sample : sound.samples) {
    clause.samples.push_back(sample * options_.volume);
  }
  samples_ += clause.samples.size();
  first_ = false;
  silence_s_ = (paragraph ? options_.paragraph_silence_s
                : last    ? options_.sentence_silence_s
                          : options_.clause_silence_s) /
               options_.voice.speed;
  return observer_.on_clause(clause);
}

// A word is what stands between two spaces in the text as it was written, whatever it is said as.
std::vector<SpokenWord> SpeechSession::words_of(const Sentence& sentence, const Piece& piece,
                                                const ClauseSound& sound, double start_s) const {
  const std::string& text = sentence.text;
  const double rate = model_.rate_hz();
  std::vector<SpokenWord> words;
  size_t end = 0;  // bytes: of the last word
  for (size_t i = 0; i < piece.words.size(); ++i) {
    const size_t begin = piece.words[i].begin;
    if (begin >= end || words.empty()) {
      size_t first = begin;
      while (first > piece.begin && !is_space(text[first - 1])) {
        --first;
      }
      end = begin;
      while (end < piece.end && !is_space(text[end])) {
        ++end;
      }
      words.push_back({.text = text.substr(first, end - first), .phonemes = {}});
    }
    for (const PhonemeSound& phoneme : sound.words[i]) {
      words.back().phonemes.push_back(
          {.symbol = phoneme.symbol,
           .start_s = start_s + static_cast<double>(phoneme.span.begin) / rate,
           .end_s = start_s + static_cast<double>(phoneme.span.end) / rate});
    }
  }
  double before = start_s;
  for (SpokenWord& word : words) {
    std::vector<SpokenPhoneme> sounding;
    std::ranges::copy_if(word.phonemes, std::back_inserter(sounding),
                         [](const SpokenPhoneme& phoneme) { return !is_mark(phoneme.symbol); });
    word.start_s = sounding.empty() ? before : sounding.front().start_s;
    word.end_s = sounding.empty() ? before : sounding.back().end_s;
    before = word.end_s;
  }
  return words;
}

}  // namespace mynah
