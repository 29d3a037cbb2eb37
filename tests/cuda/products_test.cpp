// What the table of operations does not say of products on a card: packed weights to the bit, wide
// matrices, rows that are not finite.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cuda/cuda_backend.h"
#include "backend/ref/ref_backend.h"
#include "base/thread_pool.h"
#include "ops/inputs.h"
#include "ops/ops.h"

namespace mynah::cases {
namespace {

class CudaProductsTest : public testing::TestWithParam<int> {
 protected:
  LinearWeight packed(DType dtype, int64_t out, int64_t in) {
    return ops::pack_linear(
        backend(), host_tensor({out, in}, dtype == DType::I8 ? DType::F32 : dtype, 1), dtype);
  }

  std::vector<float> product(const std::vector<float>& x, int64_t rows, const LinearWeight& w,
                             Precision precision) {
    const Tensor on_card = ops::from_host(backend(), x, {rows, w.in_features});
    return ops::to_host(backend(), ops::linear(backend(), on_card, w, {.precision = precision}));
  }

  // Whether Fast rounds activations for such weights at this level.
  static bool rounds(DType dtype) {
    const int least = dtype == DType::F16 ? 75 : dtype == DType::BF16 ? 80 : 61;
    return GetParam() >= least;
  }

  Backend& backend() { return *backend_; }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> backend_ = make_simt_backend(pool_, {.level = GetParam()});
};

INSTANTIATE_TEST_SUITE_P(Levels, CudaProductsTest, testing::ValuesIn(simt_levels()),
                         [](const testing::TestParamInfo<int>& level) {
                           return "sm_" + std::to_string(level.param);
                         });

// Row i of x is one at i: what comes out is column i of the weights, with nothing added.
TEST_P(CudaProductsTest, UnitRowsGiveEveryWeightBack) {
  constexpr int64_t kIn = 512;  // two super-blocks
  constexpr int64_t kOut = 9;   // a panel and one more
  RefBackend ref;
  for (const DType dtype : weight_types()) {
    const LinearWeight w = packed(dtype, kOut, kIn);
    const LinearWeight expected = ref.pack_linear(
        host_tensor({kOut, kIn}, dtype == DType::I8 ? DType::F32 : dtype, 1), dtype);
    const auto* values = expected.data.data<const float>();
    for (const int64_t rows : {kIn, int64_t{7}}) {
      std::vector<float> x(static_cast<size_t>(rows * kIn));
      for (int64_t i = 0; i < rows; ++i) {
        x[static_cast<size_t>(i * kIn + (i * 73) % kIn)] = 1.0F;
      }
      for (const Precision precision : {Precision::Exact, Precision::Fast}) {
        if (precision == Precision::Fast && (dtype == DType::I8 || is_block_type(dtype))) {
          continue;  // one in int8 is not quite one
        }
        const std::vector<float> found = product(x, rows, w, precision);
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < kOut; ++j) {
            ASSERT_EQ(found[static_cast<size_t>(i * kOut + j)], values[j * kIn + (i * 73) % kIn])
                << name(dtype) << ", " << rows << " rows, weight " << j << ", " << (i * 73) % kIn;
          }
        }
      }
    }
  }
}

// A cache file's bytes come from another run.
TEST_P(CudaProductsTest, PackedBytesAreGoodOnAnotherCard) {
  const auto other = make_simt_backend(pool_, {.level = simt_levels().front()});
  const std::vector<float> x = normals(3 * 256, 2);
  for (const DType dtype : weight_types()) {
    const LinearWeight w = packed(dtype, 17, 256);
    std::vector<std::byte> bytes(static_cast<size_t>(w.data.elements()));
    backend().download(w.data, bytes.data());
    LinearWeight moved = w;
    moved.data = ops::from_host(*other, bytes, {w.data.elements()}, DType::U8);
    const Tensor there = ops::from_host(*other, x, {3, 256});
    EXPECT_EQ(ops::to_host(*other, ops::linear(*other, there, moved)),
              product(x, 3, w, Precision::Exact))
        << name(dtype);
  }
}

// Few rows go through another kernel than many, and wide matrices have blocks of several panels:
// a row's bits are the same in all of them. Exact kernels are the same at every level.
TEST_P(CudaProductsTest, WideMatricesGiveFewRowsTheBitsOfMany) {
  constexpr int64_t kIn = 256;
  constexpr int64_t kMany = 40;
  const bool first = GetParam() == simt_levels().front();
  const std::vector<float> x = normals(kMany * kIn, 2);
  for (const int64_t out : {2600, 5150}) {
    for (const DType dtype : {DType::F16, DType::BF16, DType::I8, DType::Q4_1, DType::Q6_K}) {
      for (const Precision precision : {Precision::Exact, Precision::Fast}) {
        if (precision == Precision::Exact ? !first : !rounds(dtype)) {
          continue;
        }
        const LinearWeight w = packed(dtype, out, kIn);
        const std::vector<float> many = product(x, kMany, w, precision);
        for (const int64_t rows : {1, 8, 11}) {
          const std::vector<float> few(x.begin(), x.begin() + rows * kIn);
          const std::vector<float> alone = product(few, rows, w, precision);
          EXPECT_TRUE(std::equal(alone.begin(), alone.end(), many.begin()))
              << name(dtype) << ", " << rows << " rows, " << out << " columns";
        }
      }
    }
  }
}

