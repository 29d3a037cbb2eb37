#include "speech/wake/wake_spotter.h"

#include <algorithm>
#include <utility>

#include "speech/hearing.h"

namespace mynah {
namespace {

// A network that may be right at so little is seldom looked at and finds what its own cutoff does
// not (docs/wake.md).
constexpr double kMaybe = 0.05;
// Of what is looked at: words of four syllables spoken slowly, and what a network that takes little
// for enough has not heard of them yet.
constexpr double kBefore_s = 1.6;
constexpr double kBehind_s = 0.3;

WakeOptions options_of(WakeOptions options, bool looks) {
  options.maybe = looks ? kMaybe : 0;
  return options;
}

}  // namespace

WakeSpotter::WakeSpotter(std::vector<std::shared_ptr<const WakeWord>> words, WakeOptions options,
                         bool looks)
    : phrases_(phrases_of(words)), listener_(std::move(words), options_of(options, looks)) {}

std::vector<WakeSpotter::Phrase> WakeSpotter::phrases_of(
    std::span<const std::shared_ptr<const WakeWord>> words) {
  std::vector<Phrase> phrases;
  for (const auto& word : words) {
    const WakeWordFacts& facts = word->facts();
    if (auto phrase = WakePhrase::create(facts.phrase)) {
      phrases.push_back({.name = facts.name,
                         .phrase = *std::move(phrase),
                         .language = facts.languages.empty() ? "" : facts.languages.front()});
    }
  }
  return phrases;
}

WakeSpotter::Found WakeSpotter::push(std::span<const float> samples) {
  Found found;
  heard_.append(samples);
  for (WakeDetection& detection : listener_.push(samples)) {
    if (detection.sure) {
      std::erase_if(waiting_, [&](const WakeDetection& one) { return one.name == detection.name; });
      found.words.push_back(std::move(detection));
    } else {
      waiting_.push_back(std::move(detection));
    }
  }
  std::erase_if(waiting_, [&](const WakeDetection& maybe) {
    const int64_t end = maybe.sample + samples_of(kBehind_s);
    if (end > heard_.end()) {
      return false;
    }
    const auto phrase = std::ranges::find(phrases_, maybe.name, &Phrase::name);
    if (phrase != phrases_.end()) {
      const int64_t begin = std::max(maybe.sample - samples_of(kBefore_s), heard_.begin());
      const auto around = heard_.slice(begin, end);
      found.looks.push_back({.maybe = maybe,
                             .samples = {around.begin(), around.end()},
                             .begin = begin,
                             .phrase = phrase->phrase,
                             .language = phrase->language});
    }
    return true;
  });
  heard_.discard_before(heard_.end() - samples_of(kBefore_s + kBehind_s));
  return found;
}

std::optional<WakeDetection> WakeSpotter::take(const WakeLook& look, const WakeVerdict& verdict) {
  if (!verdict.is_word() || !listener_.confirm(look.maybe.name, look.maybe.sample)) {
    return std::nullopt;
  }
  WakeDetection word = look.maybe;
  word.sample = look.begin + samples_of(verdict.end_s);
  return word;
}

void WakeSpotter::reset() {
  listener_.reset();
  heard_ = {};
  waiting_.clear();
}

Result<std::vector<WakeDetection>> spot(
    WakeSpotter& spotter, WakeCheck* check, std::span<const float> samples,
    const std::stop_token& stop,
    const std::function<void(const WakeLook& look, const WakeVerdict& verdict)>& looked) {
  WakeSpotter::Found found = spotter.push(samples);
  if (check == nullptr) {
    return std::move(found.words);
  }
  for (const WakeLook& look : found.looks) {
    MYNAH_TRY(const WakeVerdict verdict,
              check->look(look.samples, look.phrase, look.language, stop));
    if (looked) {
      looked(look, verdict);
    }
    if (auto word = spotter.take(look, verdict)) {
      found.words.push_back(*std::move(word));
    }
  }
  return std::move(found.words);
}

}  // namespace mynah
