// What is done with the place that a model leaves: it fails there, it is let go, it is loaded while
// another is let go.
#include "place/state/rungs.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/whisper_file.h"
#include "gpu/fake_driver/loaded_fake.h"
#include "place/kinds/kinds.h"
#include "place/made_up_placer.h"
#include "place/placer.h"
#include "test_paths.h"

namespace mynah::place {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Model = int;
using ModelRungs = Rungs<Model>;

WindowsFile write_model(const mynah::test::MadeUpMachine& machine) {
  WindowsFile file;
  file.path = cli::write_tiny_whisper(machine.root / "model.gguf");
  return file;
}

// A small Whisper's rungs, with a model that does nothing.
class RungsOfOne : public ::testing::Test {
 protected:
  // The proofs that each test begins with.
  static void SetUpTestSuite() {
    ::setenv("MYNAH_WORKER_MANNER", "", 1);
    proven_ = std::make_unique<mynah::test::MadeUpMachine>();
    PlacementState state(test::placer_options(*proven_, "simt:0,cpu"));
    const auto places = state.planner().plan(state.context().expect(write_model(*proven_)));
    ASSERT_TRUE(places) << places.error().message;
  }

  static void TearDownTestSuite() { proven_.reset(); }

  RungsOfOne() : file_(write_model(machine_)) {
    std::filesystem::copy(proven_->root / "cache", machine_.root / "cache",
                          std::filesystem::copy_options::recursive);
  }

  void begin_on(const std::string& devices, const std::string& where = "simt:0") {
    PlacerOptions options = test::placer_options(machine_, devices);
    options.say = [this](const std::string& line) { said_.push_back(line); };
    options.worker_program = program_;
    state_ = std::make_shared<PlacementState>(std::move(options));
    stt_ = state_->context().expect(file_);
    rungs_ = make_rungs(stt_);
    const auto opened = rungs_->begin();
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_EQ(devices_of(rungs_->where()), where);
  }

  // `opening`: is called when a worker was found, and the model is to be loaded there.
  [[nodiscard]] std::shared_ptr<ModelRungs> make_rungs(
      ModelId id, const std::function<Status()>& opening = nullptr) {
    return std::make_shared<ModelRungs>(
        id, state_,
        [this, id, opening](const StagePlaces& where,
                            PlacementState& state) -> Result<ModelRungs::Opened> {
          if (!is_here(where)) {
            MYNAH_TRY(worker_, state.openings().worker_for(id, where));
            if (opening) {
              MYNAH_TRY_STATUS(opening());
            }
          }
          return ModelRungs::Opened{.model = std::make_shared<const Model>(0),
                                    .probe = [this, id] { return probe(id); }};
        });
  }

  [[nodiscard]] Result<Probe> probe(ModelId id) {
    Probe found = state_->context().reference(id).value().exact;
    for (ProbeStage& stage : found.stages) {
      stage.values.front() += wrong_ ? 1000.0F : 0.0F;
    }
    return found;
  }

  // Gives out two pieces of work, the second of which nobody has looked at yet.
  void give_out() {
    const ModelRungs::Rung rung = rungs_->now();
    rungs_->vouch(rung, "window 1");
    rungs_->vouch(rung, "window 2");
  }

  static inline std::unique_ptr<mynah::test::MadeUpMachine> proven_;

