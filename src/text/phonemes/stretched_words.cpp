#include "text/phonemes/stretched_words.h"

#include <algorithm>
#include <unordered_map>

#include "base/embedded_file.h"
#include "base/tsv_lines.h"
#include "text/phonemes/letters.h"
#include "text/utf8.h"

MYNAH_EMBEDDED_FILE(phoneme_interjections, MYNAH_PHONEME_DATA "/interjections.tsv")

namespace mynah {
namespace {

constexpr size_t kLongest = 64;
constexpr size_t kMostRuns = 4;  // that are tried in both lengths

struct Said {
  std::u32string american;
  std::u32string british;
};

const std::unordered_map<std::u32string, Said>& sounds() {
  static const std::unordered_map<std::u32string, Said> words = [] {
    std::unordered_map<std::u32string, Said> read;
    for_each_tsv_line<3>(phoneme_interjections(), [&read](const auto& fields) {
      read.emplace(to_code_points(fields[0]), Said{.american = to_code_points(fields[1]),
                                                   .british = to_code_points(fields[2])});
    });
    return read;
  }();
  return words;
}

// A letter, and how often it stands there.
struct Run {
  char32_t letter = U'\0';
  size_t count = 0;
};

std::vector<Run> runs_of(std::u32string_view word) {
  std::vector<Run> runs;
  for (const char32_t c : word) {
    if (runs.empty() || runs.back().letter != c) {
      runs.push_back({.letter = c, .count = 0});
    }
    ++runs.back().count;
  }
  return runs;
}

bool is_vowel_letter(char32_t c) {
  return std::u32string_view(U"aeiouy").contains(c);
}

}  // namespace

std::optional<std::u32string_view> interjection(std::u32string_view word, bool british) {
  if (word.size() < 2 || word.size() > kLongest || has_no_small_letters(word)) {
    return std::nullopt;
  }
  const std::u32string small = lower(word);
  std::u32string once;
  bool twice = false;
  for (const Run& run : runs_of(small)) {
    once += run.letter;
    twice = twice || run.count > 1;
  }
  if (!twice && std::ranges::any_of(small, is_vowel_letter)) {
    return std::nullopt;
  }
  const auto found = sounds().find(once);
  if (found == sounds().end()) {
    return std::nullopt;
  }
  return british ? found->second.british : found->second.american;
}

std::vector<std::u32string> unstretched(std::u32string_view word) {
  std::vector<std::u32string> candidates;
  if (word.size() > kLongest) {
    return candidates;
  }
  const std::vector<Run> runs = runs_of(lower(word));
  const auto stretched = static_cast<size_t>(
      std::ranges::count_if(runs, [](const Run& run) { return run.count > 2; }));
  if (stretched == 0 || stretched > kMostRuns || runs.size() < 2) {
    return candidates;
  }
  for (size_t choice = 0; choice < (size_t{1} << stretched); ++choice) {
    std::u32string candidate;
    size_t number = 0;
    for (const Run& run : runs) {
      const bool once = run.count > 2 && ((choice >> number) & 1U) != 0;
      number += run.count > 2 ? 1 : 0;
      candidate.append(once ? 1 : std::min<size_t>(run.count, 2), run.letter);
    }
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

}  // namespace mynah
