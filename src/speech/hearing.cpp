#include "speech/hearing.h"

#include <algorithm>

#include "text/languages.h"

namespace mynah {

std::string HearingFacts::language_asked(const std::string& language) const {
  if (language == "auto" || !multilingual()) {
    return {};
  }
  const auto found = find_language(language);
  const std::string code = found ? std::string(mynah::languages()[*found].code) : std::string();
  return std::ranges::find(languages, code) != languages.end() ? code : std::string();
}

std::vector<Segment> segments_at(const HeardWindow& window, double offset_s) {
  std::vector<Segment> segments = window.segments;
  for (Segment& segment : segments) {
    segment.start_s = offset_s + segment.start_s;
    segment.end_s = offset_s + segment.end_s;
    for (Word& word : segment.words) {
      word.start_s = offset_s + word.start_s;
      word.end_s = offset_s + word.end_s;
    }
  }
  return segments;
}

void keep_to_speech(std::span<Segment> segments, double begin_s, double end_s) {
  const auto keep = [&](auto& said, double from_s, double to_s) {
    if (begin_s < said.end_s && said.start_s < end_s) {
      said.start_s = std::max(said.start_s, from_s);
      said.end_s = std::min(said.end_s, to_s);
    }
  };
  for (Segment& segment : segments) {
    std::ranges::for_each(segment.words, [&](Word& word) { keep(word, begin_s, end_s); });
    const bool words = !segment.words.empty();
    keep(segment, words ? std::min(begin_s, segment.words.front().start_s) : begin_s,
         words ? std::max(end_s, segment.words.back().end_s) : end_s);
  }
}

bool ends_early(std::span<const Segment> segments, double begin_s, double speech_s) {
  constexpr double kLeastLeft_s = 2;
  constexpr double kMostLetters = 20;  // a second: more have been said in longer than is told
  if (segments.empty()) {
    return false;
  }
  size_t letters = 0;
  for (const Segment& segment : segments) {
    letters += segment.text.size();
  }
  const double end_s = segments.back().end_s;
  return speech_s - end_s >= kLeastLeft_s &&
         static_cast<double>(letters) <= kMostLetters * (end_s - begin_s);
}

}  // namespace mynah