  mynah::test::MadeUpMachine machine_;
  WindowsFile file_;
  std::string program_ = MYNAH_TEST_WORKER;
  std::vector<std::string> said_;  // to the user
  std::shared_ptr<PlacementState> state_;
  ModelId stt_;
  std::shared_ptr<WorkerLane> worker_;  // of the rung that was opened last
  std::atomic<bool> wrong_ = false;
  std::shared_ptr<ModelRungs> rungs_;
};

TEST_F(RungsOfOne, AWorkerThatComputedWronglyIsEnded) {
  begin_on("simt:0,cpu");
  give_out();
  const auto worker = worker_;
  wrong_ = true;
  EXPECT_TRUE(rungs_->settle()) << "the processor is allowed";
  EXPECT_FALSE(worker->alive());
  ASSERT_EQ(state_->openings().moves().size(), 1U);
  EXPECT_THAT(state_->openings().moves()[0].reason, EndsWith("may be wrong too: window 2"));
  EXPECT_EQ(state_->openings().moves()[0].doubted, "window 2");
  EXPECT_THAT(said_, ElementsAre(EndsWith("; what stt is asked next goes to cpu")))
      << "nothing is left that could go on";
  EXPECT_EQ(devices_of(rungs_->now().where), "cpu");
  EXPECT_TRUE(rungs_->settle());
}

TEST_F(RungsOfOne, OfStagesThatAreApartTheCardIsWrongAndNotTheProcessor) {
  begin_on("stt.encoder=cpu,stt.decoder=simt:0,cpu", "cpu,simt:0");
  give_out();
  wrong_ = true;
  EXPECT_TRUE(rungs_->settle()) << "the processor is allowed";
  ASSERT_EQ(state_->openings().moves().size(), 1U);
  EXPECT_THAT(state_->openings().moves()[0].reason, StartsWith("simt:0 computes wrongly: "));
}

TEST_F(RungsOfOne, WhoStillHasAModelThereHearsWhyItIsGone) {
  begin_on("simt:0,cpu");
  const ModelRungs::Rung held = rungs_->now();
  const auto worker = worker_;
  rungs_->vouch(held, "window 1");
  rungs_->failed(held.number, {ErrorCode::Device, "simt:0 computed numbers that are none (NaN)"},
                 0);
  EXPECT_EQ(devices_of(rungs_->where()), "cpu");
  try {
    static_cast<void>(worker->tell(Ask::Report, kLeastStep));
    ADD_FAILURE() << "it answered";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.error().message, "simt:0 computed numbers that are none (NaN)");
  }
  // What it computed meanwhile is looked at at once, since nobody settles for it any more.
  wrong_ = true;
  EXPECT_THROW(rungs_->vouch(held, "window 2"), DeviceError);
}

TEST_F(RungsOfOne, WhatIsLetGoIsVouchedForFirst) {
  begin_on("simt:0,cpu");
  give_out();
  const auto worker = worker_;
  wrong_ = true;
  rungs_->unload_after({});
  EXPECT_FALSE(worker->alive());
  ASSERT_EQ(state_->openings().moves().size(), 1U);
  EXPECT_THAT(state_->openings().moves()[0].reason, HasSubstr("simt:0 computes wrongly: "));
  EXPECT_THAT(state_->openings().moves()[0].reason, EndsWith("may be wrong too: window 2"));
  EXPECT_EQ(state_->openings().moves()[0].to, "cpu");
  EXPECT_TRUE(rungs_->settle());
  EXPECT_EQ(devices_of(rungs_->now().where), "cpu");
}

TEST_F(RungsOfOne, WhatIsFoundWrongWhenItIsLetGoIsAnErrorWhereNothingElseIsAllowed) {
  begin_on("simt:0");
  give_out();
  wrong_ = true;
  rungs_->unload_after({});
  const Status settled = rungs_->settle();
  ASSERT_FALSE(settled);
  EXPECT_THAT(settled.error().message, EndsWith("may be wrong too: window 2"));
  EXPECT_TRUE(rungs_->settle()) << "it was told";
}

// A proof that was kept says that the device works: only then is it tried at all.
TEST_F(RungsOfOne, ADeviceWhoseWorkerCannotBeStartedIsPassedOver) {
  program_ = "/no/such/program";
  begin_on("simt:0,cpu", "cpu");
  EXPECT_THAT(said_, ElementsAre(StartsWith("stt on cpu: simt:0 was preferred, but it failed: it "
                                            "got no worker: cannot start /no/such/program: ")));
}

TEST_F(RungsOfOne, ADeviceWhoseWorkerCannotBeStartedIsRefusedWhereNoOtherIsAllowed) {
  PlacerOptions options = test::placer_options(machine_, "simt:0");
  options.worker_program = "/no/such/program";
  state_ = std::make_shared<PlacementState>(std::move(options));
  stt_ = state_->context().expect(file_);
  const auto opened = make_rungs(stt_)->begin();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::Device);
  EXPECT_THAT(opened.error().message, HasSubstr("simt:0"));
}

