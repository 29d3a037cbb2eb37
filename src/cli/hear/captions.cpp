#include "cli/hear/captions.h"

#include <cmath>
#include <span>

#include <nlohmann/json.hpp>

#include "cli/files/named_output.h"
#include "speech/writers.h"

namespace mynah::cli {

namespace {

using Json = nlohmann::ordered_json;

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
  options.cues = CueShape::Readable;
  const std::string text = write_transcript(transcript, format, options);
  MYNAH_TRY_STATUS(output.sink().write(std::as_bytes(std::span(text))));
  return output.commit();
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
  MYNAH_TRY_STATUS(write_one(options.srt, TranscriptFormat::Srt, transcript, out));
  return write_one(options.vtt, TranscriptFormat::Vtt, transcript, out);
}

}  // namespace mynah::cli
