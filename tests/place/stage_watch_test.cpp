#include "place/workers/stage_watch.h"

#include <thread>

#include <gtest/gtest.h>

#include "place/kinds/kinds.h"
#include "place/workers/call_clock.h"
#include "tensor/device_error.h"

namespace mynah::place {
namespace {

using std::chrono::milliseconds;
using Time = std::chrono::steady_clock::time_point;

TEST(StageClock, TimeUntilTheNextOperationIsTheLastOnes) {
  StageClock clock;
  Time now{};
  clock.enter(kSttEncoder, now);
  clock.enter(kSttEncoder, now += milliseconds(10));
  clock.enter(kSttDecoder, now += milliseconds(5));
  clock.enter(std::nullopt, now += milliseconds(2));
  clock.enter(kSttEncoder, now += milliseconds(1000));  // nobody's
  clock.enter(std::nullopt, now += milliseconds(1));
  EXPECT_DOUBLE_EQ(clock.milliseconds(kSttEncoder), 16);
  EXPECT_DOUBLE_EQ(clock.milliseconds(kSttDecoder), 2);
  EXPECT_DOUBLE_EQ(clock.milliseconds(kVadStage), 0);
}

TEST(StageClock, KnowsTheLongestStepSinceItWasForgotten) {
  StageClock clock;
  Time now{};
  clock.enter(kVadStage, now);
  clock.enter(kVadStage, now += milliseconds(30));
  clock.enter(std::nullopt, now += milliseconds(7));
  EXPECT_DOUBLE_EQ(clock.longest_ms(kVadStage), 30);
  clock.forget_longest();
  EXPECT_DOUBLE_EQ(clock.longest_ms(kVadStage), 0);
  clock.enter(kVadStage, now);
  clock.enter(std::nullopt, now += milliseconds(3));
  EXPECT_DOUBLE_EQ(clock.longest_ms(kVadStage), 3);
  EXPECT_DOUBLE_EQ(clock.milliseconds(kVadStage), 40);
}

TEST(CallClock, TimesWhatAThreadComputesWithinACall) {
  constexpr milliseconds kWork{5};
  CallClock encoder;
  CallClock decoder;
  encoder.before("pack_linear");  // a model is loaded
  std::this_thread::sleep_for(kWork);
  {
    const TimedCall call;
    encoder.before("matmul");
    std::this_thread::sleep_for(kWork);
    const TimedCall within;
    std::jthread([&] { decoder.before("matmul"); }).join();  // no call of that thread's
  }
  EXPECT_GE(encoder.milliseconds(), 5);
  const double spent = encoder.milliseconds();
  std::this_thread::sleep_for(kWork);
  EXPECT_EQ(encoder.milliseconds(), spent);
  EXPECT_EQ(decoder.milliseconds(), 0);
}

TEST(StageWatch, EachOperationIsAStepOfItsStage) {
  Pulse pulse{};
  LaneSigns signs{.pulse = pulse};
  StageWatch encoder(kSttEncoder, signs);
  StageWatch decoder(kSttDecoder, signs);
  encoder.before("matmul");
  encoder.before("softmax");
  EXPECT_EQ(pulse.steps, 2U);
  EXPECT_EQ(pulse.stage, static_cast<uint32_t>(number_of(kSttEncoder)) + 1);
  decoder.before("matmul");
  EXPECT_EQ(pulse.steps, 3U);
  EXPECT_EQ(pulse.stage, static_cast<uint32_t>(number_of(kSttDecoder)) + 1);
}

TEST(StageWatch, WhoWaitsForItsTurnRests) {
  ThreadPool pool(1);
  Pulse pulse{};
  LaneSigns signs{.pulse = pulse};
  StageWatch vocoder(kTtsVocoder, signs, &pool);
  vocoder.before("conv1d");
  EXPECT_EQ(pulse.rests, 0U);
  {
    std::jthread urgent([&] {
      Turns::Turn turn(pool.turns(), 1, Urgency::Interactive);
      while (pulse.rests == 0) {
        std::this_thread::yield();
      }
      EXPECT_EQ(pulse.steps, 1U);
    });
    while (pool.turns().awaited() == 0) {
      std::this_thread::yield();
    }
    vocoder.before("conv1d");
  }
  EXPECT_EQ(pulse.rests, 0U);
  EXPECT_EQ(pulse.steps, 2U);
  signs.turn.end();
}

// How many of ten operations of a call come back.
int operations_of_a_call(StageWatch& watch) {
  watch.begin_call();
  int done = 0;
  try {
    for (; done < 10; ++done) {
      watch.before("add");
    }
  } catch (const DeviceError&) {
    return done;
  }
  return done;
}

TEST(StageWatch, FaultsAreAListWithNothingEmptyInIt) {
  EXPECT_EQ(parse_faults("")->size(), 0U);
  EXPECT_EQ(parse_faults("vad:lost@1,tts.vocoder:oom@2")->size(), 2U);
  for (const char* text : {",vad:lost@1", "vad:lost@1,", "vad:lost@1,,vad:lost@2", ","}) {
    const auto faults = parse_faults(text);
    ASSERT_FALSE(faults) << text;
    EXPECT_EQ(faults.error().code, ErrorCode::Usage) << text;
  }
}

TEST(StageWatch, AFaultIsOfItsStageAndOfItsCall) {
  Pulse pulse{};
  LaneSigns signs{.pulse = pulse};
  StageWatch vad(kVadStage, signs);
  StageWatch vocoder(kTtsVocoder, signs);
  const std::vector<Fault> faults = {
      {.stage = kTtsVocoder, .kind = FaultKind::OutOfMemory, .call = 2},
      {.stage = kTtsVocoder, .kind = FaultKind::Lost, .call = 4}};
  vad.set_faults(faults);
  vocoder.set_faults(faults);
  for (int call = 1; call <= 5; ++call) {
    EXPECT_EQ(operations_of_a_call(vad), 10) << call;
  }
  EXPECT_EQ(operations_of_a_call(vocoder), 10);
  EXPECT_EQ(operations_of_a_call(vocoder), 4) << "in the middle of its work";
  EXPECT_EQ(operations_of_a_call(vocoder), 10) << "memory that lacked once";
  EXPECT_EQ(operations_of_a_call(vocoder), 4);
  EXPECT_EQ(operations_of_a_call(vocoder), 0) << "a device that is lost stays so";
}

}  // namespace
}  // namespace mynah::place
