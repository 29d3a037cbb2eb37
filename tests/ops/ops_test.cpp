// What ops adds to a Backend: checks with readable messages, results, conveniences.
#include "ops/ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/ref/ref_backend.h"
#include "ops/inputs.h"

namespace mynah::cases {
namespace {

using testing::Each;
using testing::ElementsAre;

class OpsTest : public testing::Test {
 protected:
  RefBackend ref_;
};

using OpsDeathTest = OpsTest;

TEST_F(OpsDeathTest, AWrongShapeSaysWhatWasWantedAndFound) {
  const LinearWeight w = ops::pack_linear(ref_, host_tensor({8, 384}, DType::F32, 1), DType::F32);
  const Tensor x = ops::empty(ref_, {1500, 512});
  EXPECT_DEATH(static_cast<void>(ops::linear(ref_, x, w)),
               "\\[linear\\] x must be \\(rows, 384\\), got \\(1500, 512\\)");
  const Tensor good = ops::empty(ref_, {5, 384});
  const Tensor bias = ops::empty(ref_, {7});
  EXPECT_DEATH(static_cast<void>(ops::linear(ref_, good, w, {.bias = &bias})),
               "\\[linear\\] bias must be \\(8\\), got \\(7\\)");
  EXPECT_DEATH(static_cast<void>(ops::snake(ref_, good, bias)),
               "\\[snake\\] alpha must be \\(384\\), got \\(7\\)");
}

TEST_F(OpsDeathTest, TransposedConvolutionsOfOtherLengthsAreRefused) {
  const Tensor w = host_tensor({2, 3, 4}, DType::F32, 1);
  const auto pack = [&](const ConvTranspose1dSizes& sizes) {
    (void)ops::pack_conv_transpose1d(ref_, w, nullptr, DType::F32, sizes);
  };
  pack({.kernel = 4, .stride = 2, .padding = 1});
  EXPECT_DEATH(pack({.kernel = 4, .stride = 2}),
               "wants kernel - stride = 2 padding - output_padding, .* got kernel 4 stride 2 "
               "padding 0\\+0 groups 1");
  // The right length, but the last row of each step would see no tap.
  EXPECT_FALSE((ConvTranspose1dSizes{.kernel = 1, .stride = 2, .output_padding = 1}).supported());
  EXPECT_DEATH(pack({.kernel = 6, .stride = 2, .padding = 2}),
               "w must be \\(in, out / groups, kernel\\) of kernel 6 .*, got \\(2, 3, 4\\)");
}

TEST_F(OpsDeathTest, AWrongTypeOrDeviceIsNamed) {
  const Tensor half = ops::empty(ref_, {2, 4}, DType::F16);
  EXPECT_DEATH(static_cast<void>(ops::softmax(ref_, half)), "\\[softmax\\] x must be f32, got f16");
  EXPECT_DEATH(static_cast<void>(ops::softmax(ref_, host_tensor({2, 4}, DType::F32, 1))),
               "\\[softmax\\] x must be on ref, is on cpu");
  EXPECT_DEATH(static_cast<void>(ops::softmax(ref_, Tensor())), "\\[softmax\\] x is not defined");
}

TEST_F(OpsDeathTest, SpansThatDoNotFitAreBugs) {
  const Tensor x = ops::empty(ref_, {4, 8});
  const Lengths queries{3};
  const Lengths keys{5};
  EXPECT_DEATH(static_cast<void>(ops::attention(
                   ref_, x, x, x, {.queries = queries.spans(), .keys = keys.spans()})),
               "queries must cover 4 rows, got 3");
  const Lengths four{4};
  EXPECT_DEATH(static_cast<void>(
                   ops::attention(ref_, x, x, x, {.queries = four.spans(), .keys = keys.spans()})),
               "keys \\[0, 5\\) outside 4 rows");
}

TEST_F(OpsDeathTest, PenalisedTokensThatDoNotRiseAreBugs) {
  const Tensor logits = ops::from_host(ref_, normals(8, 1), {1, 8});
  const auto pick = [&](std::vector<TokenPenalty> penalties, int32_t count) {
    const SampleRow row{.penalties_count = count};
    (void)ops::sample(ref_, logits, {.rows = std::span(&row, 1), .penalties = penalties});
  };
  pick({{.token = 3, .factor = 2.0F}, {.token = 7, .factor = 2.0F}}, 2);
  EXPECT_DEATH(pick({{.token = 3, .factor = 2.0F}, {.token = 3, .factor = 2.0F}}, 2),
               "each at most once, below 8: 3 after 3");
  EXPECT_DEATH(pick({{.token = 4, .factor = 2.0F}, {.token = 3, .factor = 2.0F}}, 2), "3 after 4");
  EXPECT_DEATH(pick({{.token = 8, .factor = 2.0F}}, 1), "below 8: 8 after -1");
  EXPECT_DEATH(pick({{.token = 3, .factor = 0.0F}}, 1), "a penalty's factor is above 0");
  EXPECT_DEATH(pick({{.token = 3, .factor = 2.0F}}, 2), "penalties \\[0, 2\\) of 1");
}

TEST_F(OpsDeathTest, SamplesThatSayNothingAreBugs) {
  const Tensor logits = ops::from_host(ref_, normals(8, 1), {1, 8});
  const auto sample = [&](SampleRow row) {
    (void)ops::sample(ref_, logits, {.rows = std::span(&row, 1)});
  };
  sample({.first = {0, 4}, .second = {4, 100}});
  sample({.first = {5, 5}, .second = {1, 2}});
  EXPECT_DEATH(sample({.first = {0, 4}, .second = {3, 8}}),
               "the second tokens begin at 3, the first end at 4");
  EXPECT_DEATH(sample({.first = {4, 3}}), "tokens \\[4, 3\\)");
  EXPECT_DEATH(sample({.uniform = 1.0F}), "uniform outside");
  EXPECT_DEATH(sample({.top_k = -1}), "top_k is -1");
  EXPECT_DEATH(sample({.top_p = 1.5F}), "in \\[0, 1\\]");
}

TEST_F(OpsTest, ZerosAreZeroInEveryPlainType) {
  EXPECT_THAT(ops::to_host(ref_, ops::zeros(ref_, {100, 1000})), Each(0.0F));
  EXPECT_THAT(ops::to_host_i32(ref_, ops::zeros(ref_, {3}, DType::I32)), Each(0));
  EXPECT_THAT(ops::to_host(ref_, ops::cast(ref_, ops::zeros(ref_, {9}, DType::F16), DType::F32)),
              Each(0.0F));
  EXPECT_EQ(ops::zeros(ref_, {0, 4}).shape(), (Shape{0, 4}));
}

TEST_F(OpsTest, StridedTensorsComeToTheHostInOrder) {
  const Tensor x = ops::from_host(ref_, std::vector<float>{0, 1, 2, 3, 4, 5}, {2, 3});
  EXPECT_THAT(ops::to_host(ref_, x.narrow(1, 1, 2)), ElementsAre(1, 2, 4, 5));
  EXPECT_TRUE(ops::contiguous(ref_, x.narrow(1, 1, 2)).contiguous());
  EXPECT_EQ(ops::contiguous(ref_, x).raw(), x.raw());
}

TEST_F(OpsTest, RowOperationsTakeAnyRank) {
  const std::vector<float> values = normals(2 * 3 * 4, 1);
  const Tensor cube = ops::from_host(ref_, values, {2, 3, 4});
  const Tensor flat = ops::from_host(ref_, values, {6, 4});
  EXPECT_EQ(ops::softmax(ref_, cube).shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(ops::to_host(ref_, ops::softmax(ref_, cube)),
            ops::to_host(ref_, ops::softmax(ref_, flat)));
  EXPECT_EQ(ops::mean(ref_, cube).shape(), (Shape{2, 3}));
  // Strided in the middle: rows are copied together first.
  const Tensor part = cube.narrow(1, 1, 2);
  EXPECT_EQ(ops::to_host(ref_, ops::relu(ref_, part)),
            ops::to_host(ref_, ops::relu(ref_, ops::copy(ref_, part))));
}

TEST_F(OpsTest, BinarySpreadsARowOrAnElement) {
  const Tensor a = ops::from_host(ref_, std::vector<float>{1, 2, 3, 4}, {2, 2});
  const Tensor row = ops::from_host(ref_, std::vector<float>{10, 20}, {2});
  const Tensor one = ops::from_host(ref_, std::vector<float>{100}, {1});
  EXPECT_THAT(ops::to_host(ref_, ops::add(ref_, a, row)), ElementsAre(11, 22, 13, 24));
  EXPECT_THAT(ops::to_host(ref_, ops::sub(ref_, a, one)), ElementsAre(-99, -98, -97, -96));
  EXPECT_THAT(ops::to_host(ref_, ops::mul(ref_, a, a)), ElementsAre(1, 4, 9, 16));
}

TEST_F(OpsTest, EmptyBatchesComeBackEmpty) {
  const LinearWeight w = ops::pack_linear(ref_, host_tensor({8, 4}, DType::F32, 1), DType::F32);
  EXPECT_EQ(ops::linear(ref_, ops::empty(ref_, {0, 4}), w).shape(), (Shape{0, 8}));
  EXPECT_EQ(ops::gelu(ref_, ops::empty(ref_, {0, 4})).shape(), (Shape{0, 4}));
}

TEST_F(OpsTest, ToDeviceCopiesToAnotherDevice) {
  const Tensor host = host_tensor({3, 32}, DType::Q4_0, 1);
  const Tensor on_ref = ops::to_device(ref_, host);
  EXPECT_EQ(on_ref.device(), ref_.device());
  EXPECT_EQ(on_ref.dtype(), DType::Q4_0);
  EXPECT_EQ(on_ref.shape(), host.shape());
}

}  // namespace
}  // namespace mynah::cases
