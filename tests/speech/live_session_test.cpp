// Live sessions: over a tiny model with random weights, and over one that hears a word every 0.4 s.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recognizer_fixture.h"
#include "speech/pause_hearing.h"
#include "word_model.h"

namespace mynah {
namespace {

using ::testing::IsEmpty;
using ::testing::StartsWith;

class LiveSessionTest : public WhisperRecognizerTest {
 protected:
  void SetUp() override {
    auto made = make_cpu_backend(pool_);
    ASSERT_TRUE(made.has_value());
    backend_ = std::move(*made);
  }

  // What came, and what else comes of all that was asked so far.
  static LiveText heard(Recognizer::Session& session, Result<LiveText> first) {
    EXPECT_TRUE(first.has_value());
    Result<LiveText> all = session.wait();
    EXPECT_TRUE(all.has_value());
    if (first && all) {
      std::vector<Segment>& committed = all->committed;
      committed.insert(committed.begin(), first->committed.begin(), first->committed.end());
    }
    return all.value_or(LiveText{});
  }

  static std::vector<float> two_sentences() {
    std::vector<float> samples(14 * kRate_hz, 0.0F);
    std::ranges::copy(speech("first", 3), samples.begin() + kRate_hz);
    std::ranges::copy(speech("second", 4), samples.begin() + 8 * kRate_hz);
    return samples;
  }

  // Pushes so much speech, or silence, and waits for the answers.
  LiveText say(Recognizer::Session& session, double seconds, bool speech = true) {
    const std::vector<float> samples(static_cast<size_t>(seconds * kRate_hz), speech ? 0.1F : 0.0F);
    return heard(session, session.push(samples));
  }

