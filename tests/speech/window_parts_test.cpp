// The parts between tokens and transcripts: cutting, chunking, aligning, judging.
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "models/whisper/alignment.h"
#include "models/whisper/tiny_model.h"
#include "speech/decode_quality.h"
#include "speech/hearing.h"
#include "speech/sample_buffer.h"
#include "speech/speech_chunker.h"
#include "speech/whisper/window_segments.h"
#include "speech/word_times.h"

namespace mynah {
namespace {

class WindowSegmentsTest : public testing::Test {
 protected:
  int32_t at(double seconds) const {
    return tokenizer_->special().timestamp_begin + static_cast<int32_t>(std::lround(seconds * 50));
  }

  Result<WhisperTokenizer> tokenizer_ = WhisperTokenizer::create(
      test::tiny_vocabulary(test::tiny_config(false)), test::tiny_config(false).n_vocab);
};

TEST_F(WindowSegmentsTest, PairsOfTimestampsEndSegmentsAndTheUnfinishedRestIsHeardAgain) {
  const std::vector<int32_t> tokens = {at(0), 300,     301,     at(2.0), at(2.5),
                                       302,   at(4.0), at(4.0), 303};
  const WindowSegments cut = cut_into_segments(*tokenizer_, tokens, 30.0);
  ASSERT_EQ(cut.segments.size(), 2U);
  EXPECT_EQ(cut.segments[0].tokens, (std::vector<int32_t>{300, 301}));
  EXPECT_DOUBLE_EQ(cut.segments[0].end_s, 2.0);
  EXPECT_DOUBLE_EQ(cut.segments[1].start_s, 2.5);
  EXPECT_EQ(cut.segments[1].token_indices, (std::vector<size_t>{5}));
  EXPECT_DOUBLE_EQ(cut.next_s, 4.0);
  EXPECT_FALSE(cut.single_timestamp_ending);
  EXPECT_EQ(cut.segments[0].opening_index, 0U);
  EXPECT_EQ(cut.segments[0].closing_index, 3U);
  EXPECT_EQ(cut.segments[1].opening_index, 4U);
  EXPECT_EQ(cut.segments[1].closing_index, 6U);
}

TEST_F(WindowSegmentsTest, ALoneTimestampAtTheEndSaysThatNothingFollows) {
  const std::vector<int32_t> tokens = {at(0), 300, at(2.0), at(2.0), 301, at(3.0)};
  const WindowSegments cut = cut_into_segments(*tokenizer_, tokens, 10.0);
  ASSERT_EQ(cut.segments.size(), 2U);
  EXPECT_DOUBLE_EQ(cut.segments[1].end_s, 3.0);
  EXPECT_DOUBLE_EQ(cut.next_s, 10.0);
  EXPECT_TRUE(cut.single_timestamp_ending);
}

TEST_F(WindowSegmentsTest, TextWithoutTimestampsLastsAsLongAsTheAudio) {
  const std::vector<int32_t> tokens = {300, 301};
  const WindowSegments cut = cut_into_segments(*tokenizer_, tokens, 7.25);
  ASSERT_EQ(cut.segments.size(), 1U);
  EXPECT_DOUBLE_EQ(cut.segments[0].start_s, 0);
  EXPECT_DOUBLE_EQ(cut.segments[0].end_s, 7.25);
  EXPECT_FALSE(cut.segments[0].opening_index || cut.segments[0].closing_index);
  EXPECT_TRUE(cut_into_segments(*tokenizer_, {}, 1.0).segments[0].tokens.empty());
}

TEST_F(WindowSegmentsTest, OfAWindowWithoutAnotherBehindItTheUnfinishedRestIsKept) {
  const std::vector<int32_t> tokens = {at(0), 300, at(2.0), at(2.5), 301, 302};
  const WindowSegments cut = cut_into_segments(*tokenizer_, tokens, 5.0, LastWords::Kept);
  ASSERT_EQ(cut.segments.size(), 2U);
  EXPECT_EQ(cut.segments[1].tokens, (std::vector<int32_t>{301, 302}));
  EXPECT_DOUBLE_EQ(cut.segments[1].start_s, 2.5);
  EXPECT_DOUBLE_EQ(cut.segments[1].end_s, 5.0);
  EXPECT_DOUBLE_EQ(cut.next_s, 5.0);
  EXPECT_FALSE(cut.segments[1].closing_index.has_value());
}

using Chunks = std::vector<SpeechChunk>;

TEST(SpeechChunkerTest, SpansWithShortPausesAreOneStretchAndLongPausesCutIt) {
  SpeechChunker chunker({}, 100);
  const std::vector<SpeechSpan> spans = {{5.0, 7.0}, {8.5, 10.0}, {20.0, 21.0}};
  EXPECT_EQ(chunker.push(spans, 22.0), (Chunks{{{460, 1040}, {500, 1000}}}));
  EXPECT_EQ(chunker.flush(40.0), (Chunks{{{1960, 2140}, {2000, 2100}}}));
}

TEST(SpeechChunkerTest, ShortPausesAtTheEndsOfARecordingAreKept) {
  SpeechChunker chunker({}, 100);
  EXPECT_TRUE(chunker.push(std::vector<SpeechSpan>{{1.5, 4.0}}, 4.5).empty());
  EXPECT_EQ(chunker.flush(5.8), (Chunks{{{0, 580}, {150, 400}}}));
}

TEST(SpeechChunkerTest, SpeechIsWithinThePaddingOfItsSpansAndNotWithinWhatIsCut) {
  SpeechChunker chunker({.max_s = 20.0, .span_pad_s = 0.3}, 100);
  // 0.1 of the 0.3 seconds is left to soft sounds; where a chunk is cut in speech there is none.
  EXPECT_EQ(chunker.push(std::vector<SpeechSpan>{{5.0, 30.0}}, 34.0),
            (Chunks{{{500, 2500}, {520, 2500}}, {{2500, 3040}, {2500, 2980}}}));
  SpeechChunker exact({.span_pad_s = 0.0}, 100);
  EXPECT_EQ(exact.push(std::vector<SpeechSpan>{{5.0, 6.0}}, 34.0),
            (Chunks{{{460, 640}, {490, 610}}}));
  SpeechChunker wide({.span_pad_s = 2.0}, 100);
  EXPECT_EQ(wide.push(std::vector<SpeechSpan>{{5.0, 6.0}}, 34.0),
            (Chunks{{{460, 640}, {500, 600}}}));
}

TEST(SpeechChunkerTest, AFullChunkEndsAtTheLongestPauseOfItsSecondHalf) {
  SpeechChunker chunker({.max_s = 20.0, .pad_s = 0.0}, 100);
  // Pauses of 2, 1 and 0.2 seconds before one too many: the first is too early to cut at.
  const std::vector<SpeechSpan> spans = {{0, 3}, {5, 12}, {13, 17}, {17.2, 19}, {19.5, 25}};
  EXPECT_EQ(chunker.push(spans, 0.0), (Chunks{{{0, 1200}, {0, 1200}}}));
  EXPECT_EQ(chunker.flush(25.0), (Chunks{{{1300, 2500}, {1300, 2500}}}));
}

TEST(SpeechChunkerTest, WhatIsLeftAfterACutIsCutAgainWhereItIsStillTooMuch) {
  SpeechChunker chunker({.max_s = 20.0, .pad_s = 0.0}, 100);
  const std::vector<SpeechSpan> spans = {{0, 10.5}, {11.5, 19}, {19.1, 38}};
  EXPECT_EQ(chunker.push(spans, 0.0),
            (Chunks{{{0, 1050}, {0, 1050}}, {{1150, 1900}, {1150, 1900}}}));
  EXPECT_EQ(chunker.flush(38.0), (Chunks{{{1910, 3800}, {1910, 3800}}}));
}

TEST(SpeechChunkerTest, NoChunkIsLongerThanAWindowAndNoneOverlap) {
  SpeechChunker chunker({}, 100);
  Chunks chunks =
      chunker.push(std::vector<SpeechSpan>{{0.5, 28.0}, {28.2, 40.0}, {40.1, 140.0}}, 140.0);
  for (const SpeechChunk& last : chunker.flush(141.0)) {
    chunks.push_back(last);
  }
  ASSERT_GE(chunks.size(), 5U);
  int64_t end = 0;
  for (const auto& [chunk, speech] : chunks) {
    EXPECT_GE(chunk.begin, end);
    EXPECT_LE(chunk.begin, speech.begin);
    EXPECT_LT(speech.begin, speech.end);
    EXPECT_LE(speech.end, chunk.end);
    EXPECT_LE(chunk.end - chunk.begin, 3000);
    EXPECT_LE(chunk.begin, end + 60) << "speech was left out";
    end = chunk.end;
  }
  EXPECT_EQ(end, 14100);
}

Segment said(double start_s, double end_s) {
  Segment segment;
  segment.start_s = start_s;
  segment.end_s = end_s;
  return segment;
}

TEST(KeepToSpeechTest, SilenceAroundAChunksSpeechIsOfNoSegment) {
  std::vector<Segment> segments = {said(4.0, 6.0), said(6.0, 8.0), said(8.0, 10.0)};
  keep_to_speech(segments, 5.2, 9.0);
  EXPECT_DOUBLE_EQ(segments[0].start_s, 5.2);
  EXPECT_DOUBLE_EQ(segments[0].end_s, 6.0);
  EXPECT_DOUBLE_EQ(segments[1].start_s, 6.0);
  EXPECT_DOUBLE_EQ(segments[1].end_s, 8.0);
  EXPECT_DOUBLE_EQ(segments[2].start_s, 8.0);
  EXPECT_DOUBLE_EQ(segments[2].end_s, 9.0);
}

TEST(KeepToSpeechTest, WordsAreCutToSpeechWithTheirSegment) {
  std::vector<Segment> segments = {said(4.6, 9.4)};
  segments[0].words = {{.text = " yes", .start_s = 4.6, .end_s = 7.0, .probability = 1},
                       {.text = " no", .start_s = 7.0, .end_s = 9.4, .probability = 1}};
  keep_to_speech(segments, 5.0, 9.0);
  EXPECT_DOUBLE_EQ(segments[0].start_s, 5.0);
  EXPECT_DOUBLE_EQ(segments[0].end_s, 9.0);
  EXPECT_DOUBLE_EQ(segments[0].words[0].start_s, 5.0);
  EXPECT_DOUBLE_EQ(segments[0].words[0].end_s, 7.0);
  EXPECT_DOUBLE_EQ(segments[0].words[1].end_s, 9.0);
}

TEST(KeepToSpeechTest, WhatTheDetectorMissedKeepsItsTimes) {
  std::vector<Segment> segments = {said(4.0, 4.6), said(4.5, 7.0), said(9.3, 10.0)};
  segments[1].words = {{.text = " oh", .start_s = 4.6, .end_s = 4.8, .probability = 1},
                       {.text = " yes", .start_s = 4.8, .end_s = 7.0, .probability = 1}};
  keep_to_speech(segments, 5.0, 9.0);
  EXPECT_DOUBLE_EQ(segments[0].start_s, 4.0);
  EXPECT_DOUBLE_EQ(segments[0].end_s, 4.6);
  EXPECT_DOUBLE_EQ(segments[1].start_s, 4.6) << "where its first word begins";
  EXPECT_DOUBLE_EQ(segments[1].words[0].start_s, 4.6);
  EXPECT_DOUBLE_EQ(segments[1].words[1].start_s, 5.0);
  EXPECT_DOUBLE_EQ(segments[2].start_s, 9.3);
  EXPECT_DOUBLE_EQ(segments[2].end_s, 10.0);
}

TEST(SampleBufferTest, SamplesKeepTheirNumbersWhenOldOnesGo) {
  SampleBuffer buffer;
  std::vector<float> piece(1000);
  for (int i = 0; i < 50; ++i) {
    std::iota(piece.begin(), piece.end(), static_cast<float>(i * 1000));
    buffer.append(piece);
    buffer.discard_before(i * 1000 - 1500);
  }
  EXPECT_EQ(buffer.end(), 50000);
  EXPECT_EQ(buffer.begin(), 47500);
  EXPECT_EQ(buffer.slice(48000, 48002)[1], 48001.0F);
  EXPECT_EQ(buffer.slice(0, 47501).size(), 1U);
  EXPECT_TRUE(buffer.slice(60000, 70000).empty());
}

TEST(WarpTest, ThePathFollowsTheCheapCells) {
  // Cheap where column / 2 == row.
  std::vector<float> cost;
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 6; ++column) {
      cost.push_back(column / 2 == row ? -1.0F : 1.0F);
    }
  }
  const whisper::WarpingPath path = whisper::warp(cost, 3, 6);
  EXPECT_EQ(path.rows, (std::vector<int64_t>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(path.columns, (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
}

TEST(WordTimesTest, PunctuationJoinsTheWordItBelongsTo) {
  std::vector<HeardWord> words = {{" \"", {1}, 0.0, 0.1, 1}, {"Hello", {2}, 0.1, 0.5, 1},
                                  {",", {3}, 0.5, 0.6, 1},   {" world", {4}, 0.6, 1.0, 1},
                                  {".", {5}, 1.0, 1.4, 1},   {"\"", {6}, 1.4, 1.5, 1}};
  merge_punctuation(words);
  ASSERT_EQ(words.size(), 2U);
  EXPECT_EQ(words[0].text, " \"Hello,");
  EXPECT_EQ(words[0].tokens, (std::vector<int32_t>{1, 2, 3}));
  EXPECT_DOUBLE_EQ(words[0].start_s, 0.1);
  EXPECT_EQ(words[1].text, " world.\"");
}

TEST(WordTimesTest, WordsAtTheEndOfASentenceAreAtMostTwiceTheMedian) {
  std::vector<HeardWord> words = {{" a", {1}, 0.0, 0.2, 1},
                                  {" b", {2}, 0.2, 0.4, 1},
                                  {".", {3}, 0.4, 3.0, 1},
                                  {" c", {4}, 3.0, 3.2, 1}};
  EXPECT_DOUBLE_EQ(shorten_sentence_ends(words), 0.2);
  EXPECT_DOUBLE_EQ(words[2].end_s, 0.8);
}

TEST(WordTimesTest, AnImprobableSegmentInSilenceIsDropped) {
  Segment said;
  said.end_s = 2;
  said.text = " said";
  said.words = {{" said", 0.0, 0.5, 0.9F}, {" so", 0.5, 1.0, 0.9F}};
  Segment invented;
  invented.start_s = 20;
  invented.end_s = 20.1;
  invented.text = " invented";
  invented.words = {{" invented", 20.0, 20.05, 0.05F}};
  std::vector<Segment> segments = {said, invented};
  const WindowExtent window{.start_s = 0, .end_s = 30, .recording_end_s = 60, .last_speech_s = 0};
  EXPECT_DOUBLE_EQ(drop_hallucinations(segments, window, 2.0), 20.0);
  ASSERT_EQ(segments.size(), 1U);
  EXPECT_EQ(segments[0].text, " said");
}

// The words' ends, where they begin together with the ones before.
std::vector<double> ends_of(std::vector<Word> words, double least_s = 0) {
  Segment segment = said(words.front().start_s, words.back().end_s);
  segment.words = std::move(words);
  give_words_length(std::span(&segment, 1), least_s);
  std::vector<double> ends;
  double before_s = 0;
  for (const Word& word : segment.words) {
    EXPECT_LT(word.start_s, word.end_s);
    EXPECT_LE(before_s, word.start_s);
    before_s = word.end_s;
    ends.push_back(word.end_s);
  }
  EXPECT_LE(segment.start_s, segment.words.front().start_s);
  EXPECT_GE(segment.end_s, segment.words.back().end_s);
  return ends;
}

TEST(WordTimesTest, WordsWithoutALengthGetAShareOfTheNextOnes) {
  using Ends = std::vector<double>;
  EXPECT_EQ(ends_of({{" it", 1, 1}, {" was", 1, 1.7}}), (Ends{1.3, 1.7}));
  EXPECT_EQ(ends_of({{" so", 0, 1}, {" it", 1, 1}, {" is", 1, 1}, {" a", 1, 1.8}}),
            (Ends{1, 1.3, 1.6, 1.8}));
  EXPECT_EQ(ends_of({{" it", 1, 1}, {" was", 2, 2.7}}), (Ends{1.3, 2.7})) << "a pause stays";
  // At the end: of the one before, of a moment, of nothing.
  EXPECT_EQ(ends_of({{" a", 0, 1}, {" go", 1, 2}, {" up", 2, 2}}), (Ends{1, 1.5, 2}));
  EXPECT_EQ(ends_of({{" a", 0, 1}, {" up", 2, 2}}), (Ends{1, 2}));
  EXPECT_EQ(ends_of({{" up", 2, 2}}), (Ends{2}));
  EXPECT_EQ(ends_of({{" up", 2, 2}}, 2), (Ends{2.1}));
  EXPECT_EQ(ends_of({{" as", 1, 1.5}, {" is", 1.5, 2}}), (Ends{1.5, 2})) << "others stay";
}

TEST(DecodeQualityTest, RepetitionCompressesAndHasLittleEntropy) {
  std::string said_again;
  for (int i = 0; i < 20; ++i) {
    said_again += " Thank you very much.";
  }
  EXPECT_GT(compression_ratio(said_again), 2.4F);
  EXPECT_LT(compression_ratio(" The quick brown fox jumps over the lazy dog."), 2.4F);
  EXPECT_EQ(compression_ratio(""), 0.0F);
  EXPECT_EQ(token_entropy(std::vector<int32_t>(40, 7)), 0.0F);
  std::vector<int32_t> different(40);
  std::iota(different.begin(), different.end(), 0);
  EXPECT_NEAR(token_entropy(different), std::log(32.0F), 1e-5F);
}

TEST(DecodeQualityTest, ATextIsDoubtfulThroughoutByTheMeanOfItsTokens) {
  const auto segment = [](size_t tokens, float log_probability) {
    Segment made;
    made.tokens.resize(tokens);
    made.mean_log_probability = log_probability;
    return made;
  };
  EXPECT_TRUE(doubtful_throughout(std::vector{segment(20, -1.2F)}));
  EXPECT_FALSE(doubtful_throughout(std::vector{segment(20, -0.5F)}));
  EXPECT_TRUE(doubtful_throughout(std::vector{segment(20, -1.2F), segment(3, -0.1F)}));
  EXPECT_FALSE(doubtful_throughout(std::vector{segment(3, -1.2F), segment(20, -0.1F)}));
  EXPECT_FALSE(doubtful_throughout(std::vector{segment(5, -1.2F)})) << "a word or two say little";
  EXPECT_FALSE(doubtful_throughout({}));
}

}  // namespace
}  // namespace mynah
