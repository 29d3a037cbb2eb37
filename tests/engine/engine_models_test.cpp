// Six models of three kinds, leased, used, given back and let go at random by many threads.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include "cli/letters_voice.h"
#include "cli/whisper_file.h"
#include "engine/engine.h"
#include "engine/store_folders.h"
#include "models/whisper/tiny_model.h"
#include "much.h"
#include "temporary_folder.h"
#include "test_paths.h"

namespace mynah::engine {
namespace {

// A sanitizer keeps memory for itself.
#ifdef NDEBUG
constexpr bool kIsRelease = true;
#else
constexpr bool kIsRelease = false;
#endif

class EngineModels : public ::testing::Test {
 protected:
  EngineModels() {
    surroundings_.environment = Environment({{"HOME", folder_ / "user"},
                                             {"MYNAH_HOME", folder_ / "home"},
                                             {"MYNAH_CUDA_DRIVER", folder_ / "no-driver"}});
    const Store store(store_folders(surroundings_.environment));
    cli::keep_letters_voice(store, folder_ / "voices", "one", R"({"ann": 0, "ben": 1})");
    cli::keep_letters_voice(store, folder_ / "voices", "two", R"({"cat": 0, "dan": 1})");
    for (const bool multilingual : {false, true}) {
      cli::write_tiny_whisper(whisper_file(multilingual), multilingual);
    }
    PlacementWish placement;
    placement.device = "cpu";
    placement.quiet = true;
    auto engine = Engine::create(placement, surroundings_);
    EXPECT_TRUE(engine) << engine.error().message;
    engine_ = *std::move(engine);
  }

  [[nodiscard]] std::string whisper_file(bool multilingual) const {
    return folder_ / (multilingual ? "many.gguf" : "english.gguf");
  }

  // Takes one of the six, has it compute, and gives it back.
  Status use(size_t which, bool let_go_at_once, Engine::Warm warm) {
    switch (which) {
      case 0:
      case 1:
        return use(
            engine_->recognizer({.model = whisper_file(which == 1), .vad_model = "builtin"}, warm),
            let_go_at_once);
      case 2:
      case 3:
        return use(
            engine_->detector({.model = silero_, .rate_hz = which == 2 ? 16000 : 8000}, warm),
            let_go_at_once);
      default: {
        const SynthesizerWish wish{.model = which == 4 ? "one" : "two"};
        MYNAH_TRY(const SpeakingModel model, speaking_model(wish, surroundings_.environment));
        return use(engine_->synthesizer(wish, model, warm), let_go_at_once);
      }
    }
  }

  template <class Lease>
  static Status use(Result<Lease> lease, bool let_go_at_once) {
    if (!lease) {
      return std::unexpected(lease.error());
    }
    if (let_go_at_once) {
      lease->keep_alive({});
    }
    return (*lease)->warm_up();
  }

  test::TemporaryFolder folder_;
  Surroundings surroundings_;
  std::string silero_ = test::weights_path("silero/silero_vad.onnx");
  std::unique_ptr<Engine> engine_;
};

// Bytes that this process has in memory (proc(5)).
double resident_mb() {
  ::malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  statm >> pages >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

TEST_F(EngineModels, AreLeasedUsedAndLetGoAtRandomAndNoRequestFails) {
  MYNAH_SKIP_WITHOUT(silero_);
  constexpr size_t kModels = 6;
  constexpr int kThreads = 32;
  ::mallopt(M_ARENA_MAX, 2);  // as the program has it
  for (size_t which = 0; which < kModels; ++which) {
    const Status used = use(which, false, Engine::Warm::Yes);
    ASSERT_TRUE(used) << which << ": " << used.error().message;
  }
  engine_->unload();
  const double before_mb = resident_mb();
  // So many rounds each, or as many as there are in the seconds of MYNAH_STRESS_S.
  const char* const stress_s = std::getenv("MYNAH_STRESS_S");
  const auto until = std::chrono::steady_clock::now() +
                     std::chrono::seconds(stress_s == nullptr ? 0 : std::stoi(stress_s));
  const auto goes_on = [&](size_t round) {
    return stress_s == nullptr ? round < test::much(40) : std::chrono::steady_clock::now() < until;
  };
  std::atomic<int> failed{0};
  {
    std::vector<std::jthread> all;
    all.reserve(kThreads);
    for (int i = 0; i < kThreads; ++i) {
      all.emplace_back([&, i] {
        std::mt19937 chance(static_cast<uint32_t>(i));
        for (size_t round = 0; goes_on(round); ++round) {
          const Status used = use(chance() % kModels, chance() % 4 == 0,
                                  chance() % 2 == 0 ? Engine::Warm::Yes : Engine::Warm::No);
          if (!used) {
            ++failed;
            ADD_FAILURE() << used.error().message;
          }
          if (chance() % 8 == 0) {
            engine_->unload();
          }
        }
      });
    }
  }
  EXPECT_EQ(failed, 0);
  engine_->unload();
  EXPECT_TRUE(engine_->placer().state().openings().open_places().empty());
  if constexpr (kIsRelease) {
    EXPECT_LT(resident_mb(), before_mb + 20);
  }
}

TEST_F(EngineModels, OneThatIsAskedForTwiceIsOpenedOnce) {
  const RecognizerWish wish{.model = whisper_file(false), .vad_model = "builtin"};
  const auto one = engine_->recognizer(wish, Engine::Warm::Yes);
  ASSERT_TRUE(one) << one.error().message;
  const auto two = engine_->recognizer(wish);
  ASSERT_TRUE(two);
  EXPECT_EQ((*one)->recognizer, (*two)->recognizer);
  EXPECT_NE(
      (*engine_->recognizer({.model = whisper_file(true), .vad_model = "builtin"}))->recognizer,
      (*one)->recognizer);
}

TEST_F(EngineModels, OneIsLetGoByItsFileAndLookingKeepsNone) {
  const auto take = [&](bool multilingual) {
    return engine_->recognizer({.model = whisper_file(multilingual), .vad_model = "builtin"});
  };
  ASSERT_TRUE(take(false));
  const auto held = take(true);
  ASSERT_TRUE(held);
  const auto computed = engine_->try_open_models();
  ASSERT_TRUE(computed) << computed.error().message;
  EXPECT_EQ(*computed, 2U);
  auto open = engine_->open_models();
  ASSERT_EQ(open.size(), 2U);
  EXPECT_EQ(open[0].path, whisper_file(false));
  EXPECT_EQ(open[0].device, "cpu");
  EXPECT_LT(open[0].left, std::chrono::minutes(5)) << "since it was used, not looked at";
  EXPECT_EQ(open[1].holders, 1U);
  EXPECT_EQ(open[1].left, std::chrono::minutes(5)) << "once nobody has it any more";
  keep_alive(*held, std::nullopt);
  EXPECT_EQ(engine_->unload(whisper_file(false)), 1U);
  EXPECT_EQ(engine_->unload(whisper_file(false)), 0U);
  EXPECT_EQ(engine_->unload(whisper_file(true)), 1U) << "once nobody holds it";
  open = engine_->open_models();
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(open[0].path, whisper_file(true));
}

}  // namespace
}  // namespace mynah::engine
