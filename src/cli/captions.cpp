#include "cli/captions.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <nlohmann/json.hpp>

#include "cli/named_output.h"
#include "speech/writers.h"

namespace mynah::cli {

namespace {

using Json = nlohmann::ordered_json;

// What is read with ease beside a picture (BBC subtitle guidelines: 37 to 42 characters, two
// lines).
constexpr int kLineCharacters = 42;
constexpr int kLines = 2;

double rounded(double seconds) {
  constexpr double kSteps = 1e4;
  return std::round(seconds * kSteps) / kSteps;
}

Status write_one(const std::string& path, TranscriptFormat format, const Transcript& transcript,
                 OutputStream& out) {
  if (path.empty()) {
    return {};
  }
  MYNAH_TRY(NamedOutput output, NamedOutput::open(path, out));
  WriterOptions options;
  options.max_line_width = kLineCharacters;
  const std::string text = write_transcript(transcript, format, options);
  MYNAH_TRY_STATUS(output.sink().write(std::as_bytes(std::span(text))));
  return output.commit();
}

// A clause whose words nobody timed: each has its share of the time by its length.
void share_out_time(Segment& segment) {
  const double each = (segment.end_s - segment.start_s) /
                      static_cast<double>(std::max<size_t>(1, segment.text.size()));
  for (size_t begin = 0; begin < segment.text.size();) {
    const size_t end = std::min(segment.text.find(' ', begin + 1), segment.text.size());
    segment.words.push_back({.text = segment.text.substr(begin, end - begin),
                             .start_s = segment.start_s + each * static_cast<double>(begin),
                             .end_s = segment.start_s + each * static_cast<double>(end),
                             .probability = 1});
    begin = end;
  }
}

// A cue is a clause, or where that is long a part of it.
Transcript in_cues(Transcript transcript) {
  for (Segment& segment : transcript.segments) {
    std::ranges::replace(segment.text, '\n', ' ');
    if (segment.words.empty()) {
      share_out_time(segment);
    }
  }
  transcript.segments = split_segments(transcript.segments, kLines * kLineCharacters, {});
  return transcript;
}

}  // namespace

Segment segment_of(const SpokenClause& clause, int64_t id) {
  Segment segment;
  segment.id = id;
  segment.start_s = clause.start_s;
  segment.end_s = clause.end_s;
  segment.text = " " + clause.text;
  for (const SpokenWord& word : clause.words) {
    segment.words.push_back(
        {.text = " " + word.text, .start_s = word.start_s, .end_s = word.end_s, .probability = 1});
  }
  return segment;
}

Json to_json(const SpokenClause& clause, double offset_s, size_t offset_bytes) {
  const auto time = [offset_s](double seconds) { return rounded(seconds + offset_s); };
  Json words = Json::array();
  for (const SpokenWord& word : clause.words) {
    Json phonemes = Json::array();
    for (const SpokenPhoneme& phoneme : word.phonemes) {
      phonemes.push_back({{"phoneme", phoneme.symbol},
                          {"start", time(phoneme.start_s)},
                          {"end", time(phoneme.end_s)}});
    }
    words.push_back({{"word", word.text},
                     {"start", time(word.start_s)},
                     {"end", time(word.end_s)},
                     {"phonemes", std::move(phonemes)}});
  }
  return {{"text", clause.text},
          {"start", time(clause.start_s)},
          {"end", time(clause.end_s)},
          {"first_byte", clause.begin + offset_bytes},
          {"words", std::move(words)}};
}

Status write_captions(const Transcript& transcript, const CaptionOptions& options,
                      OutputStream& out) {
  const Transcript cues = in_cues(transcript);
  MYNAH_TRY_STATUS(write_one(options.srt, TranscriptFormat::Srt, cues, out));
  return write_one(options.vtt, TranscriptFormat::Vtt, cues, out);
}

}  // namespace mynah::cli
