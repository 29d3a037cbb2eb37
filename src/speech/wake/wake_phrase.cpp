#include "speech/wake/wake_phrase.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"

namespace mynah {
namespace {

constexpr size_t kLeastSounds = 4;
constexpr std::string_view kVowels = "aeiouy";

struct Alike {
  char one;
  char other;
  double cost;
};

// What a recogniser takes for another; vowels beside, which all are near.
constexpr std::array<Alike, 11> kAlike = {{{'m', 'n', 0.4},
                                           {'b', 'p', 0.3},
                                           {'d', 't', 0.3},
                                           {'g', 'k', 0.3},
                                           {'s', 'z', 0.2},
                                           {'f', 'v', 0.3},
                                           {'b', 'v', 0.4},
                                           {'l', 'r', 0.6},
                                           {'r', 'w', 0.6},
                                           {'g', 'j', 0.5},
                                           {'d', 'j', 0.6}}};

bool is_rough_vowel(char letter) {
  return kVowels.contains(letter);
}

// Of one that is too much, or is missing.
double edit_cost(char sound) {
  constexpr double kVowel = 0.5;
  constexpr double kWeak = 0.3;  // an h, or an r behind a vowel, which many do not say
  constexpr double kStop = 0.8;
  return is_rough_vowel(sound)                      ? kVowel
         : sound == 'h' || sound == 'r'             ? kWeak
         : std::string_view("tdpb").contains(sound) ? kStop
                                                    : 1.0;
}

double edit_cost(char one, char other) {
  if (one == other) {
    return 0;
  }
  if (is_rough_vowel(one) && is_rough_vowel(other)) {
    constexpr std::string_view kFront = "eiy";
    constexpr double kSame = 0.1;
    constexpr double kOther = 0.25;
    return kFront.contains(one) == kFront.contains(other) ? kSame : kOther;
  }
  for (const Alike& pair : kAlike) {
    if ((pair.one == one && pair.other == other) || (pair.one == other && pair.other == one)) {
      return pair.cost;
    }
  }
  return 1;
}

bool is_phrase_letter(char c) {
  return is_ascii_letter(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80;
}

size_t next_sentence(std::string_view text, size_t at) {
  const size_t stop = text.find_first_of(".!?", at);
  return stop == std::string_view::npos ? text.size() : stop + 1;
}

// A sound that a letter stands for where the next is that; '\0': none.
char sound_of(char letter, char next) {
  constexpr std::string_view kSoftens = "eiy";
  switch (letter) {
    case 'c':
      return kSoftens.contains(next) && next != '\0' ? 's' : 'k';
    case 'q':
      return 'k';
    case 'x':
      return 's';
    case 'p':
      return next == 'h' ? 'f' : 'p';
    default:
      return letter;
  }
}

}  // namespace

std::string rough_sounds(std::string_view word) {
  const std::string letters = ascii_lower(word);
  std::string sounds;
  for (size_t i = 0; i < letters.size(); ++i) {
    const char next = i + 1 < letters.size() ? letters[i + 1] : '\0';
    const char before = i > 0 ? letters[i - 1] : '\0';
    const bool silent_e = letters[i] == 'e' && next == '\0' && i > 1 && !is_rough_vowel(before);
    const bool silent_h = letters[i] == 'h' && i > 0 && (is_rough_vowel(before) || before == 'p');
    const char sound = sound_of(letters[i], next);
    if (!is_phrase_letter(letters[i]) || silent_e || silent_h) {
      continue;
    }
    const bool goes_on =
        !sounds.empty() &&
        (sounds.back() == sound || (is_rough_vowel(sounds.back()) && is_rough_vowel(sound)));
    if (!goes_on) {
      sounds += sound;
    }
  }
  return sounds;
}

Result<WakePhrase> WakePhrase::create(const std::string& text) {
  std::string sounds;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    sounds += rough_sounds(std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
  if (sounds.size() < kLeastSounds) {
    return fail(
        ErrorCode::Usage,
        fmt::format("'{}' is too short to wait for: wanted a phrase such as 'hey mynah'", text));
  }
  return WakePhrase(text, std::move(sounds));
}

std::optional<PhraseMatch> WakePhrase::begins(std::string_view text) const {
  return begins(text, kTolerance);
}

std::optional<PhraseMatch> WakePhrase::nearest(std::string_view text) const {
  std::optional<PhraseMatch> best;
  for (size_t at = 0; at < text.size();) {
    // Nothing is further away than all sounds and as many that are too much.
    constexpr double kAny = 2;
    if (auto match = begins(text.substr(at), kAny);
        match && (!best || match->distance < best->distance)) {
      match->end += at;
      best = match;
    }
    at = next_sentence(text, at);
  }
  return best;
}

std::optional<PhraseMatch> WakePhrase::begins(std::string_view text, double most) const {
  // Costs of turning so many sounds of the phrase into what was read so far.
  std::vector<double> costs(sounds_.size() + 1, 0.0);
  for (size_t i = 0; i < sounds_.size(); ++i) {
    costs[i + 1] = costs[i] + edit_cost(sounds_[i]);
  }
  std::optional<PhraseMatch> best;
  size_t at = 0;
  for (size_t read = 0; at < text.size() && read < 2 * sounds_.size();) {
    size_t end = at;
    while (end < text.size() && (is_phrase_letter(text[end]) || text[end] == '\'')) {
      ++end;
    }
    const std::string word = rough_sounds(text.substr(at, end - at));
    for (const char sound : word) {
      double corner = std::exchange(costs[0], costs[0] + edit_cost(sound));
      for (size_t i = 0; i < sounds_.size(); ++i) {
        const double changed = corner + edit_cost(sounds_[i], sound);
        corner = costs[i + 1];
        costs[i + 1] =
            std::min({changed, corner + edit_cost(sound), costs[i] + edit_cost(sounds_[i])});
      }
    }
    read += word.size();
    const double distance = costs.back() / static_cast<double>(sounds_.size());
    if (!word.empty() && distance <= most && (!best || distance < best->distance)) {
      best = {.distance = distance, .end = end};
    }
    at = end + 1;
  }
  return best;
}

std::optional<PhraseMatch> WakePhrase::find(std::string_view text) const {
  for (size_t at = 0; at < text.size();) {
    if (auto match = begins(text.substr(at))) {
      match->end += at;
      return match;
    }
    at = next_sentence(text, at);
  }
  return std::nullopt;
}

}  // namespace mynah
