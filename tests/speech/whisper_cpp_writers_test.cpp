// Transcripts as whisper.cpp writes them, and segments cut as it cuts them.
#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "speech/writers.h"

namespace mynah {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

const std::function<std::string(int32_t)> kTokenText = [](int32_t id) -> std::string {
  static const std::vector<std::string> texts = {" Hel", "lo", " wor", "ld", "<|endoftext|>"};
  return texts.at(static_cast<size_t>(id));
};

Transcript two_words() {
  return {.language = "en",
          .duration_s = 11,
          .segments = {{.start_s = 0,
                        .end_s = 11,
                        .text = " Hello world",
                        .tokens = {0, 1, 2, 3, 4},
                        .token_log_probabilities = {0, 0, 0, 0, 0},
                        .words = {{.text = " Hello", .start_s = 1, .end_s = 2},
                                  {.text = " world", .start_s = 3, .end_s = 5}}}}};
}

TEST(WhisperCpp, TextFilesKeepTheSpaceInFront) {
  WriterOptions options{.style = TranscriptStyle::WhisperCpp, .first_cue = 4};
  const Transcript transcript = two_words();
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::Txt, options), " Hello world\n");
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::Srt, options),
            "4\n00:00:00,000 --> 00:00:11,000\n Hello world\n\n");
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::Vtt, options),
            "WEBVTT\n\n00:00:00.000 --> 00:00:11.000\n Hello world\n\n");
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::Csv, options),
            "start,end,text\n0,11000,\" Hello world\"\n");
}

TEST(WhisperCpp, NamesSpeakersAsItDoes) {
  Transcript transcript = two_words();
  transcript.segments[0].speaker = "1";
  const WriterOptions options{.style = TranscriptStyle::WhisperCpp};
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::Txt, options),
            "(speaker 1) Hello world\n");
  EXPECT_THAT(write_transcript(transcript, TranscriptFormat::Vtt, options),
              HasSubstr("\n<v Speaker1> Hello world\n"));
  EXPECT_EQ(write_transcript(transcript, TranscriptFormat::Csv, options),
            "start,end,speaker,text\n0,11000,1,\" Hello world\"\n");
  EXPECT_EQ(Json::parse(write_transcript(transcript, TranscriptFormat::Json,
                                         options))["transcription"][0]["speaker"],
            "1");
}

TEST(WhisperCpp, JsonHasItsSchema) {
  WriterOptions options;
  options.style = TranscriptStyle::WhisperCpp;
  options.model_path = "models/ggml-tiny.en.bin";
  options.language = "en";
  options.facts.type = "tiny";
  options.facts.n_vocab = 51864;
  const Json json = Json::parse(write_transcript(two_words(), TranscriptFormat::Json, options));
  EXPECT_EQ(json["model"]["type"], "tiny");
  EXPECT_EQ(json["model"]["vocab"], 51864);
  EXPECT_EQ(json["model"]["audio"]["ctx"], 0);
  EXPECT_EQ(json["model"]["multilingual"], false);
  EXPECT_EQ(json["params"], Json::parse(R"({"model": "models/ggml-tiny.en.bin",
                                            "language": "en", "translate": false})"));
  EXPECT_EQ(json["result"]["language"], "en");
  EXPECT_EQ(json["transcription"], Json::parse(R"([{
      "timestamps": {"from": "00:00:00,000", "to": "00:00:11,000"},
      "offsets": {"from": 0, "to": 11000}, "text": " Hello world"}])"));
}

TEST(WhisperCpp, FullJsonGivesEachTokenItsShareOfTheWord) {
  const WriterOptions options{.style = TranscriptStyle::WhisperCpp, .token_text = kTokenText};
  const Json tokens = Json::parse(write_transcript(two_words(), TranscriptFormat::JsonFull,
                                                   options))["transcription"][0]["tokens"];
  ASSERT_EQ(tokens.size(), 5U);
  EXPECT_EQ(tokens[3], Json::parse(R"({"text": "ld",
      "timestamps": {"from": "00:00:04,000", "to": "00:00:05,000"},
      "offsets": {"from": 4000, "to": 5000}, "id": 3, "p": 1.0, "t_dtw": 400.0})"));
  EXPECT_EQ(tokens[4],
            Json::parse(R"({"text": "<|endoftext|>", "id": 4, "p": 1.0, "t_dtw": -1.0})"));
}

