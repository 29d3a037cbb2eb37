#include "speech/speech_session.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "base/stop_scope.h"
#include "speech/languages.h"
#include "speech/speak_clause.h"
#include "tensor/device_failure.h"
#include "text/spoken/clauses.h"
#include "text/spoken/ssml.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// How much longer than the first the clauses behind it may be: two cores speak Kokoro's seven times
// as fast as it sounds.
constexpr size_t kFollowingClauses = 4;

// Kokoro's marks of punctuation: they take time, but are no part of a word's sound.
bool is_mark(const std::string& symbol) {
  constexpr std::string_view kMarks = ";:,.!?\"()-'";
  return kMarks.contains(symbol) || symbol == "—" || symbol == "…" || symbol == "“" ||
         symbol == "”";
}

// Whether there is more to them than marks.
bool sounds(std::string_view phonemes) {
  return std::ranges::any_of(to_code_points(phonemes), [](char32_t character) {
    std::string symbol;
    append_utf8(symbol, character);
    return character > U' ' && !is_mark(symbol);
  });
}

// Phonemes as a text: words between spaces.
std::vector<PhonemeWord> split_phonemes(std::string_view text) {
  std::vector<PhonemeWord> words;
  for (size_t at = 0; at < text.size();) {
    if (is_ascii_space(text[at])) {
      ++at;
      continue;
    }
    const size_t begin = at;
    while (at < text.size() && !is_ascii_space(text[at])) {
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

// Whether a text that something follows ends as sentences do.
bool ends_as_sentence(std::string_view text) {
  const size_t last = text.find_last_not_of(" \t\r\n\"')");
  return last == std::string_view::npos ||
         std::string_view(".!?:").find(text[last]) != std::string_view::npos;
}

}  // namespace

SpeechSession::SpeechSession(const VoiceModel& model, PhonemizerSource phonemizers,
                             VoiceLoudness& loudness, SpeakOptions options, VoiceFacts voice,
                             SpeechObserver& observer, std::stop_token stop)
    : model_(model),
      phonemizers_(std::move(phonemizers)),
      loudness_(loudness),
      options_(std::move(options)),
      voice_(std::move(voice)),
      observer_(observer),
      stop_(std::move(stop)),
      foreign_(phonemizers_),
      silence_s_(options_.lead_silence_s / options_.voice.speed) {
  const std::string& language = options_.language.empty() ? voice_.language : options_.language;
  splitter_ = SentenceSplitter({.language = language.substr(0, language.find('-'))});
  if (options_.kind == TextKind::Markdown || options_.kind == TextKind::Html) {
    markup_.emplace(MarkupOptions{.kind = options_.kind == TextKind::Html ? MarkupKind::Html
                                                                          : MarkupKind::Markdown});
  }
}

Status SpeechSession::push(std::string_view text) {
  if (options_.kind == TextKind::Ssml) {
    if (document_.size() + text.size() > kMostSsmlBytes) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("wanted SSML of at most {} MB, found more", kMostSsmlBytes >> 20U));
    }
    document_ += text;
    return {};
  }
  return speak(splitter_.push(markup_ ? markup_->push(text) : std::string(text)));
}

Status SpeechSession::speak(std::span<const Sentence> sentences) {
  for (const Sentence& sentence : sentences) {
    MYNAH_TRY_STATUS(speak(sentence));
  }
  return {};
}

Status SpeechSession::finish() {
  if (options_.kind == TextKind::Ssml) {
    MYNAH_TRY_STATUS(speak_document());
  }
  if (markup_) {
    MYNAH_TRY_STATUS(speak(splitter_.push(markup_->finish())));
  }
  MYNAH_TRY_STATUS(speak(splitter_.finish()));
  MYNAH_TRY_STATUS(tell_left_out());
  // A pause at the end is meant.
  if (pause_s_ > 0) {
    SpokenClause silence;
    silence.samples.resize(
        static_cast<size_t>(std::lround(pause_s_ * static_cast<double>(model_.rate_hz()))));
    silence.start_s = static_cast<double>(samples_) / model_.rate_hz();
    silence.end_s = silence.start_s;
    silence.ends_sentence = true;
    pause_s_ = 0;
    return observer_.on_clause(silence);
  }
  return {};
}

void SpeechSession::warn(std::span<const std::string> warnings) {
  for (const std::string& warning : warnings) {
    if (warned_.insert(warning).second) {
      observer_.on_warning(warning);
    }
  }
}