TEST_F(RungsOfOne, WhatWasLetGoGoesOnElsewhereWhereItsWorkerCannotBeStartedAgain) {
  program_ = machine_.root / "program";
  std::filesystem::copy(MYNAH_TEST_WORKER, program_);
  begin_on("simt:0,cpu");
  give_out();
  rungs_->unload_after({});
  std::filesystem::remove(program_);
  EXPECT_EQ(devices_of(rungs_->now().where), "cpu");
  ASSERT_EQ(state_->openings().moves().size(), 1U);
  EXPECT_EQ(state_->openings().moves()[0].from, "simt:0");
  EXPECT_EQ(state_->openings().moves()[0].to, "cpu");
  EXPECT_THAT(state_->openings().moves()[0].reason,
              StartsWith("simt:0 got no worker: cannot start "));
  EXPECT_THAT(said_, ElementsAre(EndsWith("; stt goes on on cpu")));
}

TEST_F(RungsOfOne, AFailureNamesItsDevice) {
  begin_on("simt:0,cpu");
  const auto done = rungs_->on_some_rung([](const ModelRungs::Rung& rung) -> Result<int> {
    return is_here(rung.where)
               ? Result<int>(1)
               : fail(ErrorCode::Device, "vad computed a state of numbers that are none (NaN)");
  });
  EXPECT_TRUE(done);
  ASSERT_EQ(state_->openings().moves().size(), 1U);
  EXPECT_EQ(state_->openings().moves()[0].reason,
            "simt:0 failed: vad computed a state of numbers that are none (NaN)");
}

TEST_F(RungsOfOne, TheReportIsOfWhereItWasComputedWhereverWhatIsNextGoes) {
  begin_on("simt:0,cpu");
  give_out();
  const auto before = state_->openings().choice(stt_, kSttEncoder);
  ASSERT_TRUE(before);
  EXPECT_EQ(before->plan.device, "simt:0");
  wrong_ = true;
  ASSERT_TRUE(rungs_->settle());
  ASSERT_EQ(devices_of(state_->openings().places(stt_)), "simt:0");
  const auto after = state_->openings().choice(stt_, kSttEncoder);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->plan.device, "simt:0") << "nothing was opened on the processor";
  EXPECT_EQ(after->plan.reason, before->plan.reason);
  static_cast<void>(rungs_->now());
  EXPECT_EQ(state_->openings().choice(stt_, kSttEncoder)->plan.device, "cpu");
}

TEST_F(RungsOfOne, WhatIsRightIsLetGoAndOpenedAgain) {
  begin_on("simt:0");
  give_out();
  const auto worker = worker_;
  {
    const ModelRungs::Rung used = rungs_->now();
    rungs_->unload_after({});
    EXPECT_TRUE(worker->alive()) << "somebody uses it";
  }
  rungs_->unload_after({});
  EXPECT_FALSE(worker->alive());
  EXPECT_FALSE(rungs_->idle());
  EXPECT_EQ(devices_of(rungs_->now().where), "simt:0");
  EXPECT_TRUE(worker_->alive());
  EXPECT_TRUE(state_->openings().moves().empty());
}

TEST_F(RungsOfOne, AWorkerThatNothingCouldBeLoadedInIsEnded) {
  state_ = std::make_shared<PlacementState>(test::placer_options(machine_, "simt:0,cpu"));
  stt_ = state_->context().expect(file_);
  for (const ErrorCode code : {ErrorCode::InvalidInput, ErrorCode::OutOfMemory}) {
    const auto rungs =
        make_rungs(stt_, [code]() -> Status { return fail(code, "the model is as it is"); });
    EXPECT_EQ(rungs->begin().has_value(), code == ErrorCode::OutOfMemory) << "on the processor";
    ASSERT_NE(worker_, nullptr);
    EXPECT_FALSE(worker_->alive());
    worker_.reset();
  }
}

