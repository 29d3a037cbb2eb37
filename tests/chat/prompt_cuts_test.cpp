// A prompt that a queue reads in pieces of any size, alone or beside others, is followed by the
// same text, to the last bit of what the model thinks of it.
#include <future>
#include <latch>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "base/thread_pool.h"
#include "chat/generation_queue.h"
#include "chat/tiny_language.h"

namespace mynah {
namespace {

class PromptCuts : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = testing::TempDir() + "/prompt_cuts.gguf";
    test::write_tiny_language(path);
    auto model = load_language_model(path, {}, *backend_);
    ASSERT_TRUE(model) << model.error().message;
    model_ = *std::move(model);
  }

  using Written = std::vector<std::pair<int32_t, float>>;  // tokens and their logarithms

  [[nodiscard]] static GenerationTask task_of(int32_t factor, int64_t length, int64_t tokens) {
    GenerationTask task;
    for (int64_t i = 0; i < length; ++i) {
      task.prompt.push_back(static_cast<int32_t>(i * i * factor % 256));
    }
    task.options.sampling.temperature = 1.0F;
    task.options.seed = 7;
    task.options.most_tokens = tokens;
    task.options.alternatives = 0;
    return task;
  }

  // What a queue whose steps read so many tokens of prompts writes behind 330 tokens.
  [[nodiscard]] Written write(int64_t piece, bool beside_others) const {
    GenerationQueue::Limits limits;
    limits.prompt_piece = piece;
    limits.piece_beside_others = piece;
    GenerationQueue queue(model_, limits);
    std::latch begun(1);
    std::promise<void> ended;
    if (beside_others) {
      GenerationTask other = task_of(5, 90, 100);
      bool told = false;
      other.on_token = [&begun, told](const ChosenToken& /*chosen*/) mutable {
        if (!std::exchange(told, true)) {
          begun.count_down();
        }
        return true;
      };
      EXPECT_TRUE(queue.submit(std::move(other), {},
                               [&ended](const Result<Generated>& /*end*/) { ended.set_value(); }));
      begun.wait();
    }
    Written written;
    GenerationTask task = task_of(3, 330, 12);
    task.on_token = [&written](const ChosenToken& chosen) {
      written.emplace_back(chosen.token, chosen.log_probability);
      return true;
    };
    EXPECT_TRUE(queue.write(std::move(task), {}));
    if (beside_others) {
      ended.get_future().wait();
    }
    return written;
  }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> backend_ = *make_cpu_backend(pool_);
  std::shared_ptr<const LanguageModel> model_;
};

TEST_F(PromptCuts, ChangeNothing) {
  const Written whole = write(512, false);
  ASSERT_EQ(whole.size(), 12U);
  for (const int64_t piece : {64, 100, 192, 512}) {
    EXPECT_EQ(write(piece, false), whole) << piece;
    EXPECT_EQ(write(piece, true), whole) << piece << ", beside another";
  }
}

}  // namespace
}  // namespace mynah