void SpeechSession::look_for_unknown(std::string_view phonemes) {
  constexpr size_t kMostNamed = 20;
  for (const char32_t character : to_code_points(phonemes)) {
    std::string symbol;
    append_utf8(symbol, character);
    if (!is_white_space(character) && unknown_.size() < kMostNamed &&
        model_.alphabet().count(symbol) == 0) {
      unknown_.insert(std::move(symbol));
    }
  }
}

Status SpeechSession::tell_left_out() {
  if (std::string warning = foreign_.warning(); !warning.empty()) {
    warn(std::vector{std::move(warning)});
  }
  if (unknown_.empty()) {
    return {};
  }
  const std::string list = fmt::format("{}", fmt::join(unknown_, " "));
  if (first_) {
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("{} has no phoneme of this text: {}; wanted its own alphabet, as `mynah "
                    "phonemes` prints it",
                    model_.name(), list));
  }
  warn(std::vector{fmt::format("{} has no phonemes {}: they were left out", model_.name(), list)});
  return {};
}

void SpeechSession::pause(double seconds) {
  // Silence is kept as samples: marks without a word between them could ask for any amount of it.
  if (pause_s_ + seconds > kLongestPause_s) {
    warn(std::vector{fmt::format("pauses in a row are cut to {} s", kLongestPause_s)});
  }
  pause_s_ = std::min(pause_s_ + seconds, kLongestPause_s);
}

Result<SpeechSession::Stretch> SpeechSession::stretch_of(const SpeakPart& part) {
  Stretch stretch{.text = part.text,
                  .source = &part.source,
                  .voice = options_.voice,
                  .volume = options_.volume * static_cast<float>(part.volume),
                  .language = options_.language};
  stretch.voice.speed = std::clamp(options_.voice.speed * static_cast<float>(part.rate),
                                   static_cast<float>(kLeastRate), static_cast<float>(kMostRate));
  std::string language = voice_.language;
  if (!options_.voice_files && is_voice_file(part.voice)) {
    warn(std::vector{std::string(
        "a voice is wanted by its name here, not as a file; the text's own voice goes on")});
  } else if (!part.voice.empty()) {
    if (const auto voice = model_.find_voice(part.voice)) {
      stretch.voice.voice = part.voice;
      language = voice->language;
    } else if (is_of_device(voice.error().code)) {
      return std::unexpected(voice.error());
    } else {
      warn(std::vector{voice.error().message + "; the text's own voice goes on"});
    }
  }
  if (stretch.language.empty()) {
    stretch.language = language;
  }
  if (!part.language.empty()) {
    if (const auto reader = reader_for(part.language)) {
      stretch.language = part.language;
    } else {
      warn(std::vector{reader.error().message + "; it is read as " + stretch.language});
    }
  }
  return stretch;
}

// A sentence of plain text, in which marks may stand.
Status SpeechSession::speak(const Sentence& sentence) {
  const bool paragraph = sentence.after == Sentence::Break::Paragraph;
  if (options_.kind == TextKind::Phonemes) {
    return speak(Stretch{.text = sentence.text,
                         .begin = sentence.begin,
                         .voice = options_.voice,
                         .volume = options_.volume,
                         .ends_paragraph = paragraph});
  }
  const SpeakScript script = marks_.read(sentence.text, sentence.begin);
  warn(script.warnings);
  for (size_t i = 0; i < script.parts.size(); ++i) {
    const bool last = i + 1 == script.parts.size();
    MYNAH_TRY_STATUS(speak(script.parts[i], false, last, last && paragraph));
  }
  return {};
}

Status SpeechSession::speak_document() {
  MYNAH_TRY(const SpeakScript script, parse_ssml(std::exchange(document_, {})));
  warn(script.warnings);
  for (const SpeakPart& part : script.parts) {
    MYNAH_TRY_STATUS(speak(part, true, true, part.ends_paragraph));
  }
  return {};
}

// `sentences`: the part is to be split into them.
Status SpeechSession::speak(const SpeakPart& part, bool sentences, bool ends_sentence,
                            bool ends_paragraph) {
  if (part.kind == SpeakPart::Kind::Pause) {
    pause(part.pause_s);
    return {};
  }
  MYNAH_TRY(Stretch whole, stretch_of(part));
  if (!sentences) {
    whole.marks = part.marks;
    whole.ends_sentence = ends_sentence;
    whole.ends_paragraph = ends_paragraph;
    return speak(whole);
  }
  const auto parts =
      split_sentences(part.text, {.language = whole.language.substr(0, whole.language.find('-'))});
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    Stretch stretch = whole;
    stretch.text =
        std::string_view(part.text).substr(parts[i].begin, parts[i].end - parts[i].begin);
    stretch.begin = parts[i].begin;
    stretch.marks = marks_within(part.marks, {.begin = parts[i].begin, .end = parts[i].end});
    stretch.ends_sentence = !last || ends_paragraph || ends_as_sentence(stretch.text);
    stretch.ends_paragraph = last ? ends_paragraph : parts[i].after == Sentence::Break::Paragraph;
    MYNAH_TRY_STATUS(speak(stretch));
  }
  return {};
}

