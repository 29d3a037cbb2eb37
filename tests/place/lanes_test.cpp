// Two models that compute on one simulated card, each in a lane of its own: who computes when, step
// by step.
#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cuda/cuda_backend.h"
#include "cli/whisper_file.h"
#include "place/kinds/kinds.h"
#include "place/kinds/windows/windows.h"
#include "place/placed_whisper.h"
#include "place/workers/stage_watch.h"
#include "temporary_folder.h"

namespace mynah::place {
namespace {

// Letters of who computed, an operation each.
class Log {
 public:
  void add(char who) {
    const std::lock_guard lock(mutex_);
    steps_ += who;
  }

  [[nodiscard]] std::string steps() const {
    const std::lock_guard lock(mutex_);
    return steps_;
  }

 private:
  mutable std::mutex mutex_;
  std::string steps_;
};

// What a lane of a worker has of a stage, and a letter in the log for each operation.
class LoggedStage final : public BackendWatch {
 public:
  LoggedStage(char who, ThreadPool& pool, Log& log)
      : who_(who),
        log_(log),
        watch_(kSttEncoder, signs_, &pool),
        card_(make_simt_backend(pool, {.check_shared = false})),
        backend_(*card_, this) {}

  void before(std::string_view operation) override {
    watch_.before(operation);
    log_.add(who_);
  }

  void after(std::string_view /*operation*/, Backend& /*backend*/, const Tensor& /*out*/) override {
  }

  Backend& backend() { return backend_; }

  // The call is done.
  void end() { signs_.turn.end(); }

 private:
  char who_;
  Log& log_;
  Pulse pulse_{};
  LaneSigns signs_{.pulse = pulse_};
  StageWatch watch_;
  std::unique_ptr<Backend> card_;
  WatchedBackend backend_;
};

std::vector<float> noise(uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> loudness(-0.3F, 0.3F);
  std::vector<float> samples(kHearingRate_hz / 2);
  std::ranges::generate(samples, [&] { return loudness(generator); });
  return samples;
}

// A model in a lane, and what it is to hear in one call.
class Lane {
 public:
  Lane(char who, ThreadPool& pool, Log& log, const WindowsFile& file, uint32_t windows)
      : stage_(who, pool, log) {
    const StageBackend on_card{.backend = stage_.backend(), .storage = DType::F16};
    const auto opened = open_hearing(file.path);
    EXPECT_TRUE(opened);
    model_ = *load_windows(**opened, file, on_card, on_card);
    decoder_ = *model_->decoder(test::quick_decoding());
    for (uint32_t i = 0; i < windows; ++i) {
      sounds_.push_back(noise(i));
    }
    stage_.end();
  }

  std::string hear(Urgency urgency) {
    const UrgencyScope as_urgent(urgency);
    std::vector<WindowTask> tasks(sounds_.size());
    for (size_t i = 0; i < tasks.size(); ++i) {
      tasks[i].samples = sounds_[i];
    }
    const auto heard = decoder_->decode(tasks, {});
    stage_.end();
    EXPECT_TRUE(heard) << heard.error().message;
    std::string text;
    for (const HeardWindow& window : heard.value_or(std::vector<HeardWindow>())) {
      text += window.text() + "\n";
    }
    return text;
  }

 private:
  LoggedStage stage_;
  std::shared_ptr<const WindowModel> model_;
  std::unique_ptr<WindowDecoder> decoder_;
  std::vector<std::vector<float>> sounds_;
};

TEST(Lanes, AnUrgentWindowIsHeardBetweenTwoStepsOfTheOtherModels) {
  const mynah::test::TemporaryFolder folder;
  WindowsFile file;
  file.path = cli::write_tiny_whisper(folder / "model.gguf");
  ThreadPool pool(2);
  Log log;
  Lane bulk('b', pool, log, file, 4);
  Lane urgent('u', pool, log, file, 1);
  const std::string of_bulk = bulk.hear(Urgency::Bulk);
  const std::string of_urgent = urgent.hear(Urgency::Interactive);
  const size_t before = log.steps().size();
  std::jthread working([&] { EXPECT_EQ(bulk.hear(Urgency::Bulk), of_bulk); });
  while (log.steps().size() < before + 10) {
    std::this_thread::yield();
  }
  EXPECT_EQ(urgent.hear(Urgency::Interactive), of_urgent) << "the same text";
  working.join();
  const std::string steps = log.steps().substr(before);
  const size_t begin = steps.find('u');
  const size_t end = steps.rfind('u');
  EXPECT_GE(begin, 10U);
  EXPECT_LT(end + 1, steps.size()) << "the other went on after it: " << steps;
  EXPECT_EQ(steps.substr(begin, end + 1 - begin), std::string(end + 1 - begin, 'u'))
      << "nothing of the other in between";
}

}  // namespace
}  // namespace mynah::place
