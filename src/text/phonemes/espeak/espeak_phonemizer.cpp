#include "text/phonemes/espeak/espeak_phonemizer.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "text/phonemes/espeak/espeak_process.h"
#include "text/phonemes/espeak/given_words.h"
#include "text/phonemes/espeak/pieces.h"
#include "text/phonemes/espeak/shares.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {

namespace {

using espeak::Alphabet;
using espeak::EspeakProcess;
using espeak::Piece;
using espeak::Share;

// The longest word that is said as one; what is beyond is no word.
constexpr size_t kLongestWord = 256;

// Words that are said alone are kept, up to this many.
constexpr size_t kMostKept = 4096;

// Whether espeak-ng makes one word of it: no number, sign, abbreviation or row of capitals.
bool is_plain_word(std::string_view word) {
  const std::u32string characters = to_code_points(word);
  const auto plain = [](char32_t c) {
    return is_letter(c) || is_mark(c) || c == U'\'' || c == U'’';
  };
  return std::ranges::all_of(characters, plain) &&
         (characters.size() < 2 || to_lower(characters.substr(1)) == characters.substr(1));
}

class EspeakPhonemizer final : public Phonemizer {
 public:
  EspeakPhonemizer(EspeakProcess process, const EspeakOptions& options)
      : process_(std::move(process)), alphabet_(options.alphabet), voice_(options.voice) {}

  [[nodiscard]] Result<std::vector<PhonemeWord>> phonemes(
      std::string_view text, std::span<const GivenPhonemes> given) const override {
    return espeak::words_around(text, given, alphabet_, /*spaced=*/false,
                                [&](size_t begin, size_t end, std::vector<PhonemeWord>& words) {
                                  return add(text, begin, end, words);
                                });
  }

 private:
  // Adds what stands in a range of the text: clauses between marks.
  Status add(std::string_view text, size_t begin, size_t end,
             std::vector<PhonemeWord>& words) const {
    const std::vector<Piece> pieces = espeak::cut(text.substr(begin, end - begin));
    for (size_t i = 0; i < pieces.size();) {
      size_t last = i;
      size_t bytes = 0;
      while (last < pieces.size() && pieces[last].mark == 0 &&
             (bytes == 0 || bytes + pieces[last].spoken.size() < EspeakProcess::kLongestLine)) {
        bytes += pieces[last].spoken.size() + 1;
        ++last;
      }
      const auto run = std::span(pieces).subspan(i, std::max<size_t>(last - i, 1));
      std::vector<Share> said = {{.phonemes = espeak::mark_phonemes(pieces[i].mark, alphabet_)}};
      if (last > i) {
        MYNAH_TRY(said, say(run));
      }
      for (size_t k = 0; k < run.size(); ++k) {
        const Piece& piece = run[k];
        // espeak-ng's clauses end without a space before the mark.
        if (piece.mark != 0 && alphabet_ == Alphabet::Espeak && !said[k].phonemes.empty() &&
            !words.empty()) {
          words.back().space_after = false;
        }
        words.push_back(
            {.text = std::string(text.substr(begin + piece.begin, piece.end - piece.begin)),
             .phonemes = said[k].phonemes,
             .space_after = piece.space_after && said[k].space_after,
             .begin = begin + piece.begin,
             .end = begin + piece.end});
      }
      i += run.size();
    }
    return {};
  }

  // What each of these words is, said together.
  [[nodiscard]] Result<std::vector<Share>> say(std::span<const Piece> words) const {
    const std::scoped_lock lock(mutex_);
    std::string line;
    for (const Piece& word : words) {
      line += line.empty() ? "" : " ";
      line += word.spoken;
    }
    MYNAH_TRY(const std::string whole, ask(line));
    const std::vector<std::string_view> own = split_words(whole);
    std::vector<Share> shares;
    if (words.size() == 1) {
      shares = {{.phonemes = whole}};
    } else if (own.size() != words.size() ||
               !std::ranges::all_of(words, is_plain_word, &Piece::spoken)) {
      std::vector<std::string> alone;
      for (const Piece& word : words) {
        MYNAH_TRY(std::string said, ask_alone(word.spoken));
        alone.push_back(std::move(said));
      }
      shares = espeak::share_out(whole, alone);
    } else {
      for (const std::string_view word : own) {
        shares.push_back({.phonemes = std::string(word)});
      }
    }
    for (Share& share : shares) {
      share.phonemes = espeak::to_alphabet(share.phonemes, alphabet_, voice_);
    }
    return shares;
  }

  [[nodiscard]] Result<std::string> ask_alone(const std::string& word) const {
    if (const auto kept = alone_.find(word); kept != alone_.end()) {
      return kept->second;
    }
    MYNAH_TRY(std::string said, ask(word));
    if (alone_.size() < kMostKept && word.size() < kLongestWord) {
      alone_.emplace(word, said);
    }
    return said;
  }

  // One word may be longer than a line: it is then said in parts.
  [[nodiscard]] Result<std::string> ask(std::string_view line) const {
    if (line.size() < EspeakProcess::kLongestLine) {
      return process_.ask(line);
    }
    std::string all;
    while (!line.empty()) {
      size_t length = std::min(line.size(), kLongestWord);
      length -= length < line.size() ? incomplete_utf8_tail(line.substr(0, length)) : 0;
      MYNAH_TRY(const std::string part, process_.ask(line.substr(0, length)));
      all += all.empty() || part.empty() ? "" : " ";
      all += part;
      line.remove_prefix(length);
    }
    return all;
  }

  mutable std::mutex mutex_;
  mutable EspeakProcess process_;
  mutable std::unordered_map<std::string, std::string> alone_;
  Alphabet alphabet_;
  std::string voice_;
};

}  // namespace

Result<std::unique_ptr<Phonemizer>> espeak_phonemizer(const EspeakOptions& options) {
  MYNAH_TRY(EspeakProcess process, EspeakProcess::start({.program = options.program,
                                                         .voice = options.voice,
                                                         .patience = options.patience}));
  return std::make_unique<EspeakPhonemizer>(std::move(process), options);
}

}  // namespace mynah