// Without the white space around marks, which is no text.
SpeechSession::Stretch SpeechSession::trimmed(Stretch stretch) {
  size_t first = 0;
  while (first < stretch.text.size() && is_ascii_space(stretch.text[first])) {
    ++first;
  }
  size_t last = stretch.text.size();
  while (last > first && is_ascii_space(stretch.text[last - 1])) {
    --last;
  }
  if (first > 0 || last < stretch.text.size()) {
    stretch.marks = marks_within(stretch.marks, {.begin = first, .end = last});
    stretch.text = stretch.text.substr(first, last - first);
    stretch.begin += first;
  }
  return stretch;
}

Result<const TextReader*> SpeechSession::reader_for(const std::string& language) {
  const auto known = readers_.find(language);
  if (known != readers_.end()) {
    return &known->second;
  }
  MYNAH_TRY(auto phonemizer, phonemizers_(language));
  const auto made = readers_.emplace(
      language, TextReader(std::move(phonemizer), language,
                           {.normalize = options_.normalize, .emoji = options_.emoji}));
  return &made.first->second;
}

Result<std::vector<PhonemeWord>> SpeechSession::read(const Stretch& stretch,
                                                     std::string_view text) {
  if (options_.kind == TextKind::Phonemes) {
    look_for_unknown(text);
    return split_phonemes(text);
  }
  MYNAH_TRY(const TextReader* reader, reader_for(stretch.language));
  const auto begin = static_cast<size_t>(text.data() - stretch.text.data());
  const bool whole = begin == 0 && text.size() == stretch.text.size();
  return reader->read(
      text,
      whole ? stretch.marks
            : marks_within(stretch.marks, {.begin = begin, .end = begin + text.size()}),
      foreign_, whole);
}

