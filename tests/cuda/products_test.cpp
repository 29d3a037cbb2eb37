// What the table of operations does not say of products on a card: packed weights to the bit, wide
// matrices, rows that are not finite.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cuda/cuda_backend.h"
#include "backend/ref/ref_backend.h"
#include "base/thread_pool.h"
#include "ops/inputs.h"
#include "ops/ops.h"

namespace mynah::cases {
namespace {

class CudaProductsTest : public testing::Test {
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

  Backend& backend() { return *backend_; }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> backend_ = make_simt_backend(pool_);
};

// Row i of x is one at i: what comes out is column i of the weights, with nothing added.
TEST_F(CudaProductsTest, UnitRowsGiveEveryWeightBack) {
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
      const std::vector<float> found = product(x, rows, w, Precision::Exact);
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < kOut; ++j) {
          ASSERT_EQ(found[static_cast<size_t>(i * kOut + j)], values[j * kIn + (i * 73) % kIn])
              << name(dtype) << ", " << rows << " rows, weight " << j << ", " << (i * 73) % kIn;
        }
      }
    }
  }
}

// A cache file's bytes come from another run.
TEST_F(CudaProductsTest, PackedBytesAreGoodOnAnotherCard) {
  const auto other = make_simt_backend(pool_, {.level = 61});
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
// a row's bits are the same in all of them.
TEST_F(CudaProductsTest, WideMatricesGiveFewRowsTheBitsOfMany) {
  constexpr int64_t kIn = 256;
  constexpr int64_t kMany = 40;
  const std::vector<float> x = normals(kMany * kIn, 2);
  for (const int64_t out : {2600, 5150}) {
    for (const DType dtype : {DType::F16, DType::I8, DType::Q4_1, DType::Q6_K}) {
      const LinearWeight w = packed(dtype, out, kIn);
      for (const Precision precision : {Precision::Exact, Precision::Fast}) {
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

// As on the CPU: such a row has no number at all, and its neighbours do not know of it.
TEST_F(CudaProductsTest, RowsThatAreNotFiniteSpoilOnlyThemselves) {
  constexpr int64_t kIn = 256;
  constexpr int64_t kOut = 12;
  for (const DType dtype : {DType::I8, DType::Q4_K, DType::Q8_0}) {
    const LinearWeight w = packed(dtype, kOut, kIn);
    for (const int64_t rows : {4, 50}) {
      std::vector<float> x = normals(rows * kIn, 2);
      const std::vector<float> good = product(x, rows, w, Precision::Fast);
      x[kIn + 3] = std::numeric_limits<float>::quiet_NaN();
      x[3 * kIn + 70] = -std::numeric_limits<float>::infinity();
      const std::vector<float> found = product(x, rows, w, Precision::Fast);
      for (size_t i = 0; i < found.size(); ++i) {
        const size_t row = i / kOut;
        if (row == 1 || row == 3) {
          EXPECT_TRUE(std::isnan(found[i])) << name(dtype) << ", row " << row << ": " << found[i];
        } else {
          EXPECT_EQ(found[i], good[i]) << name(dtype) << ", row " << row;
        }
      }
    }
  }
}

}  // namespace
}  // namespace mynah::cases
