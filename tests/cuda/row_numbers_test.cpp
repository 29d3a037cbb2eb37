// Numbers of rows are in the card's memory: a wrong one is found there, touches nothing, and ends
// the process, as a bug does, when the host next waits.
#include <cstdint>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/cuda/cuda_backend.h"
#include "base/thread_pool.h"
#include "ops/ops.h"

namespace mynah {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kRows = 3;

class RowNumbersDeathTest : public testing::Test {
 protected:
  RowNumbersDeathTest() : backend_(make_simt_backend(pool_)) {
    const std::vector<float> values{1, 2, 3, 4, 5, 6};
    x_ = ops::from_host(*backend_, values, {kRows, 2});
  }

  [[nodiscard]] std::vector<float> gathered(int32_t row) {
    return ops::to_host(*backend_, ops::gather_rows(*backend_, x_, numbers(row)));
  }

  [[nodiscard]] std::vector<float> embedded(int32_t id) {
    return ops::to_host(*backend_, ops::embedding(*backend_, x_, numbers(id)));
  }

  // Writes (1, 2) to a row of a matrix of zeros, and waits.
  void scatter(int32_t row) {
    const Tensor out = ops::zeros(*backend_, {kRows, 2}, DType::F16);
    ops::scatter_rows(*backend_, x_.narrow(0, 0, 1), numbers(row), out);
    backend_->synchronize();
  }

  ThreadPool pool_{1};
  std::unique_ptr<Backend> backend_;
  Tensor x_;

 private:
  Tensor numbers(int32_t row) { return ops::from_host(*backend_, std::vector{row}, {1}); }
};

TEST_F(RowNumbersDeathTest, GatherOfARowThatIsNotThere) {
  EXPECT_THAT(gathered(2), ElementsAre(5, 6));
  EXPECT_DEATH(EXPECT_THAT(gathered(3), IsEmpty()), "\\[gather_rows\\] row 3, which");
  EXPECT_DEATH(EXPECT_THAT(gathered(-1), IsEmpty()), "\\[gather_rows\\] row -1, which");
  constexpr int32_t kFar = std::numeric_limits<int32_t>::max();
  EXPECT_DEATH(EXPECT_THAT(gathered(kFar), IsEmpty()), "\\[gather_rows\\] row 2147483647, which");
}

TEST_F(RowNumbersDeathTest, EmbeddingOfAnIdThatIsNotThere) {
  EXPECT_THAT(embedded(2), ElementsAre(5, 6));
  EXPECT_DEATH(EXPECT_THAT(embedded(3), IsEmpty()), "\\[embedding\\] row 3, which");
  EXPECT_DEATH(EXPECT_THAT(embedded(-1), IsEmpty()), "\\[embedding\\] row -1, which");
}

TEST_F(RowNumbersDeathTest, ScatterToARowThatIsNotThere) {
  scatter(2);
  EXPECT_DEATH(scatter(3), "\\[scatter_rows\\] row 3, which");
  EXPECT_DEATH(scatter(-1), "\\[scatter_rows\\] row -1, which");
}

}  // namespace
}  // namespace mynah
