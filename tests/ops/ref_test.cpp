// The reference against what can be known without it: numbers worked out by hand, closed forms, and
// the libraries whose definitions it follows.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/ref/ref_backend.h"
#include "ops/inputs.h"
#include "ops/op_case.h"
#include "ops/ops.h"

namespace mynah::cases {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::Pointwise;

class RefTest : public testing::Test {
 protected:
  Tensor make(const std::vector<float>& values, const Shape& shape) {
    return ops::from_host(ref_, values, shape);
  }

  std::vector<float> host(const Tensor& x) { return ops::to_host(ref_, x); }

  // Weights in host memory, as files give them.
  static Tensor file(const std::vector<float>& values, const Shape& shape) {
    Tensor t = host_tensor(shape, DType::F32, 0);
    std::memcpy(t.raw(), values.data(), values.size() * sizeof(float));
    return t;
  }

  RefBackend ref_;
};

TEST_F(RefTest, LinearMultipliesByTheTransposeAndAddsTheRest) {
  const LinearWeight w = ops::pack_linear(ref_, file({1, 2, 3, -1, 0, 1}, {2, 3}), DType::F32);
  const Tensor x = make({1, 0, 2, -1, -1, -1}, {2, 3});
  const Tensor bias = make({0.5F, -2}, {2});
  const Tensor residual = make({10, 20, 30, 40}, {2, 2});
  EXPECT_THAT(host(ops::linear(ref_, x, w)), ElementsAre(7, 1, -6, 0));
  EXPECT_THAT(
      host(ops::linear(ref_, x, w,
                       {.bias = &bias, .residual = &residual, .activation = Activation::Relu})),
      ElementsAre(17.5F, 20, 30, 40));
}

TEST_F(RefTest, Int8WeightsAreTheNearestMultiplesOfAScaleARow) {
  const LinearWeight w =
      ops::pack_linear(ref_, file({127, 0.4F, -126.6F, 12.7F, 0.04F, -1}, {2, 3}), DType::I8);
  EXPECT_EQ(w.dtype, DType::I8);
  const Tensor identity = make({1, 0, 0, 0, 1, 0, 0, 0, 1}, {3, 3});
  // Row 0 has the scale 1, row 1 the scale 0.1.
  EXPECT_THAT(host(ops::linear(ref_, identity, w)),
              Pointwise(FloatEq(), {127.0F, 12.7F, 0.0F, 0.0F, -127.0F, -1.0F}));
}

TEST_F(RefTest, Conv1dSlidesOverEachUtteranceAlone) {
  // One channel, the filter (1, 10, 100): its result reads off the window.
  const LinearWeight w = ops::pack_conv1d(ref_, file({1, 10, 100}, {1, 1, 3}), DType::F32);
  const Tensor x = make({1, 2, 3, 7, 8}, {5, 1});
  Conv1dParams params;
  params.kernel = 3;
  params.padding_left = params.padding_right = 1;
  EXPECT_THAT(host(ops::conv1d(ref_, x, {3, 2}, w, params)), ElementsAre(210, 321, 32, 870, 87));
  params.stride = 2;
  EXPECT_THAT(host(ops::conv1d(ref_, x, {3, 2}, w, params)), ElementsAre(210, 32, 870));
  params.dilation = 2;
  params.stride = 1;
  params.padding_right = 3;
  EXPECT_THAT(host(ops::conv1d(ref_, x, {3, 2}, w, params)), ElementsAre(20, 31, 2, 80, 7));
}

TEST_F(RefTest, GroupsOfConv1dSeeTheirOwnChannels) {
  const LinearWeight w = ops::pack_conv1d(ref_, file({1, 10, 100, 1000}, {2, 1, 2}), DType::F32, 2);
  const Tensor x = make({1, 5, 2, 6, 3, 7}, {3, 2});
  Conv1dParams params;
  params.kernel = 2;
  params.groups = 2;
  EXPECT_THAT(host(ops::conv1d(ref_, x, {3}, w, params)), ElementsAre(21, 6500, 32, 7600));
}

TEST_F(RefTest, TransposedConv1dSpreadsEachRowOverTheResult) {
  // One channel, the filter (1, 10, 100, 1000), two rows of the result for each of x.
  const ConvTranspose1dSizes sizes{.kernel = 4, .stride = 2, .padding = 1};
  const Tensor bias = make({0.5F}, {1});
  const ConvTranspose1dWeight w = ops::pack_conv_transpose1d(
      ref_, file({1, 10, 100, 1000}, {1, 1, 4}), &bias, DType::F32, sizes);
  const Tensor x = make({1, 2, 7}, {3, 1});
  // Of the first utterance before padding is cut off: 1 10 100 1000, and two rows on, twice that.
  EXPECT_THAT(host(ops::conv_transpose1d(ref_, x, {2, 1}, w)),
              ElementsAre(10.5F, 102.5F, 1020.5F, 200.5F, 70.5F, 700.5F));
}

// ConvTranspose1d of PyTorch, as its documentation describes it: every row of x adds the kernel,
// times itself, to the rows of the result from row * stride - padding on.
std::vector<float> scattered(const std::vector<float>& x, const std::vector<float>& w,
                             const std::vector<int64_t>& lengths, int64_t in, int64_t out,
                             const ConvTranspose1dSizes& s) {
  std::vector<float> result;
  const int64_t group_in = in / s.groups;
  const int64_t group_out = out / s.groups;
  int64_t begin = 0;
  for (const int64_t length : lengths) {
    const int64_t rows =
        length == 0 ? 0
                    : (length - 1) * s.stride - 2 * s.padding + s.kernel - 1 + s.output_padding + 1;
    std::vector<double> sums(static_cast<size_t>(rows * out));
    for (int64_t t = 0; t < length; ++t) {
      for (int64_t k = 0; k < s.kernel; ++k) {
        const int64_t p = t * s.stride - s.padding + k;
        for (int64_t c = 0; p >= 0 && p < rows && c < in; ++c) {
          for (int64_t o = 0; o < group_out; ++o) {
            sums[static_cast<size_t>(p * out + c / group_in * group_out + o)] +=
                static_cast<double>(x[static_cast<size_t>((begin + t) * in + c)]) *
                w[static_cast<size_t>((c * group_out + o) * s.kernel + k)];
          }
        }
      }
    }
    result.insert(result.end(), sums.begin(), sums.end());
    begin += length;
  }
  return result;
}

TEST_F(RefTest, TransposedConv1dIsWhatPyTorchDefines) {
  struct Kind {
    int64_t in, out;
    ConvTranspose1dSizes sizes;
    size_t parts;  // that it is computed in
  };

  const std::vector<int64_t> lengths = {7, 1, 0, 2};
  for (const Kind& kind :
       {Kind{6, 4, {.kernel = 20, .stride = 10, .padding = 5}, 2},
        {6, 4, {.kernel = 12, .stride = 6, .padding = 3}, 2},
        {5, 3, {.kernel = 16, .stride = 8, .padding = 4}, 2},
        {3, 5, {.kernel = 4, .stride = 2, .padding = 1}, 2},
        {5, 5, {.kernel = 3, .stride = 2, .padding = 1, .output_padding = 1, .groups = 5}, 2},
        {4, 6, {.kernel = 6, .stride = 4, .padding = 1, .groups = 2}, 4},
        {4, 2, {.kernel = 5, .stride = 3, .padding = 1}, 3},
        {2, 3, {.kernel = 5, .stride = 2, .padding = 2, .output_padding = 1}, 2},
        {3, 2, {.kernel = 3, .stride = 3}, 1},
        {2, 2, {.kernel = 7, .stride = 1, .padding = 3}, 1},
        {2, 3, {.kernel = 10, .stride = 8, .padding = 2, .output_padding = 2}, 2}}) {
    const auto& [in, out, sizes, parts] = kind;
    SCOPED_TRACE(sizes.str());
    const std::vector<float> x = normals(10 * in, 1);
    const std::vector<float> w = normals(in * out / sizes.groups * sizes.kernel, 2);
    const ConvTranspose1dWeight packed = ops::pack_conv_transpose1d(
        ref_, file(w, {in, out / sizes.groups, sizes.kernel}), nullptr, DType::F32, sizes);
    EXPECT_EQ(packed.parts.size(), parts);
    const Lengths spans{lengths};
    const Tensor y = ops::conv_transpose1d(ref_, make(x, {10, in}), spans, packed);
    EXPECT_EQ(y.dim(0), ops::conv_transpose1d_lengths(spans, sizes).total());
    EXPECT_THAT(host(y),
                Pointwise(testing::FloatNear(1e-5F), scattered(x, w, lengths, in, out, sizes)));
  }
}

TEST_F(RefTest, AttentionToEqualKeysIsTheMeanOfTheValues) {
  const Tensor q = make({5, -3}, {1, 2});
  const Tensor k = make({1, 1, 1, 1, 1, 1}, {3, 2});
  const Tensor v = make({0, 6, 3, 0, 6, 3}, {3, 2});
  const Lengths one{1};
  const std::vector<Span> keys{{0, 3}};
  AttentionParams params{.heads = 1, .kv_heads = 1, .queries = one.spans(), .keys = keys};
  EXPECT_THAT(host(ops::attention(ref_, q, k, v, params)), Pointwise(FloatEq(), {3.0F, 3.0F}));
  const KeysValues packed = ops::pack_keys_values(ref_, k, v, 1);
  EXPECT_THAT(host(ops::attention_probabilities(ref_, q, packed, 3, 1, 1.0F)),
              Pointwise(FloatEq(), {1.0F / 3, 1.0F / 3, 1.0F / 3}));
}

TEST_F(RefTest, CausalQueriesSeeTheKeysUpToTheirOwn) {
  const Tensor q = make({0, 0}, {2, 1});
  const Tensor k = make({0, 0, 0, 0}, {4, 1});
  const Tensor v = make({1, 2, 6, 11}, {4, 1});
  const Lengths two{2};
  const std::vector<Span> keys{{0, 4}};
  AttentionParams params{.causal = true, .queries = two.spans(), .keys = keys};
  EXPECT_THAT(host(ops::attention(ref_, q, k, v, params)), Pointwise(FloatEq(), {3.0F, 5.0F}));
}

TEST_F(RefTest, TheTailStandsAfterAReadersOwnKeys) {
  const Tensor q = make({0, 0}, {2, 1});
  const KeysValues first = ops::pack_keys_values(ref_, make({0}, {1, 1}), make({10}, {1, 1}), 1);
  const KeysValues second =
      ops::pack_keys_values(ref_, make({0, 0}, {2, 1}), make({20, 30}, {2, 1}), 1);
  const KeysValues tail =
      ops::pack_keys_values(ref_, make({0, 0}, {2, 1}), make({100, 200}, {2, 1}), 1);
  const Lengths queries{1, 1};
  const std::vector<const KeysValues*> keys = {&first, &second};
  // The first sees its own row 0 and the tail's row 1; the second's own two rows hide the tail.
  EXPECT_THAT(host(ops::attention_packed(
                  ref_, q, {.queries = queries.spans(), .keys = keys, .tail = &tail})),
              Pointwise(FloatEq(), {105.0F, 25.0F}));
}

TEST_F(RefTest, ARowOfAGroupedTailCountsAsItsPositions) {
  const Tensor q = make({0}, {1, 1});
  const KeysValues own =
      ops::pack_keys_values(ref_, make({0, 0}, {2, 1}), make({10, 20}, {2, 1}), 1);
  // Row 0 stands for the reader's own two positions, row 1 for two of silence.
  const KeysValues tail =
      ops::pack_keys_values(ref_, make({0, 0}, {2, 1}), make({1000, 50}, {2, 1}), 1);
  const Lengths queries{1};
  const std::vector<const KeysValues*> keys = {&own};
  EXPECT_THAT(
      host(ops::attention_packed(
          ref_, q, {.queries = queries.spans(), .keys = keys, .tail = &tail, .tail_group = 2})),
      Pointwise(FloatEq(), {(10.0F + 20.0F + 2 * 50.0F) / 4}));
}

TEST_F(RefTest, RopeTurnsPairsByTheirPosition) {
  const Tensor x = make({1, 2, 3, 4, 1, 2, 3, 4}, {2, 4});
  // By nothing, and by a quarter and by half a turn.
  const Tensor turns = make({1, 1, 0, 0, 0, -1, 1, 0}, {2, 4});
  EXPECT_THAT(host(ops::rope(ref_, x, turns, 1)), ElementsAre(1, 2, 3, 4, -3, -2, 1, -4));
  EXPECT_THAT(host(ops::rope(ref_, x, turns, 1, RopePairs::Neighbours)),
              ElementsAre(1, 2, 3, 4, -2, 1, -3, -4));
  // One pair of a head of four columns: the others stay.
  EXPECT_THAT(host(ops::rope(ref_, x, make({1, 0, 0, 1}, {2, 2}), 1)),
              ElementsAre(1, 2, 3, 4, -2, 1, 3, 4));
}

TEST_F(RefTest, AGateIsMultipliedWithTheOtherHalf) {
  EXPECT_THAT(host(ops::gated(ref_, make({-1, 2, 3, 4}, {1, 4}), {.activation = Activation::Relu})),
              ElementsAre(0, 8));
}

TEST_F(RefTest, NormsScaleToUnitVariance) {
  const Tensor x = make({1, 3, 1, 3}, {1, 4});
  const Tensor gamma = make({1, 2, 1, 1}, {4});
  const Tensor beta = make({0, 0, 5, 0}, {4});
  EXPECT_THAT(host(ops::layer_norm(ref_, x, gamma, beta, 0.0F)), ElementsAre(-1, 2, 4, 1));
  // Mean square 5.
  EXPECT_FLOAT_EQ(host(ops::rms_norm(ref_, x, gamma, 0.0F))[1],
                  static_cast<float>(6 / std::sqrt(5.0)));
  const Tensor columns = make({1, 10, 3, 30, 5, 5}, {3, 2});
  const Tensor twos = make({2, 1, 2, 1}, {2, 2});
  const Tensor sevens = make({7, 0, 7, 0}, {2, 2});
  // Means 2 and 20, deviations 1 and 10; of a single row nothing but beta is left.
  EXPECT_THAT(host(ops::instance_factors(ref_, columns, {2, 1}, twos, sevens, 1e-12F)),
              Pointwise(testing::FloatNear(1e-3F),
                        {2.0F, 0.1F, 3.0F, -2.0F, 2e6F, 1e6F, 7.0F - 1e7F, -5e6F}));
}

TEST_F(RefTest, SoftmaxDoesNotSeeAShiftAndLogSoftmaxIsItsLogarithm) {
  const Tensor x = make({0, std::log(3.0F), 1000, 1000 + std::log(3.0F)}, {2, 2});
  EXPECT_THAT(host(ops::softmax(ref_, x)),
              Pointwise(testing::FloatNear(1e-4F), {0.25F, 0.75F, 0.25F, 0.75F}));
  const Tensor y = make(normals(300, 1, 5.0F), {3, 100});
  const std::vector<float> p = host(ops::softmax(ref_, y));
  const std::vector<float> logs = host(ops::log_softmax(ref_, y));
  for (size_t i = 0; i < p.size(); ++i) {
    EXPECT_NEAR(std::log(p[i]), logs[i], 1e-5F * (1.0F + std::fabs(logs[i])));
  }
}

TEST_F(RefTest, LstmFollowsPyTorchsOrderOfGates) {
  // Weights of zero: the gates are the biases. Sigmoid of 0 is 1/2.
  const Tensor zero = file({0, 0, 0, 0}, {4, 1});
  const LinearWeight w = ops::pack_linear(ref_, zero, DType::F32);
  const Tensor bias = make({100, 0, 0.5F, 100}, {4});  // input 1, forget 1/2, cell 0.5, output 1
  const Tensor h = make({0}, {1, 1});
  const Tensor c = make({2}, {1, 1});
  const Tensor y = ops::lstm(ref_, make({0, 0}, {2, 1}), {2}, w, w, bias, {}, h, c);
  const double first = 2 * 0.5 + std::tanh(0.5);
  const double second = first * 0.5 + std::tanh(0.5);
  EXPECT_FLOAT_EQ(host(y)[0], static_cast<float>(std::tanh(first)));
  EXPECT_FLOAT_EQ(host(y)[1], static_cast<float>(std::tanh(second)));
  EXPECT_FLOAT_EQ(host(h)[0], host(y)[1]);
  EXPECT_FLOAT_EQ(host(c)[0], static_cast<float>(second));
}

TEST_F(RefTest, AReverseLstmIsAnLstmOfTheReversedUtterance) {
  const LinearWeight w_ih = ops::pack_linear(ref_, host_tensor({12, 2}, DType::F32, 1), DType::F32);
  const LinearWeight w_hh = ops::pack_linear(ref_, host_tensor({12, 3}, DType::F32, 2), DType::F32);
  const Tensor bias = make(normals(12, 3), {12});
  const Tensor x = make({1, 2, 3, 4, 5, 6}, {3, 2});
  const Tensor mirrored = make({5, 6, 3, 4, 1, 2}, {3, 2});
  const auto run = [&](const Tensor& input, bool reverse) {
    const Tensor h = ops::zeros(ref_, {1, 3});
    const Tensor c = ops::zeros(ref_, {1, 3});
    return ops::lstm(ref_, input, {3}, w_ih, w_hh, bias, {.reverse = reverse}, h, c);
  };
  const Tensor back = ops::from_host(ref_, std::vector<int32_t>{2, 1, 0}, {3});
  EXPECT_EQ(host(run(x, true)), host(ops::gather_rows(ref_, run(mirrored, false), back)));
}

TEST_F(RefTest, ActivationsHaveTheirKnownValues) {
  const Tensor x = make({1, -1, 0}, {3});
  EXPECT_THAT(host(ops::gelu(ref_, x)),
              Pointwise(FloatEq(), {0.8413447460685429F, -0.15865525393145707F, 0.0F}));
  EXPECT_THAT(host(ops::gelu_tanh(ref_, x)),
              Pointwise(FloatEq(), {0.8411919906082768F, -0.15880800939172324F, 0.0F}));
  EXPECT_THAT(host(ops::silu(ref_, x)),
              Pointwise(FloatEq(), {0.7310585786300049F, -0.2689414213699951F, 0.0F}));
}

TEST_F(RefTest, LeakyReluScalesWhatIsBelowZero) {
  const Tensor x = make({1, -1, 0, -8, 3, -INFINITY}, {2, 3});
  EXPECT_THAT(host(ops::leaky_relu(ref_, x, 0.25F)), ElementsAre(1, -0.25F, 0, -2, 3, -INFINITY));
}

TEST_F(RefTest, SnakeAddsASquaredSineChannelByChannel) {
  constexpr auto kPi = std::numbers::pi_v<float>;
  EXPECT_THAT(host(ops::snake(ref_, make({kPi / 2, kPi / 4, -kPi / 2, kPi / 2}, {2, 2}),
                              make({1, 2}, {2}))),
              Pointwise(FloatEq(), {kPi / 2 + 1, kPi / 4 + 0.5F, 1 - kPi / 2, kPi / 2}));
  // The paper's other form of it: x + (1 - cos(2 alpha x)) / (2 alpha).
  constexpr size_t kRows = 20;
  constexpr size_t kChannels = 7;
  const std::vector<float> x = normals(kRows * kChannels, 1, 5.0F);
  const std::vector<float> alphas{0.1F, 0.5F, 1, 1.5F, 2, 4, 20};
  std::vector<float> wanted;
  for (size_t i = 0; i < x.size(); ++i) {
    const double alpha = alphas[i % kChannels];
    const double value = x[i];
    wanted.push_back(
        static_cast<float>(value + (1.0 - std::cos(2.0 * alpha * value)) / (2.0 * alpha)));
  }
  EXPECT_THAT(host(ops::snake(ref_, make(x, {kRows, kChannels}), make(alphas, {kChannels}))),
              Pointwise(FloatEq(), wanted));
}

TEST_F(RefTest, AlongRows) {
  const Tensor x = make({3, 1, 3, 2, NAN, NAN, -1, NAN}, {2, 4});
  EXPECT_THAT(ops::to_host_i32(ref_, ops::argmax(ref_, x)), ElementsAre(0, 2));
  const Tensor y = make({1, 5, 2, 4, 3}, {5});
  EXPECT_THAT(host(ops::cumsum(ref_, y)), ElementsAre(1, 6, 8, 12, 15));
  // Windows (5 1 5) (1 5 2) (5 2 4) (2 4 3) (4 3 4).
  EXPECT_THAT(host(ops::median_filter(ref_, y, 3)), ElementsAre(5, 2, 4, 3, 4));
  EXPECT_THAT(host(ops::median_filter(ref_, y, 11)), ElementsAre(1, 5, 2, 4, 3));
  EXPECT_THAT(host(ops::sum(ref_, y)), ElementsAre(15));
  EXPECT_THAT(host(ops::mean(ref_, y)), ElementsAre(3));
  EXPECT_THAT(host(ops::max(ref_, y)), ElementsAre(5));
}

TEST_F(RefTest, LogMelIsWhatFasterWhispersFeatureExtractorGives) {
  std::ifstream stream(LOG_MEL_VECTORS, std::ios::binary);
  const std::vector<char> bytes(std::istreambuf_iterator<char>(stream), {});
  uint32_t sizes[4] = {};
  ASSERT_GE(bytes.size(), sizeof sizes);
  std::memcpy(sizes, bytes.data(), sizeof sizes);
  const auto [samples, frames, mels, bins] = sizes;
  std::vector<float> numbers((bytes.size() - sizeof sizes) / sizeof(float));
  std::memcpy(numbers.data(), bytes.data() + sizeof sizes, numbers.size() * sizeof(float));
  ASSERT_EQ(numbers.size(), samples + mels * bins + frames * mels);
  const auto all = std::span(std::as_const(numbers));
  const Tensor wave = ops::from_host(ref_, all.first(samples), {samples});
  const Tensor filters = ops::from_host(ref_, all.subspan(samples, mels * bins), {mels, bins});
  const Lengths spans{samples};
  const Lengths rows{frames};
  const std::vector<float> found = host(ops::log_mel(
      ref_, wave, {.filters = &filters, .samples = spans.spans(), .frames = rows.spans()}));
  const auto expected = all.subspan(samples + mels * bins);
  // The extractor computes in complex64: amplitudes err by about 1e-7 of the frame's peak (about
  // 20), so that a level four magnitudes below it, 1e-4 relative, is off by 1e-3 / 4 in the result.
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], 2.5e-4F) << "frame " << i / mels << " mel " << i % mels;
  }
}

TEST_F(RefTest, LogMelOfSilenceIsTheFloor) {
  const Tensor wave = ops::zeros(ref_, {800});
  const Tensor filters = make(std::vector<float>(201, 1.0F), {1, 201});
  const Lengths samples{800};
  const Lengths frames{5};
  // log10(1e-10) = -10, and (-10 + 4) / 4.
  EXPECT_THAT(
      host(ops::log_mel(
          ref_, wave, {.filters = &filters, .samples = samples.spans(), .frames = frames.spans()})),
      testing::Each(-1.5F));
}

}  // namespace
}  // namespace mynah::cases
