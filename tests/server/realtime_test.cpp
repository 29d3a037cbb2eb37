// Realtime, its parts: turns, settings, items and sound.
#include <array>
#include <atomic>
#include <cmath>
#include <latch>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audio/g711.h"
#include "server/realtime/conversation.h"
#include "server/realtime/lanes.h"
#include "server/realtime/reply_hold.h"
#include "server/realtime/reply_items.h"
#include "server/realtime/settings.h"
#include "server/realtime/sound_input.h"
#include "server/realtime/turn_rule.h"
#include "store/base64.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;
using Kind = VoiceEvent::Kind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr TurnTimes kTimes{.least_speech = 100, .silence = 500, .waiting = 5000};

TurnStep started(int64_t at) {
  return {TurnStep::Kind::Started, at};
}

TurnStep stopped(int64_t at) {
  return {TurnStep::Kind::Stopped, at};
}

TEST(TurnRule, ATurnIsSpeechUntilASilence) {
  TurnRule rule(kTimes);
  EXPECT_THAT(rule.take(std::array{VoiceEvent{Kind::Began, 1000}}, 1050), IsEmpty());
  EXPECT_THAT(rule.take({}, 1100), ElementsAre(started(1000)));
  EXPECT_TRUE(rule.is_open());
  // Short pauses are part of it, also where the detector takes them for an end.
  EXPECT_THAT(rule.take(std::array{VoiceEvent{Kind::Paused, 2000}, VoiceEvent{Kind::WentOn, 2300},
                                   VoiceEvent{Kind::Paused, 3000}, VoiceEvent{Kind::Ended, 3400},
                                   VoiceEvent{Kind::Began, 3450}},
                        3460),
              IsEmpty());
  EXPECT_THAT(rule.take(std::array{VoiceEvent{Kind::Paused, 4000}}, 4499), IsEmpty());
  EXPECT_THAT(rule.take({}, 4500), ElementsAre(stopped(4000)));
  EXPECT_FALSE(rule.is_open());
}

TEST(TurnRule, AKnockIsNone) {
  TurnRule rule(kTimes);
  EXPECT_THAT(rule.take(std::array{VoiceEvent{Kind::Began, 1000}, VoiceEvent{Kind::Paused, 1050},
                                   VoiceEvent{Kind::Ended, 1150}},
                        2000),
              IsEmpty());
}

