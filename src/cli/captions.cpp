#include "cli/captions.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "speech/writers.h"

namespace mynah::cli {

namespace {

using Json = nlohmann::ordered_json;

double rounded(double seconds) {
  constexpr double kSteps = 1e4;
  return std::round(seconds * kSteps) / kSteps;
}

Status write_one(const std::string& path, TranscriptFormat format, const Transcript& transcript) {
  if (path.empty()) {
    return {};
  }
  MYNAH_TRY(AtomicFile file, AtomicFile::create(path));
  MYNAH_TRY_STATUS(file.write(write_transcript(transcript, format, {})));
  return file.commit();
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

Json to_json(const SpokenClause& clause) {
  Json words = Json::array();
  for (const SpokenWord& word : clause.words) {
    Json phonemes = Json::array();
    for (const SpokenPhoneme& phoneme : word.phonemes) {
      phonemes.push_back({{"phoneme", phoneme.symbol},
                          {"start", rounded(phoneme.start_s)},
                          {"end", rounded(phoneme.end_s)}});
    }
    words.push_back({{"word", word.text},
                     {"start", rounded(word.start_s)},
                     {"end", rounded(word.end_s)},
                     {"phonemes", std::move(phonemes)}});
  }
  return {{"text", clause.text},
          {"start", rounded(clause.start_s)},
          {"end", rounded(clause.end_s)},
          {"first_byte", clause.begin},
          {"words", std::move(words)}};
}

Status write_captions(const Transcript& transcript, const CaptionOptions& options) {
  MYNAH_TRY_STATUS(write_one(options.srt, TranscriptFormat::Srt, transcript));
  return write_one(options.vtt, TranscriptFormat::Vtt, transcript);
}

}  // namespace mynah::cli
