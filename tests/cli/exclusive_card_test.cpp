// Two models on a card that one process at a time may have.
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "cli/whisper_file.h"
#include "place/kinds/kinds.h"
#include "place/placer.h"
#include "temporary_folder.h"

namespace mynah::place {
namespace {

class ExclusiveCard : public ::testing::Test {
 protected:
  ExclusiveCard() {
    ::setenv("MYNAH_FAKE_CARDS", "name=Fake,cc=8.9,memory=8192,mode=exclusive", 1);
    ::setenv("MYNAH_FAKE_MEMORY_FILE", (folder_ / "memory").c_str(), 1);
    options_.request = parse_device_request("stt=cuda:0").value();
    options_.discovery.gpus.driver.file = MYNAH_SIMULATED_CUDA;
    options_.discovery.build = "test";
    options_.settings.cuda_driver = MYNAH_SIMULATED_CUDA;
    options_.worker_program = MYNAH_PROGRAM;
    options_.cache_folder = folder_ / "cache";
    first_.path = cli::write_tiny_whisper(folder_ / "model.gguf");
    second_.path = cli::write_tiny_whisper(folder_ / "other.gguf", true);
  }

  void TearDown() override {
    ::unsetenv("MYNAH_FAKE_CARDS");
    ::unsetenv("MYNAH_FAKE_MEMORY_FILE");
  }

  test::TemporaryFolder folder_;
  PlacerOptions options_;
  WindowsFile first_;
  WindowsFile second_;
};

TEST_F(ExclusiveCard, HasAllModelsAndTheirProofsInOneWorker) {
  Placer placer(options_);
  const auto first = placer.windows(first_);
  ASSERT_TRUE(first) << first.error().message;
  const auto second = placer.windows(second_);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(placer.state().openings().worker_pids().size(), 1U);
  EXPECT_TRUE((*first)->probe());
  EXPECT_TRUE((*second)->probe());
  EXPECT_TRUE(placer.state().openings().moves().empty());
}

// What it is there for: who comes while another process has the card gets none.
TEST_F(ExclusiveCard, IsRefusedWhileAnotherProcessHasIt) {
  Placer placer(options_);
  const auto first = placer.windows(first_);
  ASSERT_TRUE(first) << first.error().message;
  PlacerOptions others = options_;
  others.cache_folder = folder_ / "others";
  Placer other(others);
  const auto refused = other.windows(first_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Device);
}

}  // namespace
}  // namespace mynah::place