// The stretch as a whole where the model takes it, as its words are read by what is around them;
// else its clauses.
Result<std::vector<SpeechSession::Piece>> SpeechSession::cut(const Stretch& stretch) {
  MYNAH_TRY(std::vector<PhonemeWord> words, read(stretch, stretch.text));
  // One more for the space behind it.
  const auto cost_of = [this](const PhonemeWord& word) {
    return model_.alphabet().count(word.phonemes) + (word.space_after ? 1 : 0);
  };
  size_t total = 0;
  for (const PhonemeWord& word : words) {
    total += cost_of(word);
  }
  const size_t first = first_ ? options_.first_phonemes : 0;
  if (total <= model_.most_phonemes() && (first == 0 || total <= first)) {
    return std::vector{Piece{.words = std::move(words), .begin = 0, .end = stretch.text.size()}};
  }
  // What follows the first clause is spoken while that sounds.
  const size_t most = first == 0 ? model_.most_phonemes()
                                 : std::min(model_.most_phonemes(), kFollowingClauses * first);
  // Of a word that lies in the part by half, half the cost.
  const auto cost = [&](std::string_view part) {
    const auto begin = static_cast<size_t>(part.data() - stretch.text.data());
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
  for (const Clause& clause :
       cut_clauses(stretch.text, {.max_cost = most, .first_cost = first}, cost)) {
    Piece piece{.words = {}, .begin = clause.begin, .end = clause.end};
    bool whole = true;
    for (const PhonemeWord& word : words) {
      if (word.begin < clause.end && word.end > clause.begin) {
        whole = whole && word.begin >= clause.begin && word.end <= clause.end;
        piece.words.push_back(word);
      }
    }
    if (!whole) {  // cut within a word, which is then read anew
      MYNAH_TRY(piece.words,
                read(stretch, stretch.text.substr(clause.begin, clause.end - clause.begin)));
      for (PhonemeWord& word : piece.words) {
        word.begin += clause.begin;
        word.end += clause.begin;
      }
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

Status SpeechSession::speak(const Stretch& untrimmed) {
  const Stretch stretch = trimmed(untrimmed);
  MYNAH_TRY(const std::vector<Piece> pieces, cut(stretch));
  for (size_t i = 0; i < pieces.size(); ++i) {
    MYNAH_TRY_STATUS(speak(stretch, pieces[i], i + 1 == pieces.size()));
  }
  return {};
}

Status SpeechSession::speak(const Stretch& stretch, const Piece& piece, bool last) {
  if (stop_.stop_requested()) {
    return fail(ErrorCode::Cancelled, "stopped");
  }
  ClauseSound sound;
  // "..." alone is a breath at most: the pause around it says as much.
  if (std::ranges::any_of(piece.words,
                          [](const PhonemeWord& word) { return sounds(word.phonemes); })) {
    const StopScope wanted(stop_);
    MYNAH_TRY(sound, speak_clause(model_, piece.words, stretch.voice));
    std::optional<double> gain_db;
    if (options_.loudness_lufs) {
      MYNAH_TRY(const auto own, loudness_.of(stretch.voice.voice));
      gain_db = *options_.loudness_lufs - own.value_or(*options_.loudness_lufs);
    }
    set_level(sound, model_.rate_hz(), stretch.volume, gain_db);
  }
  const bool sentence = last && stretch.ends_sentence;
  const bool paragraph = last && stretch.ends_paragraph;
  const double speed = stretch.voice.speed;
  if (sound.samples.empty()) {
    // Nothing to be heard, but a paragraph ends with it all the same.
    if (paragraph && !first_) {
      silence_s_ = std::max(silence_s_, options_.paragraph_silence_s / speed);
    }
    return {};
  }
  const double rate = model_.rate_hz();
  const auto silence =
      static_cast<size_t>(std::lround(std::max(silence_s_, std::exchange(pause_s_, 0)) * rate));
  const size_t end = samples_ + silence + sound.samples.size();
  const ByteRange here{.begin = stretch.begin + piece.begin, .end = stretch.begin + piece.end};
  const ByteRange plain = stretch.source == nullptr ? here : stretch.source->source_of(here);
  const ByteRange source = markup_ ? markup_->source_of(plain) : plain;
  SpokenClause clause{
      .text = std::string(stretch.text.substr(piece.begin, piece.end - piece.begin)),
      .begin = source.begin,
      .end = source.end,
      .ends_sentence = sentence || paragraph,
      .ends_paragraph = paragraph,
      .start_s = static_cast<double>(samples_ + silence) / rate,
      .end_s = static_cast<double>(end) / rate,
      .words = {},
      .samples = std::vector<float>(silence)};
  clause.words = words_of(stretch, piece, sound, clause.start_s, rate);
  clause.samples.insert(clause.samples.end(), sound.samples.begin(), sound.samples.end());
  samples_ = end;
  first_ = false;
  silence_s_ = (paragraph  ? options_.paragraph_silence_s
                : sentence ? options_.sentence_silence_s
                           : options_.clause_silence_s) /
               speed;
  return observer_.on_clause(clause);
}

// A word is what stands between two spaces in the text as it was written, whatever it is said as;
// of Japanese, which has none, what its reader takes for one.
std::vector<SpokenWord> SpeechSession::words_of(const Stretch& stretch, const Piece& piece,
                                                const ClauseSound& sound, double start_s,
                                                double rate) {
  const std::string_view text = stretch.text;
  const bool spaced = primary_language(stretch.language) != "ja";
  std::vector<SpokenWord> words;
  size_t first = 0;  // bytes: of the last word
  size_t end = 0;
  for (size_t i = 0; i < piece.words.size(); ++i) {
    const size_t begin = std::min(piece.words[i].begin, piece.end);
    if (!spaced) {
      const size_t last = std::clamp(piece.words[i].end, begin, piece.end);
      if (words.empty() || (begin >= end && sounds(piece.words[i].phonemes))) {
        words.push_back({.text = {}, .phonemes = {}});
        end = begin;
      }
      const size_t from = std::clamp(end, begin, last);
      words.back().text += text.substr(from, last - from);
      end = std::max(end, last);
    } else {
      if (begin >= end || words.empty()) {
        first = begin;
        while (first > piece.begin && !is_ascii_space(text[first - 1])) {
          --first;
        }
        words.push_back({.text = {}, .phonemes = {}});
      }
      // Up to the next space behind what is said at once: "5 pm".
      end = std::max({end, begin, std::min(piece.words[i].end, piece.end)});
      while (end < piece.end && !is_ascii_space(text[end])) {
        ++end;
      }
      words.back().text = text.substr(first, end - first);
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