  ThreadPool pool_{1};
  std::unique_ptr<Backend> backend_;
  std::shared_ptr<const WordModel> words_ = std::make_shared<const WordModel>();
};

TEST_F(LiveSessionTest, ALiveSessionCommitsTheSameTextInPiecesOfAnySize) {
  const WindowRecognizer recognizer(tiny_windows(false, *backend_), voice_);
  const std::vector<float> samples = two_sentences();
  std::vector<std::string> results;
  for (const size_t piece : {size_t{512}, size_t{4096}, size_t{20000}}) {
    RecognizerOptions whole = options();
    whole.cutting.partial_text = false;
    const auto session = recognizer.session(whole).value();
    std::string committed;
    const auto take = [&](const Result<LiveText>& live) {
      ASSERT_TRUE(live.has_value()) << live.error().message;
      for (const Segment& segment : live->committed) {
        committed +=
            std::to_string(segment.id) + " " + std::to_string(segment.start_s) + segment.text;
      }
    };
    for (size_t at = 0; at < samples.size(); at += piece) {
      take(session->push(std::span(samples).subspan(at, std::min(piece, samples.size() - at))));
    }
    take(session->flush());
    results.push_back(committed);
  }
  EXPECT_FALSE(results[0].empty());
  EXPECT_EQ(results[1], results[0]);
  EXPECT_EQ(results[2], results[0]);
}

// Pauses that end a span of speech, but no piece of text.
TEST_F(LiveSessionTest, ALiveSessionKeepsNobodyWaitingWhoSpeaksWithoutAPause) {
  const WindowRecognizer recognizer(tiny_windows(false, *backend_), voice_);
  constexpr double kWindow_s = 8;
  constexpr double kPause_s = 0.3;
  // The last: no pause at all.
  for (const double every_s : {3.0, 5.0, 6.5, 100.0}) {
    std::vector<float> samples = speech("on and on", 40);
    for (int pause = 1; pause * every_s < 40; ++pause) {
      const double at_s = pause * every_s;
      std::fill_n(samples.begin() + std::llround(at_s * kRate_hz),
                  std::llround(std::min(kPause_s, 40 - at_s) * kRate_hz), 0.0F);
    }
    RecognizerOptions short_pieces = options();
    short_pieces.cutting.chunk_length_s = kWindow_s;
    short_pieces.cutting.partial_text = false;
    short_pieces.decoding.timestamps = false;  // a segment is its whole window
    const auto session = recognizer.session(short_pieces).value();
    double written_s = 0;  // so far as it was ended
    constexpr size_t kPiece = kRate_hz / 10;
    for (size_t at = 0; at < samples.size(); at += kPiece) {
      const auto piece = std::span(samples).subspan(at, kPiece);
      for (const Segment& segment : heard(*session, session->push(piece)).committed) {
        EXPECT_GE(segment.start_s, written_s - 0.01);
        written_s = segment.end_s;
      }
      const double said_s = static_cast<double>(at + kPiece) / kRate_hz;
      EXPECT_LE(said_s - written_s, kWindow_s + 1) << "a pause every " << every_s << " s";
    }
  }
}

TEST_F(LiveSessionTest, ASenderThatStopsSendingEndsWhatWasSaidByTheClock) {
  const WindowRecognizer recognizer(tiny_windows(false, *backend_), voice_);
  RecognizerOptions whole = options();
  whole.cutting.partial_text = false;
  whole.decoding.timestamps = false;  // a segment is its whole window
  const auto session = recognizer.session(whole).value();
  const auto idle = [&](double since_last_s, double since_played_s) {
    return heard(*session, session->idle({since_last_s, since_played_s})).committed;
  };
  EXPECT_THAT(idle(100, 100), testing::IsEmpty());  // nothing was said

  // The samples end in speech: a slow network may have cut it.
  ASSERT_TRUE(session->push(speech("first", 3)).has_value());
  EXPECT_THAT(idle(1.9, 1.9), testing::IsEmpty());
  std::vector<Segment> segments = idle(2.1, 2.1);
  ASSERT_THAT(segments, testing::SizeIs(1));
  EXPECT_NEAR(segments[0].end_s, 3, 0.1);
  EXPECT_THAT(idle(3, 3), testing::IsEmpty());  // said once

  // They end in a pause.
  std::vector<float> sentence = speech("second", 4);
  sentence.resize(sentence.size() + kRate_hz / 5, 0.0F);
  ASSERT_TRUE(session->push(sentence).has_value());
  EXPECT_THAT(idle(0.5, -2), testing::IsEmpty());
  segments = idle(0.7, -2);
  ASSERT_THAT(segments, testing::SizeIs(1));
  EXPECT_NEAR(segments[0].start_s, 3, 0.1);  // times are the samples'
  EXPECT_EQ(segments[0].id, 1);
  EXPECT_THAT(session->flush()->committed, testing::IsEmpty());
}

TEST_F(LiveSessionTest, WhoeverServesASessionIsToldOfVoicesTurnsAndAnswers) {
  const WindowRecognizer recognizer(tiny_windows(false, *backend_), voice_);
  RecognizerOptions whole = options();
  whole.cutting.partial_text = false;
  const auto session = recognizer.session(whole).value();
  std::counting_semaphore<> answers(0);
  session->on_answer([&answers] { answers.release(); });
  const LiveText begun = session->push(speech("first", 3)).value();
  ASSERT_THAT(begun.events, testing::SizeIs(testing::Ge(1U)));
  EXPECT_EQ(begun.events.front().kind, VoiceEvent::Kind::Began);
  EXPECT_EQ(begun.turns_ended, 0);
  const LiveText ended = session->end_turn().value();
  ASSERT_THAT(ended.events, testing::SizeIs(testing::Ge(1U)));
  EXPECT_EQ(ended.events.back().kind, VoiceEvent::Kind::Ended);
  EXPECT_EQ(ended.turns_ended, 1);
  EXPECT_EQ(ended.turns_heard, 0);
  answers.acquire();
  const LiveText heard = session->idle({}).value();
  EXPECT_EQ(heard.turns_heard, 1);
  EXPECT_THAT(heard.committed, testing::SizeIs(1));
  // Nothing was said since: that is no turn.
  EXPECT_EQ(session->end_turn()->turns_ended, 1);
}

// As a download of pieces of a broadcast does: each comes at once, and ends in the middle of a
// word.
TEST_F(LiveSessionTest, ASenderOfPiecesOfWhatGoesOnIsWaitedForMorePatiently) {
  const WindowRecognizer recognizer(tiny_windows(false, *backend_), voice_);
  RecognizerOptions whole = options();
  whole.cutting.partial_text = false;
  const auto session = recognizer.session(whole).value();
  const auto commits = [&](double since_last_s, double since_played_s) {
    return !heard(*session, session->idle({since_last_s, since_played_s})).committed.empty();
  };
  ASSERT_TRUE(session->push(speech("a", 4)).has_value());
  EXPECT_TRUE(commits(2.1, -1));
  ASSERT_TRUE(session->push(speech("b", 4)).has_value());  // speech at once: it was cut
  EXPECT_FALSE(commits(3.9, -1));
  EXPECT_TRUE(commits(4.1, -1));
  ASSERT_TRUE(session->push(speech("c", 4)).has_value());
  EXPECT_FALSE(commits(7.9, 1.9));
  EXPECT_TRUE(commits(6, 2.1));  // played to its end
  std::vector<float> late(kRate_hz, 0.0F);
  std::ranges::copy(speech("d", 4), std::back_inserter(late));
  ASSERT_TRUE(session->push(late).has_value());  // it was not cut
  EXPECT_TRUE(commits(2.1, -1));
}

TEST_F(LiveSessionTest, ALiveSessionTimesTheWordsThatItCommits) {
  const WindowRecognizer recognizer(tiny_windows(false, *backend_), voice_);
  const std::vector<float> samples = two_sentences();
  RecognizerOptions with_words = options();
  with_words.decoding.words = true;
  const auto session = recognizer.session(with_words).value();
  const auto first = session->push(samples);
  const auto rest = session->flush();
  ASSERT_TRUE(first.has_value() && rest.has_value());
  std::vector<Segment> segments = first->committed;
  std::ranges::copy(rest->committed, std::back_inserter(segments));
  ASSERT_FALSE(segments.empty());
  for (const Segment& segment : segments) {
    std::string said;
    for (const Word& word : segment.words) {
      EXPECT_LE(word.start_s, word.end_s);
      EXPECT_LE(word.end_s, 14.5);
      said += word.text;
    }
    EXPECT_EQ(said, segment.text);
  }
}

TEST_F(LiveSessionTest, ALiveSessionSaysWhichLanguageItHeard) {
  const WindowRecognizer recognizer(tiny_windows(true, *backend_), voice_);
  RecognizerOptions unknown = options();
  unknown.decoding.language = "auto";
  const auto session = recognizer.session(unknown).value();
  const auto early = session->push(speech("a", 0.5));
  ASSERT_TRUE(early.has_value());
  EXPECT_EQ(early->language, "");
  ASSERT_TRUE(session->push(speech("b", 2)).has_value());
  const auto rest = session->flush();
  ASSERT_TRUE(rest.has_value());
  EXPECT_NE(rest->language, "");
  EXPECT_GT(rest->language_probability, 0.0F);
}

TEST_F(LiveSessionTest, WordsOnWhichTwoDraftsAgreeAreSaidForGood) {
  const WindowRecognizer recognizer(words_, voice_);
  const auto session = recognizer.session(options()).value();
  LiveText live = say(*session, 1.3);
  EXPECT_EQ(live.agreed, "");
  EXPECT_THAT(live.partial, StartsWith(" w0 w1 x")) << "a draft";
  live = say(*session, 0.4);
  EXPECT_EQ(live.agreed, " w0") << "more stands behind it";
  EXPECT_THAT(live.partial, StartsWith(" w1 w2 x"));
  std::string said = live.agreed;
  for (int i = 0; i < 20; ++i) {
    live = say(*session, 0.4);
    EXPECT_THAT(live.agreed, StartsWith(said));
    said = live.agreed;
  }
  EXPECT_THAT(said, testing::EndsWith(" w20"));
  live = say(*session, 1, false);
  ASSERT_EQ(live.committed.size(), 1U);
  EXPECT_THAT(live.committed[0].text, StartsWith(said));
  EXPECT_EQ(live.agreed + live.partial, "");
  EXPECT_EQ(words_->texts(), 1);
  EXPECT_THAT(say(*session, 1.7).agreed, "") << "of another turn";
}

TEST_F(LiveSessionTest, AnyPauseIsHeardAsTheTurnsEndWhereThatIsWanted) {
  const WindowRecognizer recognizer(words_, voice_);
  const auto session = recognizer.session(options()).value();
  auto* const pauses = dynamic_cast<PauseHearing*>(session.get());
  ASSERT_NE(pauses, nullptr);
  pauses->hear_pauses();
  say(*session, 2);
  EXPECT_EQ(words_->texts(), 0);
  const int drafts = words_->drafts();
  EXPECT_GT(drafts, 0);
  const int64_t voice_ended = 2 * kRate_hz;
  for (int i = 0; i < 4; ++i) {
    const LiveText live = say(*session, 0.1, false);
    EXPECT_THAT(live.committed, IsEmpty()) << "it may go on";
  }
  EXPECT_EQ(words_->texts(), 1) << "once, however long the pause";
  EXPECT_EQ(words_->drafts(), drafts);
  const PauseDraft draft = pauses->pause_draft();
  EXPECT_GT(draft.until, voice_ended);
  // It goes on: there is another pause.
  say(*session, 1);
  EXPECT_GT(words_->drafts(), drafts);
  say(*session, 0.3, false);
  EXPECT_EQ(words_->texts(), 2);
  EXPECT_THAT(pauses->pause_draft().text, StartsWith(draft.text));
  const LiveText ended = heard(*session, session->end_turn());
  ASSERT_EQ(ended.committed.size(), 1U);
  EXPECT_EQ(pauses->pause_draft().until, 0);
}

// Of a Whisper, a draft's segments with their timestamps.
TEST_F(LiveSessionTest, AWindowsTextBeginsWithWhatADraftOfItSaid) {
  for (const bool timestamps : {true, false}) {
    RecognizerOptions how = options();
    how.decoding.timestamps = timestamps;
    how.decoding.whisper.compression_ratio_threshold.reset();
    how.decoding.whisper.log_probability_threshold.reset();
    const auto decoder = tiny_windows(false, *backend_)->decoder(how.decoding).value();
    const std::vector<float> samples = speech("said", 4);
    WindowTask task{
        .samples = std::span(samples).first(2 * kRate_hz), .language = "en", .alone = true};
    const auto draft = decoder->draft(task, {});
    ASSERT_TRUE(draft.has_value() && !draft->text().empty());
    task.samples = samples;
    task.begun = draft->segments;
    Segment& last = task.begun.back();
    last.closing.reset();
    last.tokens.resize((last.tokens.size() + 1) / 2);
    last.token_log_probabilities.resize(last.tokens.size());
    const auto heard = decoder->decode(std::span(&task, 1), {});
    ASSERT_TRUE(heard.has_value());
    std::vector<int32_t> wanted;
    std::vector<int32_t> found;
    for (const Segment& segment : task.begun) {
      wanted.insert(wanted.end(), segment.tokens.begin(), segment.tokens.end());
    }
    for (const Segment& segment : heard->front().segments) {
      found.insert(found.end(), segment.tokens.begin(), segment.tokens.end());
    }
    ASSERT_GE(found.size(), wanted.size());
    found.resize(wanted.size());
    EXPECT_EQ(found, wanted);
  }
}

TEST_F(LiveSessionTest, NoDraftsAreMadeWhereNobodyLooks) {
  const WindowRecognizer recognizer(words_, voice_);
  RecognizerOptions unseen = options();
  unseen.cutting.partial_text = false;
  const auto session = recognizer.session(unseen).value();
  EXPECT_EQ(say(*session, 5).partial, "");
  EXPECT_EQ(words_->drafts(), 0);
  EXPECT_EQ(session->flush()->committed.size(), 1U);
}

TEST_F(LiveSessionTest, WhatWasSaidForGoodStaysThoughItIsNobodysInTheEnd) {
  const auto words = std::make_shared<WordModel>();
  const WindowRecognizer recognizer(words, voice_);
  const auto session = recognizer.session(options()).value();
  say(*session, 2);
  const std::string said = say(*session, 0.5).agreed;
  EXPECT_THAT(said, StartsWith(" w0"));
  words->be_nobody();
  const auto last = session->flush();
  ASSERT_TRUE(last.has_value());
  ASSERT_EQ(last->committed.size(), 1U);
  EXPECT_EQ(last->committed[0].text, said);
  say(*session, 0.2);
  EXPECT_THAT(session->flush()->committed, IsEmpty()) << "nothing was said of it before";
}

TEST_F(LiveSessionTest, NothingIsDecodedInAPush) {
  const auto words = std::make_shared<WordModel>();
  const WindowRecognizer recognizer(words, voice_);
  const auto session = recognizer.session(options()).value();
  words->close(true);
  for (int i = 0; i < 5; ++i) {  // they come back though nobody hears
    ASSERT_TRUE(session->push(std::vector<float>(3 * kRate_hz, 0.1F)).has_value());
    ASSERT_TRUE(session->push(std::vector<float>(kRate_hz, 0.0F)).has_value());
  }
  words->close(false);
  const auto live = session->flush();
  ASSERT_TRUE(live.has_value());
  EXPECT_EQ(words->texts(), 5);
}

TEST_F(LiveSessionTest, WhoeverSendsFasterThanItIsHeardWaits) {
  const auto words = std::make_shared<WordModel>();
  const WindowRecognizer recognizer(words, voice_);
  const auto session = recognizer.session(options()).value();
  words->close(true);
  std::atomic<int> minutes = 0;
  std::jthread sender([&] {
    for (; minutes < 3; ++minutes) {
      for (int i = 0; i < 6; ++i) {
        EXPECT_TRUE(session->push(std::vector<float>(9 * kRate_hz, 0.1F)).has_value());
        EXPECT_TRUE(session->push(std::vector<float>(kRate_hz, 0.0F)).has_value());
      }
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LE(minutes, 1);
  words->close(false);
  sender.join();
  EXPECT_EQ(minutes, 3);
  EXPECT_TRUE(session->flush().has_value());
  EXPECT_EQ(words->texts(), 18);
}

TEST_F(LiveSessionTest, AStopEndsASessionUntilItIsReset) {
  const auto words = std::make_shared<WordModel>();
  const WindowRecognizer recognizer(words, voice_);
  const auto session = recognizer.session(options()).value();
  ASSERT_TRUE(session->push(std::vector<float>(3 * kRate_hz, 0.1F)).has_value());
  words->close(true);
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  const auto stopped = session->flush(stop.get_token());
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
  EXPECT_EQ(session->push({}).error().code, ErrorCode::Cancelled);
  words->close(false);
  session->reset();
  EXPECT_THAT(say(*session, 2).partial, StartsWith(" w0"));
}

}  // namespace
}  // namespace mynah