TEST_F(RungsOfOne, AWorkerStaysWhileAnotherModelIsLoadedThere) {
  const DetectorFile detector{
      .path = mynah::test::weights_path("silero/silero_vad_16k.safetensors"), .rate_hz = 16000};
  MYNAH_SKIP_WITHOUT(detector.path);
  state_ = std::make_shared<PlacementState>(test::placer_options(machine_, "simt:0"));
  stt_ = state_->context().expect(file_);
  const auto vad = make_rungs(state_->context().expect(detector));
  ASSERT_TRUE(vad->begin());
  const pid_t worker = worker_->pid();
  rungs_ = make_rungs(stt_, [&]() -> Status {
    EXPECT_EQ(worker_->pid(), worker);
    vad->unload_after({});
    return {};
  });
  ASSERT_TRUE(rungs_->begin());
  EXPECT_FALSE(vad->idle());
  EXPECT_TRUE(worker_->alive());
  rungs_->unload_after({});
  EXPECT_FALSE(worker_->alive());
}

TEST_F(RungsOfOne, AWorkerThatIsLeftForABetterDeviceEnds) {
  const gpu::fake::LoadedFake driver;  // its card is only found
  std::atomic<int64_t> now = ::time(nullptr);
  PlacerOptions options = test::placer_options(machine_, "simt:0,cuda:0,cpu");
  options.discovery.gpus.driver = driver.search();
  options.times.seconds = [&now] { return now.load(); };
  state_ = std::make_shared<PlacementState>(std::move(options));
  stt_ = state_->context().expect(file_);
  test::keep_proof(*state_, file_, {.device = "cuda:0", .storage = DType::F16});
  state_->trust().distrust(all_on(kSttGroup, {.device = "simt:0", .storage = {}}),
                           {ErrorCode::Device, "simt:0 crashed"});
  rungs_ = make_rungs(stt_);
  ASSERT_TRUE(rungs_->begin());
  ASSERT_EQ(devices_of(rungs_->where()), "cuda:0");
  const auto left = worker_;
  now += 60;
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (state_->trust().regained() == 0 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_TRUE(left->alive()) << "nothing was asked of the model since";
  EXPECT_EQ(devices_of(rungs_->now().where), "simt:0");
  EXPECT_FALSE(left->alive());
  EXPECT_TRUE(worker_->alive());
  ASSERT_EQ(state_->openings().moves().size(), 1U);
  EXPECT_EQ(state_->openings().moves()[0].reason, "simt:0 was proven again");
}

TEST_F(RungsOfOne, AModelMayOutliveItsPlacerAndBeTheHousekeepersLast) {
  PlacerOptions options = test::placer_options(machine_, "cpu");
  auto placer = std::make_unique<Placer>(std::move(options));
  auto windows = placer->windows(file_);
  ASSERT_TRUE(windows) << windows.error().message;
  std::shared_ptr<const WindowModel> model = *std::move(windows);
  windows = fail(ErrorCode::NotFound, "");
  std::atomic<bool> tended = false;
  std::atomic<bool> gone = false;
  placer->state().openings().add(
      {.model = {.group = kTtsGroup},
       .settle = [] { return Status{}; },
       .unload_after =
           [&, weak = std::weak_ptr(model)](std::chrono::steady_clock::duration /*idle*/) {
             const auto held = weak.lock();
             tended = true;
             // Until everybody else has gone. Who waits for this thread to end has not.
             constexpr int kTries = 50;
             for (int i = 0; i < kTries && !gone; ++i) {
               std::this_thread::sleep_for(std::chrono::milliseconds(10));
             }
           },
       .idle = [] { return std::optional<std::chrono::steady_clock::duration>(); }});
  while (!tended) {
    std::this_thread::yield();
  }
  model.reset();
  placer.reset();
  gone = true;
}

// What a model computed on.
struct Memory {
  std::weak_ptr<const Model> model;
  bool released = false;

  void release_idle_memory() { released = model.expired(); }
};

TEST(Keeping, NothingIsKeptOfTheMemoryOfAModelThatHasGone) {
  auto model = std::make_shared<const Model>(0);
  const auto memory = std::make_shared<Memory>(Memory{.model = model});
  auto kept = keeping(std::move(model), memory);
  auto again = kept;
  kept.reset();
  EXPECT_FALSE(memory->released);
  again.reset();
  EXPECT_TRUE(memory->released);
}

}  // namespace
}  // namespace mynah::place
