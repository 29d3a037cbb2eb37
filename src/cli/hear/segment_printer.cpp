#include "cli/hear/segment_printer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "speech/writer_parts.h"

namespace mynah::cli {

namespace {

// Ten steps of the 256-colour palette from red over yellow to green.
constexpr std::array<int, 10> kColours = {196, 202, 208, 214, 220, 226, 190, 154, 118, 82};

std::string painted(const Word& word, Confidence confidence) {
  const double p = std::clamp<double>(word.probability, 0, 1);
  if (confidence == Confidence::Colours) {
    const auto step =
        std::min<size_t>(kColours.size() - 1, static_cast<size_t>(p * p * p * kColours.size()));
    return fmt::format("\033[38;5;{}m{}\033[0m", kColours[step], word.text);
  }
  const int style = p < 0.33 ? 7 : p < 0.66 ? 4 : 2;
  return fmt::format("\033[{}m{}\033[0m", style, word.text);
}

std::string text_of(const Segment& segment, const PrintOptions& options) {
  std::string text;
  if (options.confidence != Confidence::Hidden && !segment.words.empty()) {
    for (const Word& word : segment.words) {
      text += painted(word, options.confidence);
    }
    return text;
  }
  return segment.text;
}

}  // namespace

std::string segment_line(const Segment& segment, const PrintOptions& options) {
  const bool whisper_cpp = options.style == TranscriptStyle::WhisperCpp;
  std::string text = speaker_prefix(segment.speaker) + text_of(segment, options);
  std::ranges::replace(text, '\n', ' ');
  if (!options.times) {
    return whisper_cpp ? text : text.substr(std::min(text.find_first_not_of(' '), text.size()));
  }
  const Hours hours = whisper_cpp ? Hours::Always : Hours::WhereNeeded;
  return fmt::format(
      "[{} --> {}] {}{}", clock_time(segment.start_s, '.', hours),
      clock_time(segment.end_s, '.', hours), whisper_cpp ? " " : "",
      whisper_cpp ? text : text.substr(std::min(text.find_first_not_of(' '), text.size())));
}

}  // namespace mynah::cli