TEST(TurnRule, SeveralTurnsInOnePiece) {
  TurnRule rule(kTimes);
  EXPECT_THAT(rule.take(std::array{VoiceEvent{Kind::Began, 0}, VoiceEvent{Kind::Paused, 700},
                                   VoiceEvent{Kind::WentOn, 1300}, VoiceEvent{Kind::Began, 1400},
                                   VoiceEvent{Kind::Paused, 1600}},
                        9000),
              ElementsAre(started(0), stopped(700), started(1400), stopped(1600)));
  EXPECT_THAT(rule.take({}, 14'000), ElementsAre(TurnStep{TurnStep::Kind::WaitedInVain, 9000}))
      << "waiting counts from where the turn was seen to end";
}

TEST(TurnRule, WaitsForATurnOnceAfterTheLast) {
  TurnRule rule(kTimes);
  EXPECT_THAT(rule.take({}, 100'000), IsEmpty()) << "nobody said anything yet";
  rule.wait_from(100'000);
  EXPECT_THAT(rule.take({}, 104'999), IsEmpty());
  EXPECT_THAT(rule.take({}, 105'000), ElementsAre(TurnStep{TurnStep::Kind::WaitedInVain, 100'000}));
  EXPECT_THAT(rule.take({}, 200'000), IsEmpty());
}

TEST(RealtimeSettings, AreTheDefaultsOfToday) {
  const Json told = Settings(true, "whisper-1").told("sess_1", false);
  EXPECT_EQ(told["type"], "transcription");
  EXPECT_EQ(told["id"], "sess_1");
  const Json& input = told["audio"]["input"];
  EXPECT_EQ(input["format"].dump(), R"({"type":"audio/pcm","rate":24000})");
  EXPECT_EQ(input["transcription"]["model"], "whisper-1");
  EXPECT_EQ(
      input["turn_detection"].dump(),
      R"({"type":"server_vad","threshold":0.5,"prefix_padding_ms":300,"silence_duration_ms":500})");
  EXPECT_FALSE(told["audio"].contains("output"));
}

TEST(RealtimeSettings, TakeWhatClientsSend) {
  Settings settings(false, "gpt-realtime");
  // As LiveKit and agents-js have it.
  ASSERT_TRUE(settings.update(Json::parse(R"({"type": "realtime", "output_modalities": ["audio"],
    "instructions": "Be kind.", "tracing": null, "unheard_of": 1, "audio": {"input": {
      "format": {"type": "audio/pcm", "rate": 16000}, "noise_reduction": {"type": "near_field"},
      "transcription": {"model": "m", "language": "en-GB", "prompt": "p", "keywords": ["a", "b"]},
      "turn_detection": {"type": "server_vad", "threshold": 0.3, "silence_duration_ms": 350,
                         "idle_timeout_ms": 6000, "interrupt_response": false}},
      "output": {"voice": {"id": "cedar"}, "speed": 1.5, "format": {"type": "audio/pcmu"}}}})")));
  const HearingWish& hearing = settings.hearing();
  EXPECT_EQ(hearing.format, (SoundFormatWish{SoundEncoding::Pcm16, 16000}));
  EXPECT_EQ(hearing.model, "m");
  EXPECT_EQ(hearing.language, "en-GB");
  EXPECT_EQ(hearing.prompt, "p");
  EXPECT_EQ(hearing.hotwords, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(hearing.turns->threshold, 0.3);
  EXPECT_EQ(hearing.turns->silence_duration_ms, 350);
  EXPECT_EQ(hearing.turns->prefix_padding_ms, 300);
  EXPECT_EQ(hearing.turns->idle_timeout_ms, 6000);
  EXPECT_FALSE(hearing.turns->interrupts);
  EXPECT_EQ(settings.speaking().voice, "cedar");
  EXPECT_EQ(settings.speaking().format, (SoundFormatWish{SoundEncoding::Mulaw, 8000}));
  const Json told = settings.told("s", false);
  EXPECT_EQ(told["instructions"], "Be kind.");
  EXPECT_FALSE(told.contains("unheard_of"));
  EXPECT_EQ(told["audio"]["input"]["turn_detection"]["create_response"], false);
  EXPECT_EQ(told["audio"]["input"]["noise_reduction"], nullptr);
  // What is not named stays; null switches off.
  ASSERT_TRUE(settings.update(
      Json::parse(R"({"audio": {"input": {"turn_detection": null, "transcription": null}}})")));
  EXPECT_FALSE(settings.hearing().turns);
  EXPECT_FALSE(settings.tells_transcripts());
  EXPECT_EQ(settings.hearing().format.rate_hz, 16000);
}

TEST(RealtimeSettings, SemanticTurnsAreToldAsTheyAreWhereAModelHearsEnds) {
  Settings settings(false, "");
  settings.set_hears_ends(true);
  ASSERT_TRUE(settings.update(Json::parse(
      R"({"audio": {"input": {"turn_detection": {"type": "semantic_vad", "eagerness": "low"}}}})")));
  Json turns = settings.told("s", false)["audio"]["input"]["turn_detection"];
  EXPECT_EQ(turns["type"], "semantic_vad");
  EXPECT_EQ(turns["eagerness"], "low");
  EXPECT_FALSE(turns.contains("silence_duration_ms"));
  EXPECT_FALSE(turns.contains("note"));
  EXPECT_EQ(settings.hearing().turns->eagerness, Eagerness::Low);

  const auto refused = settings.update(Json::parse(
      R"({"audio": {"input": {"turn_detection": {"type": "semantic_vad", "eagerness": "very"}}}})"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().error.message, HasSubstr("wanted auto, low, medium or high"));

  ASSERT_TRUE(settings.update(
      Json::parse(R"({"audio": {"input": {"turn_detection": {"type": "server_vad"}}}})")));
  turns = settings.told("s", false)["audio"]["input"]["turn_detection"];
  EXPECT_EQ(turns["type"], "server_vad");
  EXPECT_EQ(settings.hearing().turns->eagerness, std::nullopt);
}

TEST(RealtimeSettings, SemanticTurnsAreServersWithANote) {
  Settings settings(false, "");
  ASSERT_TRUE(settings.update(Json::parse(
      R"({"audio": {"input": {"turn_detection": {"type": "semantic_vad", "eagerness": "low"}}}})")));
  const Json turns = settings.told("s", false)["audio"]["input"]["turn_detection"];
  EXPECT_EQ(turns["type"], "server_vad");
  EXPECT_EQ(turns["silence_duration_ms"], 800);
  EXPECT_THAT(turns["note"].get<std::string>(), HasSubstr("semantic_vad"));
}

TEST(RealtimeSettings, WhatNobodyKnowsIsNamedAndNotTold) {
  Settings settings(false, "");
  ASSERT_TRUE(settings.update(
      {{"type", "realtime"},
       {"instrctions", "x"},
       {"audio",
        {{"input",
          {{"transcription", {{"model", "tiny.en"}, {"langauge", "de"}, {"delay", "low"}}},
           {"turn_detection", {{"type", "server_vad"}, {"silence_ms", 9}}}}},
         {"output", {{"voice", "alloy"}, {"sped", 2}}}}}}));
  const Json told = settings.told("sess_1", false);
  EXPECT_EQ(told["note"],
            "nothing here is called session.instrctions, "
            "session.audio.input.transcription.langauge, "
            "session.audio.input.turn_detection.silence_ms, session.audio.output.sped");
  EXPECT_EQ(told["audio"]["input"]["transcription"],
            (Json{{"model", "tiny.en"}, {"delay", "low"}}));
  ASSERT_TRUE(settings.update(told));
  EXPECT_FALSE(settings.told("sess_1", false).contains("note")) << "what it is told is known";
}

TEST(RealtimeSettings, TakeTheFlatNamesOfTheBeta) {
  Settings settings(false, "");
  ASSERT_TRUE(settings.update(Json::parse(R"({"modalities": ["text"], "voice": "echo",
    "input_audio_format": "g711_alaw", "output_audio_format": "pcm16",
    "input_audio_transcription": {"model": "whisper-1"}, "turn_detection": null})")));
  EXPECT_EQ(settings.hearing().format.encoding, SoundEncoding::Alaw);
  EXPECT_FALSE(settings.hearing().turns);
  EXPECT_FALSE(settings.speaking().sound);
  const Json told = settings.told("s", true);
  EXPECT_EQ(told["input_audio_format"], "g711_alaw");
  EXPECT_EQ(told["output_audio_format"], "pcm16");
  EXPECT_EQ(told["turn_detection"], nullptr);
  EXPECT_EQ(told["voice"], "echo");
  EXPECT_EQ(told["modalities"].dump(), R"(["text"])");
  EXPECT_FALSE(told.contains("audio"));
}

TEST(RealtimeSettings, WhatIsWrongChangesNothing) {
  Settings settings(false, "");
  const Json before = settings.told("s", false);
  for (const auto& [session, field] :
       {std::pair(R"({"type": "translation"})", "session.type"),
        std::pair(R"({"audio": {"input": {"format": {"type": "audio/mp3"}}}})",
                  "session.audio.input.format"),
        std::pair(R"({"audio": {"input": {"format": {"type": "audio/pcm", "rate": 4000}}}})",
                  "session.audio.input.format.rate"),
        std::pair(R"({"audio": {"input": {"format": {"type": "audio/pcmu"},
                      "turn_detection": {"type": "nobody_vad"}}}})",
                  "session.audio.input.turn_detection.type"),
        std::pair(R"({"turn_detection": {"threshold": 2}})",
                  "session.audio.input.turn_detection.threshold"),
        std::pair(R"({"turn_detection": 5})", "session.audio.input.turn_detection"),
        std::pair(R"({"audio": []})", "session.audio"),
        std::pair(R"({"audio": {"input": {"transcription": {"model": 7}}}})",
                  "session.audio.input.transcription.model"),
        std::pair(R"({"audio": {"output": {"speed": 9}}})", "session.audio.output.speed"),
        std::pair(R"({"output_modalities": ["smell"]})", "session.output_modalities")}) {
    const auto wrong = settings.update(Json::parse(session));
    ASSERT_FALSE(wrong) << session;
    EXPECT_EQ(wrong.error().field, field);
    EXPECT_EQ(settings.told("s", false), before) << session;
  }
  const auto much = settings.update({{"instructions", std::string(300'000, 'a')}});
  ASSERT_FALSE(much);
  EXPECT_THAT(much.error().error.message, HasSubstr("256 KB"));
}

Json message(const std::string& id, const std::string& text) {
  return {{"id", id},
          {"type", "message"},
          {"role", "user"},
          {"content", Json::array({{{"type", "input_text"}, {"text", text}}})}};
}

TEST(Conversation, KeepsItemsInTheirOrder) {
  Conversation conversation;
  EXPECT_EQ(conversation.add(message("a", "A"), ""), "");
  EXPECT_EQ(conversation.add(message("b", "B"), ""), "a");
  EXPECT_EQ(conversation.add(message("first", ""), "root"), "");
  EXPECT_EQ(conversation.add(message("c", ""), "a"), "a");
  EXPECT_EQ(conversation.last_id(), "b");
  EXPECT_EQ(conversation.add(message("a", ""), "").error().code, ErrorCode::InvalidInput);
  EXPECT_EQ(conversation.add(message("x", ""), "none").error().code, ErrorCode::NotFound);
  EXPECT_EQ(text_of_item(*conversation.find("a")), "A");
  conversation.replace(message("a", "other"));
  EXPECT_EQ(text_of_item(*conversation.find("a")), "other");
  EXPECT_TRUE(conversation.erase("a"));
  EXPECT_EQ(conversation.erase("a").error().code, ErrorCode::NotFound);
  EXPECT_FALSE(conversation.find("a"));
}

TEST(Conversation, ForgetsTheOldestAboveItsBounds) {
  Conversation conversation;
  for (int i = 0; i < 1001; ++i) {
    EXPECT_TRUE(conversation.add(message(std::to_string(i), "x"), ""));
  }
  EXPECT_FALSE(conversation.find("0"));
  EXPECT_TRUE(conversation.find("1"));
  for (int i = 0; i < 6; ++i) {
    EXPECT_TRUE(
        conversation.add(message("big" + std::to_string(i), std::string(900'000, 'y')), ""));
  }
  EXPECT_FALSE(conversation.find("1000"));
  EXPECT_FALSE(conversation.find("big1"));
  EXPECT_TRUE(conversation.find("big2"));
}

TEST(Conversation, TakesWhatItCanKeep) {
  const auto kept =
      kept_item(Json::parse(R"({"type": "message", "role": "assistant", "status": "odd", "extra": 1,
                      "content": [{"type": "output_text", "text": "Hello."},
                                  {"type": "output_audio", "transcript": "There."}]})"),
                "item_7");
  ASSERT_TRUE(kept);
  EXPECT_EQ((*kept)["id"], "item_7");
  EXPECT_EQ((*kept)["object"], "realtime.item");
  EXPECT_EQ((*kept)["status"], "completed");
  EXPECT_FALSE(kept->contains("extra"));
  EXPECT_EQ(text_of_item(*kept), "Hello.\nThere.");
  EXPECT_TRUE(kept_item(
      Json::parse(R"({"id": "f", "type": "function_call_output", "call_id": "c", "output": "1"})"),
      ""));
  for (const auto& [item, code] :
       {std::pair("[]", ErrorCode::InvalidInput),
        std::pair(R"({"type": "mcp_call"})", ErrorCode::Unsupported),
        std::pair(R"({"type": "message", "role": "user"})", ErrorCode::InvalidInput),
        std::pair(R"({"type": "message", "role": "cat", "content": []})", ErrorCode::InvalidInput),
        std::pair(R"({"type": "message", "role": "user", "content": [5]})",
                  ErrorCode::InvalidInput),
        std::pair(R"({"type": "message", "role": "user", "content": [{"type": "input_audio"}]})",
                  ErrorCode::Unsupported),
        std::pair(R"({"type": "message", "role": "user", "content": [{"type": "input_image"}]})",
                  ErrorCode::Unsupported),
        std::pair(R"({"type": "message", "role": "user", "content": [{"text": 5}]})",
                  ErrorCode::InvalidInput)}) {
    const auto refused = kept_item(Json::parse(item), "x");
    ASSERT_FALSE(refused) << item;
    EXPECT_EQ(refused.error().error.code, code) << item;
  }
  EXPECT_FALSE(kept_item({{"id", std::string(65, 'i')}, {"type", "function_call"}}, ""));
}

TEST(Lanes, DoEverythingButNoMoreAtOnceThanTheyAre) {
  const auto lanes = std::make_shared<Lanes>(2);
  std::atomic<int> at_once{0};
  std::atomic<int> most{0};
  std::latch done(50);
  WorkThreads threads(8);
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(lanes->run(
        [&] {
          const int now = ++at_once;
          int before = most;
          while (before < now && !most.compare_exchange_weak(before, now)) {
          }
          --at_once;
          done.count_down();
        },
        threads));
  }
  done.wait();
  EXPECT_LE(most, 2);
}

TEST(Lanes, SayWhereThereIsNoThread) {
  const auto lanes = std::make_shared<Lanes>(2);
  std::latch go_on(1);
  WorkThreads threads(1);
  ASSERT_TRUE(threads.run([&go_on] { go_on.wait(); }));
  EXPECT_FALSE(lanes->run([] {}, threads));
  go_on.count_down();
}

TEST(G711, EveryByteIsItsOwnSample) {
  for (int byte = 0; byte < 256; ++byte) {
    const auto code = static_cast<uint8_t>(byte);
    EXPECT_EQ(s16_to_alaw(alaw_to_s16(code)), code);
    const uint8_t one_zero = code == 0x7F ? 0xFF : code;  // there are two
    EXPECT_EQ(s16_to_mulaw(mulaw_to_s16(code)), one_zero);
  }
  for (const int value : {-32768, -32767, -1000, -1, 0, 1, 999, 32767}) {
    const auto sample = static_cast<int16_t>(value);
    // Sixteen steps in an octave.
    const double most = std::abs(value) / 16.0 + 16;
    EXPECT_NEAR(mulaw_to_s16(s16_to_mulaw(sample)), value, most);
    EXPECT_NEAR(alaw_to_s16(s16_to_alaw(sample)), value, most);
  }
}

TEST(SoundInput, SamplesAreThoseOfTheFormat) {
  SoundInput input({.encoding = SoundEncoding::Pcm16, .rate_hz = 16000});
  std::vector<float> samples;
  ASSERT_TRUE(input.push(std::string("\x00\x40\x00\xC0", 4), samples));
  EXPECT_THAT(samples, ElementsAre(0.5F, -0.5F));
  EXPECT_FALSE(input.push("odd", samples));
  for (const SoundFormatWish format :
       {SoundFormatWish{SoundEncoding::Pcm16, 24000}, SoundFormatWish{SoundEncoding::Mulaw, 8000},
        SoundFormatWish{SoundEncoding::Alaw, 8000}}) {
    // A second of a tone, in pieces.
    std::vector<float> tone(static_cast<size_t>(format.rate_hz));
    for (size_t i = 0; i < tone.size(); ++i) {
      tone[i] = 0.5F * static_cast<float>(
                           std::sin(2 * M_PI * 440 * static_cast<double>(i) / format.rate_hz));
    }
    std::string bytes;
    encode_samples(tone, format.encoding, bytes);
    SoundInput other(format);
    std::vector<float> heard;
    for (size_t at = 0; at < bytes.size(); at += 500) {
      ASSERT_TRUE(other.push(std::string_view(bytes).substr(at, 500), heard));
    }
    ASSERT_TRUE(other.finish(heard));
    ASSERT_EQ(heard.size(), 16000U);
    double difference = 0;
    for (size_t i = 1000; i < 15000; ++i) {
      const double wanted = 0.5 * std::sin(2 * M_PI * 440 * static_cast<double>(i) / 16000);
      difference = std::max(difference, std::abs(heard[i] - wanted));
    }
    EXPECT_LT(difference, 0.02);
  }
}

TEST(Base64, IsReadBack) {
  for (const std::string bytes : {"", "a", "ab", "abc", "abcd"}) {
    EXPECT_EQ(bytes_of_base64(base64(std::as_bytes(std::span(bytes)))), bytes);
  }
  for (const char* wrong :
       {"a", "ab=", "ab=c", "====", "a===", " YQ==", "YQ==\n", "Y-==", "YQ==YQ=="}) {
    EXPECT_FALSE(bytes_of_base64(wrong)) << wrong;
  }
}

TEST(ReplyHold, IsDecidedOnce) {
  ReplyHold wanted;
  EXPECT_TRUE(wanted.is_held());
  EXPECT_TRUE(wanted.release());
  EXPECT_FALSE(wanted.is_held());
  EXPECT_FALSE(wanted.give_up()) << "it was wanted before";
  EXPECT_TRUE(wanted.wait({}));
  ReplyHold failed;
  EXPECT_TRUE(failed.give_up());
  EXPECT_FALSE(failed.release());
  EXPECT_FALSE(failed.wait({}));
  ReplyHold held;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(held.wait(stop.get_token()));
}

TEST(ReplyItems, NothingIsToldOrKeptOfAReplyBeforeItIsWanted) {
  const auto outbox = std::make_shared<Outbox>([] {});
  Teller teller(outbox, "s", false);
  Conversation conversation;
  const auto hold = std::make_shared<ReplyHold>();
  ReplyItems items(teller, conversation, {.response_id = "resp_1", .sound = false, .hold = hold});
  items.begin_message();
  items.tell_text("One ");
  items.tell_text("two.");
  EXPECT_EQ(outbox->take().bytes, "");
  EXPECT_THAT(conversation.items(), IsEmpty());
  EXPECT_EQ(items.held_back(), 5U);
  ASSERT_TRUE(conversation.add({{"id", "said"}}, {}));
  ASSERT_TRUE(hold->release());
  ASSERT_TRUE(items.wait_until_wanted({}));
  items.tell_text(" Three.");
  items.end(true);
  const std::string told = outbox->take().bytes;
  size_t at = 0;
  for (const char* const event :
       {"response.output_item.added", "conversation.item.added", R"("previous_item_id":"said")",
        "response.content_part.added", R"("delta":"One ")", R"("delta":"two.")",
        R"("delta":" Three.")", "response.output_item.done"}) {
    at = told.find(event, at);
    ASSERT_NE(at, std::string::npos) << event;
  }
  EXPECT_EQ(text_of_item(conversation.items().back()), "One two. Three.");
}

TEST(ReplyItems, AReplyThatIsNotWantedLeavesNothing) {
  const auto outbox = std::make_shared<Outbox>([] {});
  Teller teller(outbox, "s", false);
  Conversation conversation;
  std::stop_source stop;
  ReplyItems items(teller, conversation,
                   {.response_id = "resp_1", .hold = std::make_shared<ReplyHold>()});
  items.begin_call("call_1", "turn_on");
  items.tell_arguments("{}");
  stop.request_stop();
  const Status wanted = items.wait_until_wanted(stop.get_token());
  ASSERT_FALSE(wanted);
  EXPECT_EQ(wanted.error().code, ErrorCode::Cancelled);
  items.end(false);
  EXPECT_EQ(outbox->take().bytes, "");
  EXPECT_THAT(conversation.items(), IsEmpty());
}

}  // namespace
}  // namespace mynah::server
