// JSON: OpenAI's verbose_json (API reference, audio/verbose-json-object) with openai/whisper's
// words inside segments, and whisper.cpp's own schema (examples/cli output_json).
#include <cmath>

#include <nlohmann/json.hpp>

#include "speech/writer_parts.h"
#include "text/utf8.h"

namespace mynah {

namespace {

using Json = nlohmann::ordered_json;

// Enough digits for a millisecond and a probability, without the noise of binary fractions.
double rounded(double value, double steps) {
  return std::isfinite(value) ? std::round(value * steps) / steps : 0;
}

double seconds(double value) {
  return rounded(value, 1e3);
}

double figure(double value) {
  return rounded(value, 1e6);
}

std::string dump(const Json& json, int indent) {
  // ensure_ascii off; broken UTF-8 is replaced, never thrown at.
  return json.dump(indent, '\t', false, Json::error_handler_t::replace);
}

Json segment_words(const Segment& segment) {
  Json words = Json::array();
  for (const Word& word : segment.words) {
    words.push_back({{"word", word.text},
                     {"start", seconds(word.start_s)},
                     {"end", seconds(word.end_s)},
                     {"probability", figure(word.probability)}});
  }
  return words;
}

Json segment_json(const Segment& segment, const WriterOptions& options) {
  Json json = {{"id", segment.id},
               // Whisper's position of the window in 10 ms frames; here the segment's own.
               {"seek", to_milliseconds(segment.start_s) / 10},
               {"start", seconds(segment.start_s)},
               {"end", seconds(segment.end_s)},
               {"text", segment.text},
               {"tokens", segment.tokens},
               {"temperature", figure(segment.temperature)},
               {"avg_logprob", figure(segment.mean_log_probability)},
               {"compression_ratio", figure(segment.compression_ratio)},
               {"no_speech_prob", figure(segment.no_speech_probability)}};
  if (!segment.speaker.empty()) {
    json["speaker"] = segment.speaker;
  }
  if (!segment.words.empty() && options.words) {
    json["words"] = segment_words(segment);
  }
  return json;
}

// The API's list over the whole recording: words without the space before them.
Json all_words(const Transcript& transcript) {
  Json words = Json::array();
  for (const Segment& segment : transcript.segments) {
    for (const Word& word : segment.words) {
      words.push_back({{"word", one_line(word.text)},
                       {"start", seconds(word.start_s)},
                       {"end", seconds(word.end_s)}});
    }
  }
  return words;
}

Json whisper_cpp_times(double start_s, double end_s) {
  return {{"timestamps",
           {{"from", clock_time(start_s, ',', Hours::Always)},
            {"to", clock_time(end_s, ',', Hours::Always)}}},
          {"offsets", {{"from", to_milliseconds(start_s)}, {"to", to_milliseconds(end_s)}}}};
}

// Tokens of one word share its time evenly; t_dtw is in units of 10 ms, -1 where it is not known.
Json whisper_cpp_tokens(const Segment& segment, const WriterOptions& options) {
  const auto words = token_words(segment, options.token_text);
  std::vector<int> in_word(segment.words.size());
  for (const auto& word : words) {
    if (word) {
      ++in_word[*word];
    }
  }
  std::vector<int> seen(segment.words.size());
  Json tokens = Json::array();
  const auto add_timestamp = [&](const TimestampToken& timestamp, double time_s) {
    Json token = {{"text", timestamp_text(timestamp, TranscriptStyle::WhisperCpp)}};
    token.update(whisper_cpp_times(time_s, time_s));
    token.update({{"id", timestamp.token},
                  {"p", figure(std::exp(timestamp.log_probability))},
                  {"t_dtw", -1.0}});
    tokens.push_back(std::move(token));
  };
  if (segment.opening && segment.opening->position == 0) {
    add_timestamp(*segment.opening, segment.start_s);
  }
  for (size_t i = 0; i < segment.tokens.size(); ++i) {
    const int32_t id = segment.tokens[i];
    Json token = {{"text", options.token_text ? options.token_text(id) : std::string()}};
    double dtw = -1;
    if (words[i]) {
      const Word& word = segment.words[*words[i]];
      const double step = (word.end_s - word.start_s) / in_word[*words[i]];
      const double start = word.start_s + step * seen[*words[i]]++;
      token.update(whisper_cpp_times(start, start + step));
      dtw = std::round(start * 100);
    }
    const bool known = i < segment.token_log_probabilities.size();
    token["id"] = id;
    token["p"] = known ? figure(std::exp(segment.token_log_probabilities[i])) : 0.0;
    token["t_dtw"] = dtw;
    tokens.push_back(std::move(token));
  }
  if (segment.closing) {
    add_timestamp(*segment.closing, segment.end_s);
  }
  return tokens;
}

Json whisper_cpp_model(const WriterOptions& options) {
  const ModelFacts& facts = options.facts;
  return {{"type", facts.type},
          {"multilingual", options.multilingual},
          {"vocab", facts.n_vocab},
          {"audio",
           {{"ctx", facts.n_audio_ctx},
            {"state", facts.n_audio_state},
            {"head", facts.n_audio_head},
            {"layer", facts.n_audio_layer}}},
          {"text",
           {{"ctx", facts.n_text_ctx},
            {"state", facts.n_text_state},
            {"head", facts.n_text_head},
            {"layer", facts.n_text_layer}}},
          {"mels", facts.n_mels},
          {"ftype", facts.ftype}};
}

}  // namespace

std::string transcript_json_line(const Transcript& transcript, const WriterOptions& options) {
  std::string text;
  bool words = false;
  Json segments = Json::array();
  for (const Segment& segment : transcript.segments) {
    text += segment.text;
    words = words || (options.words && !segment.words.empty());
    segments.push_back(segment_json(segment, options));
  }
  Json json;
  if (!options.file.empty()) {
    json["file"] = options.file;
  }
  json["task"] = transcript.task;
  json["language"] = transcript.language;
  json["duration"] = seconds(transcript.duration_s);
  json["text"] = one_line(text);
  json["segments"] = std::move(segments);
  if (words) {
    json["words"] = all_words(transcript);
  }
  json["language_probability"] = figure(transcript.language_probability);
  json["model"] = transcript.model;
  json["device"] = transcript.device;
  if (transcript.placement) {
    json["placement"] = to_json(*transcript.placement);
  }
  json["timings"] = Json::array();
  for (const StageTiming& timing : transcript.timings) {
    json["timings"].push_back({{"stage", timing.stage},
                               {"device", timing.device},
                               {"milliseconds", seconds(timing.milliseconds)}});
  }
  json["notes"] = transcript.notes;
  for (const std::string& explanation : transcript.explanations) {
    json["notes"].push_back(explanation);
  }
  return dump(json, -1);
}

std::string write_whisper_cpp_json(const Transcript& transcript, bool tokens,
                                   const WriterOptions& options) {
  Json json;
  json["systeminfo"] = options.system_info;
  json["model"] = whisper_cpp_model(options);
  json["params"] = {{"model", options.model_path},
                    {"language", options.language},
                    {"translate", transcript.task == "translate"}};
  json["result"] = {{"language", transcript.language}};
  json["transcription"] = Json::array();
  for (const Segment& segment : transcript.segments) {
    Json entry = whisper_cpp_times(segment.start_s, segment.end_s);
    entry["text"] = segment.text;
    if (tokens) {
      entry["tokens"] = whisper_cpp_tokens(segment, options);
    }
    if (!segment.speaker.empty()) {
      entry["speaker"] = segment.speaker;
    }
    json["transcription"].push_back(std::move(entry));
  }
  return dump(json, 1) + "\n";
}

}  // namespace mynah
