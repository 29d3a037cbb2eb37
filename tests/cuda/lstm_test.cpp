// What the table of operations does not ask of lstm's kernels: a launch a step for utterances of
// different lengths, and weights of block types.
#include <cmath>

#include <gtest/gtest.h>

#include "backend/cuda/cuda_backend.h"
#include "backend/ref/ref_backend.h"
#include "ops/inputs.h"
#include "ops/ops.h"

namespace mynah {
namespace {

using cases::host_tensor;
using cases::normals;

struct Layer {
  int64_t hidden;
  DType type;
};

std::ostream& operator<<(std::ostream& out, const Layer& layer) {
  return out << name(layer.type) << " of " << layer.hidden;
}

class CudaLstmTest : public testing::TestWithParam<Layer> {
 protected:
  static std::vector<float> results(Backend& backend, const Layer& layer, bool reverse) {
    constexpr int64_t kIn = 256;
    const Lengths lengths{3, 0, 1, 4};
    const float deviation = 0.5F / std::sqrt(static_cast<float>(layer.hidden));
    const DType from = layer.type == DType::I8 ? DType::F32 : layer.type;
    const auto weight = [&](int64_t in, uint64_t seed) {
      return ops::pack_linear(backend, host_tensor({4 * layer.hidden, in}, from, seed, deviation),
                              layer.type);
    };
    const auto tensor = [&](int64_t rows, int64_t columns, uint64_t seed) {
      return ops::from_host(backend, normals(rows * columns, seed, 0.5F), {rows, columns});
    };
    const Tensor bias = ops::from_host(backend, normals(4 * layer.hidden, 3), {4 * layer.hidden});
    const Tensor h = tensor(lengths.count(), layer.hidden, 4);
    const Tensor c = tensor(lengths.count(), layer.hidden, 5);
    std::vector<float> all = ops::to_host(
        backend, ops::lstm(backend, tensor(lengths.total(), kIn, 6), lengths, weight(kIn, 1),
                           weight(layer.hidden, 2), bias, {.reverse = reverse}, h, c));
    for (const Tensor* state : {&h, &c}) {
      const std::vector<float> values = ops::to_host(backend, *state);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }
};

TEST_P(CudaLstmTest, AgreesWithRef) {
  ThreadPool pool(2);
  const auto simulated = make_simt_backend(pool, {.seed = 5});
  const auto ref = make_ref_backend();
  for (const bool reverse : {false, true}) {
    const std::vector<float> wanted = results(*ref, GetParam(), reverse);
    const std::vector<float> given = results(*simulated, GetParam(), reverse);
    ASSERT_EQ(given.size(), wanted.size());
    for (size_t i = 0; i < given.size(); ++i) {
      EXPECT_NEAR(given[i], wanted[i], 1e-5F)
          << "element " << i << (reverse ? ", reverse" : ", forward");
    }
  }
}

// 264 units are 33 panels, and no whole number of chunks.
INSTANTIATE_TEST_SUITE_P(Layers, CudaLstmTest,
                         testing::Values(Layer{264, DType::F32}, Layer{392, DType::I8},
                                         Layer{64, DType::Q8_0}, Layer{64, DType::Q4_0},
                                         Layer{256, DType::Q4_K}, Layer{512, DType::Q6_K}));

}  // namespace
}  // namespace mynah
