#include "doctor/errors/nearest_error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "doctor/characters.h"

namespace mynah::doctor {

namespace {

constexpr size_t kShortestWord = 4;
constexpr size_t kLongestWord = 64;
constexpr size_t kFewestShared = 3;
constexpr size_t kRare = 4;  // patterns at most that have a word that tells one from others
constexpr double kLeastSure = 0.5;
constexpr size_t kWordsOfAMessage = 24;  // a line of more is prose, and shares words by chance
// All of the words in another order are still not the error.
constexpr double kMostSure = 0.95;

// Words that a line has where something failed. Without them a line is no complaint, whatever it
// names.
constexpr auto kComplaints = std::to_array<std::string_view>(
    {"error",          "fail",           "cannot",          "can't",     "could not",
     "couldn't",       "unable",         "undefined",       "not found", "no such",
     "missing",        "unsupported",    "not supported",   "invalid",   "incompatible",
     "mismatch",       "exception",      "fatal",           "abort",     "crash",
     "refused",        "denied",         "too old",         "hang",      "no kernel",
     "not compatible", "does not exist", "has no attribute"});

bool is_word(char c) {
  return is_small_letter(c) || is_digit(c) || c == '_';
}

// Calls use(word) for each word of a text in small letters, from four bytes on, that is no number.
template <class Use>
void each_word(std::string_view text, const Use& use) {
  size_t at = 0;
  while (at < text.size()) {
    size_t end = at;
    bool letters = false;
    while (end < text.size() && is_word(text[end])) {
      letters |= is_small_letter(text[end]);
      ++end;
    }
    if (letters && end - at >= kShortestWord && end - at <= kLongestWord) {
      use(text.substr(at, end - at));
    }
    at = std::max(end, at + 1);
  }
}

// Words that stand in any text.
constexpr auto kCommon =
    std::to_array<std::string_view>({"been", "does", "from", "have", "only", "than", "that", "this",
                                     "were", "when", "which", "will", "with", "your"});

struct WordHash {
  using is_transparent = void;

  size_t operator()(std::string_view word) const { return std::hash<std::string_view>{}(word); }
};

class Words {
 public:
  explicit Words(const Knowledge& knowledge) {
    for (size_t i = 0; i < knowledge.errors.size(); ++i) {
      for (const std::string& pattern : knowledge.errors[i].patterns) {
        if (!knowledge.errors[i].harmless) {
          add(small_letters(pattern), i);
        }
      }
    }
    for (const auto& [word, patterns] : patterns_) {
      for (const size_t pattern : patterns) {
        totals_[pattern] += rarity(patterns.size());
      }
    }
  }

  // The nearest error to a line in small letters, and how near.
  [[nodiscard]] std::pair<size_t, double> nearest(std::string_view line) {
    shared_.assign(errors_.size(), 0);
    counts_.assign(errors_.size(), 0);
    rare_.assign(errors_.size(), 0);
    seen_.clear();
    size_t words = 0;
    each_word(line, [&](std::string_view word) {
      ++words;
      const auto found = patterns_.find(word);
      if (found == patterns_.end() || std::ranges::find(seen_, &*found) != seen_.end()) {
        return;
      }
      seen_.push_back(&*found);
      for (const size_t pattern : found->second) {
        shared_[pattern] += rarity(found->second.size());
        ++counts_[pattern];
        rare_[pattern] += found->second.size() <= kRare ? 1 : 0;
      }
    });
    const double message = std::min(1.0, static_cast<double>(kWordsOfAMessage) /
                                             static_cast<double>(std::max<size_t>(words, 1)));
    std::pair<size_t, double> best{0, 0.0};
    for (size_t i = 0; i < errors_.size(); ++i) {
      const double part =
          totals_[i] > 0 ? std::min(message * shared_[i] / totals_[i], kMostSure) : 0;
      if (counts_[i] >= kFewestShared && rare_[i] > 0 && part > best.second) {
        best = {errors_[i], part};
      }
    }
    return best;
  }

 private:
  using Patterns = std::unordered_map<std::string, std::vector<size_t>, WordHash, std::equal_to<>>;

  void add(const std::string& pattern, size_t error) {
    const size_t index = errors_.size();
    errors_.push_back(error);
    totals_.push_back(0);
    each_word(pattern, [&](std::string_view word) {
      if (std::ranges::find(kCommon, word) != kCommon.end()) {
        return;
      }
      std::vector<size_t>& patterns = patterns_[std::string(word)];
      if (patterns.empty() || patterns.back() != index) {
        patterns.push_back(index);
      }
    });
  }

  // How much a word says that stands in so many of the patterns.
  [[nodiscard]] double rarity(size_t patterns) const {
    return std::log(static_cast<double>(errors_.size() + 1) / static_cast<double>(patterns));
  }

  Patterns patterns_;           // that have a word, ascending
  std::vector<size_t> errors_;  // of each pattern
  std::vector<double> totals_;
  std::vector<double> shared_;
  std::vector<size_t> counts_;
  std::vector<size_t> rare_;                       // of the shared words, how many are rare
  std::vector<const Patterns::value_type*> seen_;  // words of the line so far
};

bool complains(std::string_view line) {
  return std::ranges::any_of(kComplaints, [&](std::string_view word) {
    // "error", "RuntimeError:", but not "-ferror-limit".
    for (size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
      if (at == 0 || !is_word(line[at - 1]) || line.substr(at + word.size()).starts_with(':')) {
        return true;
      }
    }
    return false;
  });
}

}  // namespace

std::optional<NearestError> nearest_error(std::string_view text, const Knowledge& knowledge) {
  // A line of more is no line of a log: only so much of it is looked at.
  constexpr size_t kLongestComparedLine = 4096;
  Words words(knowledge);
  std::optional<NearestError> nearest;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line =
        small_letters(text.substr(begin, std::min(end - begin, kLongestComparedLine)));
    if (complains(line)) {
      const auto [error, part] = words.nearest(line);
      if (part >= kLeastSure && (!nearest || part > nearest->sureness)) {
        nearest = {.error = error, .at = begin, .sureness = part};
      }
    }
    begin = end + 1;
  }
  return nearest;
}

}  // namespace mynah::doctor