// Enough large tiles of matrix units to be taken, then small ones, then the kernel for few rows,
// which rounds its rows itself where they are eight at most.
TEST_P(CudaProductsTest, TilesOfEitherSizeGiveTheSameBits) {
  if (GetParam() < 75) {
    GTEST_SKIP() << "no matrix units";
  }
  constexpr int64_t kIn = 300;  // no multiple of what is summed at once
  constexpr int64_t kOut = 4100;
  constexpr int64_t kMany = 270;
  const std::vector<float> x = normals(kMany * kIn, 2);
  for (const DType dtype : {DType::F16, DType::BF16, DType::I8}) {
    if (!rounds(dtype)) {
      continue;
    }
    const LinearWeight w = packed(dtype, kOut, kIn);
    const std::vector<float> many = product(x, kMany, w, Precision::Fast);
    for (const int64_t rows : {65, 33, 32, 8}) {
      const std::vector<float> fewer(x.begin(), x.begin() + rows * kIn);
      const std::vector<float> alone = product(fewer, rows, w, Precision::Fast);
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), many.begin()))
          << name(dtype) << ", " << rows << " rows";
    }
  }
}

// Sums of codes are exact, and what scales them is added in the same order with matrix units and
// without.
TEST_P(CudaProductsTest, CodesGiveTheSameBitsAtEveryLevel) {
  constexpr int64_t kIn = 768;
  constexpr int64_t kOut = 70;
  constexpr int64_t kRows = 67;
  const std::vector<float> x = normals(kRows * kIn, 2);
  std::vector<int> others = simt_levels();
  std::erase_if(others, [](int level) { return level < 61 || level == GetParam(); });
  for (const DType dtype : weight_types()) {
    if (!rounds(dtype) || dtype == DType::F16 || dtype == DType::BF16 || dtype == DType::F32) {
      continue;
    }
    const LinearWeight w = packed(dtype, kOut, kIn);
    const std::vector<float> wanted = product(x, kRows, w, Precision::Fast);
    const std::vector<float> one(x.begin(), x.begin() + kIn);
    const std::vector<float> few = product(one, 1, w, Precision::Fast);
    EXPECT_TRUE(std::equal(few.begin(), few.end(), wanted.begin())) << name(dtype);
    for (const int level : others) {
      const auto other = make_simt_backend(pool_, {.level = level});
      LinearWeight moved = w;
      std::vector<std::byte> bytes(static_cast<size_t>(w.data.elements()));
      backend().download(w.data, bytes.data());
      moved.data = ops::from_host(*other, bytes, {w.data.elements()}, DType::U8);
      const Tensor there = ops::from_host(*other, x, {kRows, kIn});
      EXPECT_EQ(
          ops::to_host(*other, ops::linear(*other, there, moved, {.precision = Precision::Fast})),
          wanted)
          << name(dtype) << ", level " << level;
    }
  }
}

// Half precision ends at 65504 and has steps of 2^-24 near zero.
TEST_P(CudaProductsTest, HugeAndTinyActivationsAreRoundedAsHalvesAre) {
  constexpr int64_t kOut = 9;
  const bool units = rounds(DType::F16);
  RefBackend ref;
  const std::vector<std::pair<float, float>> numbers = {
      {1e6F, 65504.0F},       {-3e38F, -65504.0F}, {65519.0F, 65504.0F},
      {0x1.8p-24F, 0x1p-23F}, {0x1p-26F, 0.0F},    {1.0F + 0x1p-11F, 1.0F}};
  for (const int64_t in : {96, 256}) {
    const LinearWeight w = packed(DType::F16, kOut, in);
    const LinearWeight expected =
        ref.pack_linear(host_tensor({kOut, in}, DType::F16, 1), DType::F16);
    const auto* values = expected.data.data<const float>();
    for (const int64_t rows : {2, 20, 40}) {
      for (const auto& [number, rounded] : numbers) {
        std::vector<float> x(static_cast<size_t>(rows * in));
        x[static_cast<size_t>(in + 35)] = number;
        const std::vector<float> found = product(x, rows, w, Precision::Fast);
        for (int64_t j = 0; j < kOut; ++j) {
          EXPECT_EQ(found[static_cast<size_t>(kOut + j)],
                    (units ? rounded : number) * values[j * in + 35])
              << number << ", " << rows << " rows of " << in;
          EXPECT_EQ(found[static_cast<size_t>(j)], 0.0F);
        }
      }
    }
  }
}

// As on the CPU: such a row has no number at all, and its neighbours do not know of it.
TEST_P(CudaProductsTest, RowsThatAreNotFiniteSpoilOnlyThemselves) {
  constexpr int64_t kIn = 256;
  constexpr int64_t kOut = 12;
  for (const DType dtype : {DType::F16, DType::BF16, DType::I8, DType::Q4_K, DType::Q8_0}) {
    const bool codes = GetParam() >= 61 && (dtype == DType::I8 || is_block_type(dtype));
    const LinearWeight w = packed(dtype, kOut, kIn);
    for (const int64_t rows : {4, 12, 50}) {
      std::vector<float> x = normals(rows * kIn, 2);
      const std::vector<float> good = product(x, rows, w, Precision::Fast);
      x[kIn + 3] = std::numeric_limits<float>::quiet_NaN();
      x[3 * kIn + 70] = -std::numeric_limits<float>::infinity();
      const std::vector<float> found = product(x, rows, w, Precision::Fast);
      for (size_t i = 0; i < found.size(); ++i) {
        const size_t row = i / kOut;
        if (row == 1 || row == 3) {
          // A float's infinity is one times any weight.
          EXPECT_TRUE(std::isnan(found[i]) || (row == 3 && !codes && std::isinf(found[i])))
              << name(dtype) << ", row " << row << ": " << found[i];
        } else {
          EXPECT_EQ(found[i], good[i]) << name(dtype) << ", row " << row;
        }
      }
    }
  }
}

}  // namespace
}  // namespace mynah::cases