TEST(SplitSegments, CutsAtWordsAndKeepsTokensWithThem) {
  const std::vector<Segment> pieces = split_segments(two_words().segments, 1, kTokenText);
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0].text, " Hello");
  EXPECT_EQ(pieces[0].tokens, (std::vector<int32_t>{0, 1}));
  EXPECT_DOUBLE_EQ(pieces[1].start_s, 3);
  EXPECT_DOUBLE_EQ(pieces[1].end_s, 5);
  EXPECT_EQ(pieces[1].tokens, (std::vector<int32_t>{2, 3, 4}));
  EXPECT_EQ(pieces[1].id, 1);
}

TEST(SplitSegments, TimestampsStayAtTheEnds) {
  std::vector<Segment> segments = two_words().segments;
  segments[0].opening = TimestampToken{.token = 90, .log_probability = 0, .position = 0};
  segments[0].closing = TimestampToken{.token = 165, .log_probability = 0, .position = 75};
  const std::vector<Segment> pieces = split_segments(segments, 1, kTokenText);
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(text_with_timestamps(pieces[0], TranscriptStyle::WhisperCpp), "[_BEG_] Hello");
  EXPECT_EQ(text_with_timestamps(pieces[1], TranscriptStyle::WhisperCpp), " world[_TT_75]");
  EXPECT_EQ(text_with_timestamps(segments[0], TranscriptStyle::OpenAi),
            "<|0.00|> Hello world<|1.50|>");
  segments[0].opening->position = 10;  // whisper.cpp drops it
  EXPECT_EQ(text_with_timestamps(segments[0], TranscriptStyle::WhisperCpp), " Hello world[_TT_75]");
}

TEST(WhisperCpp, FullJsonHasTheTimestampsAsTokens) {
  Transcript transcript = two_words();
  Segment& segment = transcript.segments[0];
  segment.opening = TimestampToken{.token = 90, .log_probability = 0, .position = 0};
  segment.closing = TimestampToken{.token = 165, .log_probability = -1, .position = 75};
  const Json json = Json::parse(
      write_transcript(transcript, TranscriptFormat::JsonFull,
                       {.style = TranscriptStyle::WhisperCpp, .token_text = kTokenText}));
  const Json& tokens = json["transcription"][0]["tokens"];
  ASSERT_EQ(tokens.size(), segment.tokens.size() + 2);
  EXPECT_EQ(tokens.front()["text"], "[_BEG_]");
  EXPECT_EQ(tokens.front()["id"], 90);
  EXPECT_EQ(tokens.front()["offsets"]["from"], json["transcription"][0]["offsets"]["from"]);
  EXPECT_EQ(tokens.back()["text"], "[_TT_75]");
  EXPECT_NEAR(tokens.back()["p"].get<double>(), 0.367879, 1e-6);
  EXPECT_EQ(tokens.back()["offsets"]["to"], json["transcription"][0]["offsets"]["to"]);
}

TEST(SplitSegments, LeavesWhatFitsOrHasNoWords) {
  std::vector<Segment> segments = two_words().segments;
  EXPECT_EQ(split_segments(segments, 12, kTokenText).size(), 1U);
  segments[0].words.clear();
  EXPECT_EQ(split_segments(segments, 1, kTokenText).size(), 1U);
}

TEST(Karaoke, QuotesNamesAndText) {
  Transcript transcript = two_words();
  transcript.segments[0].words[0].text = " {\\Hello}";
  const std::string script =
      write_transcript(transcript, TranscriptFormat::Wts, {.file = "it's $HOME.wav"});
  EXPECT_THAT(script, StartsWith("#!/bin/sh\n"));
  EXPECT_THAT(script, HasSubstr(R"(input='it'\''s $HOME.wav')"));
  EXPECT_THAT(script, HasSubstr("0:00:00.00,0:00:11.00,Words,,0,0,0,,"
                                R"({\k100}{\k100} (/Hello){\k100}{\k200} world)"));
  std::ofstream(testing::TempDir() + "karaoke.sh") << script;
  EXPECT_EQ(std::system(("sh -n '" + testing::TempDir() + "karaoke.sh'").c_str()), 0);
}

}  // namespace
}  // namespace mynah
