#include "server/hear/transcript_answer.h"

#include <algorithm>
#include <cmath>

#include "server/hear/hear_file.h"
#include "server/http/json_text.h"
#include "speech/writers.h"

namespace mynah::server {
namespace {

using AnswerJson = nlohmann::ordered_json;

// Whole seconds, as OpenAI counts them.
AnswerJson usage_by_duration(const Transcript& transcript) {
  return {{"type", "duration"}, {"seconds", std::llround(std::ceil(transcript.duration_s))}};
}

std::string json_answer(const Transcript& transcript, const TranscriptionRequest& request,
                        const Recognizer& recognizer) {
  AnswerJson json = {{"text", text_of_whole(transcript)}};
  json["languages"] = AnswerJson::array({AnswerJson{{"code", transcript.language}}});
  if (transcript.segments.empty()) {
    json["no_speech"] = true;
  }
  if (request.log_probabilities) {
    json["logprobs"] = log_probabilities(transcript.segments, recognizer);
  }
  json["usage"] = usage_by_duration(transcript);
  return json_text(json) + "\n";
}

}  // namespace

Response transcript_answer(const Transcript& transcript, TranscriptAnswer answer,
                           const TranscriptionRequest& request, const Recognizer& recognizer) {
  WriterOptions writer;
  writer.cues = CueShape::Readable;
  writer.words = request.options.decoding.words;
  Response response;
  switch (answer) {
    case TranscriptAnswer::Json:
      response.body = json_answer(transcript, request, recognizer);
      break;
    case TranscriptAnswer::VerboseJson: {
      AnswerJson json = AnswerJson::parse(transcript_json_line(transcript, writer));
      // By its name, as OpenAI and whisper.cpp's server have it.
      json["language"] = language_name(transcript.language);
      json["usage"] = usage_by_duration(transcript);
      response.body = json_text(json) + "\n";
      break;
    }
    case TranscriptAnswer::Text:
      response.type = "text/plain; charset=utf-8";
      response.body = text_of_whole(transcript) + "\n";
      break;
    case TranscriptAnswer::Srt:
      response.type = "text/plain; charset=utf-8";
      response.body = write_transcript(transcript, TranscriptFormat::Srt, writer);
      break;
    case TranscriptAnswer::Vtt:
      response.type = "text/vtt; charset=utf-8";
      response.body = write_transcript(transcript, TranscriptFormat::Vtt, writer);
      break;
  }
  return response;
}

nlohmann::ordered_json log_probabilities(std::span<const Segment> segments,
                                         const Recognizer& recognizer) {
  AnswerJson all = AnswerJson::array();
  for (const Segment& segment : segments) {
    const size_t count = std::min(segment.tokens.size(), segment.token_log_probabilities.size());
    for (size_t i = 0; i < count; ++i) {
      const std::string text = recognizer.token_text(segment.tokens[i]);
      AnswerJson bytes = AnswerJson::array();
      for (const char c : text) {
        bytes.push_back(static_cast<unsigned char>(c));
      }
      all.push_back({{"token", text},
                     {"bytes", std::move(bytes)},
                     {"logprob", segment.token_log_probabilities[i]}});
    }
  }
  return all;
}

}  // namespace mynah::server
