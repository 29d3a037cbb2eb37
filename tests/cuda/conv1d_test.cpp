// Convolutions on matrix units: windows that are read in place give the bits of windows that are
// laid out before the product.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cuda/cuda_backend.h"
#include "base/thread_pool.h"
#include "ops/inputs.h"
#include "ops/ops.h"

namespace mynah::cases {
namespace {

// A convolution, and the lengths of the utterances that it is tried with.
struct Shape {
  std::vector<int64_t> lengths;
  int64_t channels;
  int64_t out;
  int64_t kernel;
  int64_t stride;
  int64_t left;
  int64_t right;
  int64_t dilation;

  [[nodiscard]] Conv1dParams params() const {
    Conv1dParams params;
    params.kernel = kernel;
    params.stride = stride;
    params.padding_left = left;
    params.padding_right = right;
    params.dilation = dilation;
    params.precision = Precision::Fast;
    return params;
  }
};

// What each row of the result sees of x, (rows, kernel * channels).
std::vector<float> windows_of(const std::vector<float>& x, const Shape& shape) {
  const Conv1dParams params = shape.params();
  std::vector<float> windows;
  const Lengths lengths{shape.lengths};
  for (const Span& span : lengths.spans()) {
    for (int64_t t = 0; t < params.out_rows(span.length); ++t) {
      for (int64_t tap = 0; tap < shape.kernel; ++tap) {
        const int64_t row = t * shape.stride - shape.left + tap * shape.dilation;
        const int64_t from = (span.begin + row) * shape.channels;
        for (int64_t i = 0; i < shape.channels; ++i) {
          windows.push_back(row >= 0 && row < span.length ? x[static_cast<size_t>(from + i)]
                                                          : 0.0F);
        }
      }
    }
  }
  return windows;
}

class CudaConv1dTest : public testing::TestWithParam<int> {
 protected:
  // Those that are multiplied on matrix units.
  static std::vector<DType> types() {
    return GetParam() < 80 ? std::vector{DType::F16} : std::vector{DType::F16, DType::BF16};
  }

  LinearWeight weight(const Shape& shape, DType dtype) {
    return ops::pack_conv1d(
        *backend_, host_tensor({shape.out, shape.channels, shape.kernel}, DType::F32, 1), dtype, 1);
  }

  static std::vector<float> input(const Shape& shape) {
    return normals(Lengths(shape.lengths).total() * shape.channels, 2);
  }

  std::vector<float> convolved(const std::vector<float>& x, const Shape& shape,
                               const LinearWeight& w, Layout layout = Layout::Contiguous) {
    const Lengths lengths{shape.lengths};
    const Tensor on_card = matrix(*backend_, x, lengths.total(), shape.channels, layout);
    launched_.clear();
    return ops::to_host(*backend_, ops::conv1d(*backend_, on_card, lengths, w, shape.params()));
  }

  // The same product of windows that stand in memory: a convolution's weights are those of a
  // linear layer over (tap, channel).
  std::vector<float> laid_out(const std::vector<float>& x, const Shape& shape,
                              const LinearWeight& w) {
    const std::vector<float> windows = windows_of(x, shape);
    const auto rows = static_cast<int64_t>(windows.size()) / w.in_features;
    const Tensor on_card = ops::from_host(*backend_, windows, {rows, w.in_features});
    return ops::to_host(*backend_,
                        ops::linear(*backend_, on_card, w, {.precision = Precision::Fast}));
  }

  // Since the last convolution began.
  [[nodiscard]] bool launched(std::string_view kernel) const {
    return std::ranges::find(launched_, kernel) != launched_.end();
  }

  static std::string suffix(DType dtype) { return dtype == DType::F16 ? "f16" : "bf16"; }

  ThreadPool pool_{2};
  std::vector<std::string> launched_;
  std::unique_ptr<Backend> backend_ = make_simt_backend(
      pool_, {.level = GetParam(), .observer = [this](const simt::LaunchReport& report) {
                launched_.emplace_back(report.kernel);
              }});
};

// Those that have matrix units.
std::vector<int> levels() {
  std::vector<int> all = simt_levels();
  std::erase_if(all, [](int level) { return level < 75; });
  return all;
}

INSTANTIATE_TEST_SUITE_P(Levels, CudaConv1dTest, testing::ValuesIn(levels()),
                         [](const testing::TestParamInfo<int>& level) {
                           return "sm_" + std::to_string(level.param);
                         });

TEST_P(CudaConv1dTest, WindowsInPlaceGiveTheBitsOfWindowsLaidOut) {
  const std::vector<Shape> shapes = {
      {{50}, 32, 9, 3, 1, 1, 1, 1},
      {{130}, 64, 70, 3, 2, 1, 1, 1},              // as Whisper's second
      {{67}, 80, 65, 3, 1, 1, 1, 1},               // as its first: a step is of two taps
      {{40, 3, 0, 1, 17}, 40, 33, 5, 1, 2, 2, 1},  // utterances shorter than the kernel
      {{30, 1, 33, 2}, 48, 20, 4, 1, 9, 4, 3},
      {{60, 75}, 56, 12, 3, 2, 4, 0, 2},
      {{120, 4}, 32, 8, 2, 3, 0, 0, 1},  // rows that no window sees
      {{41}, 96, 16, 1, 1, 0, 0, 1},
  };
  for (const DType dtype : types()) {
    for (const Shape& shape : shapes) {
      const LinearWeight w = weight(shape, dtype);
      const std::vector<float> x = input(shape);
      const std::vector<float> wanted = laid_out(x, shape, w);
      for (const Layout layout : {Layout::Contiguous, Layout::Strided}) {
        EXPECT_EQ(convolved(x, shape, w, layout), wanted)
            << name(dtype) << ", " << shape.channels << " channels, kernel " << shape.kernel;
        EXPECT_TRUE(launched("units_conv1d_" + suffix(dtype) + "_64"));
        EXPECT_FALSE(launched("pack_windows_" + suffix(dtype)));
      }
    }
  }
}

TEST_P(CudaConv1dTest, LargeTilesGiveTheSameBits) {
  const Shape shape{{90, 50}, 40, 6200, 2, 1, 1, 0, 1};
  for (const DType dtype : types()) {
    const LinearWeight w = weight(shape, dtype);
    const std::vector<float> x = input(shape);
    EXPECT_EQ(convolved(x, shape, w), laid_out(x, shape, w)) << name(dtype);
    EXPECT_TRUE(launched("units_conv1d_" + suffix(dtype) + "_128"));
  }
}

// Few rows, and taps that are no whole units.
TEST_P(CudaConv1dTest, OtherWindowsAreLaidOut) {
  const std::vector<Shape> shapes = {{{20, 12}, 64, 20, 3, 1, 1, 1, 1},
                                     {{50}, 36, 20, 3, 1, 1, 1, 1},
                                     {{50}, 24, 20, 3, 1, 1, 1, 1}};
  for (const DType dtype : types()) {
    for (const Shape& shape : shapes) {
      const LinearWeight w = weight(shape, dtype);
      const std::vector<float> x = input(shape);
      EXPECT_EQ(convolved(x, shape, w), laid_out(x, shape, w))
          << name(dtype) << ", " << shape.channels << " channels";
      EXPECT_TRUE(launched("pack_windows_" + suffix(dtype)));
    }
  }
}

TEST_P(CudaConv1dTest, AnUtteranceHasTheSameBitsAloneAndAmongOthers) {
  const Shape together{{21, 34, 9}, 48, 40, 3, 1, 1, 1, 1};
  for (const DType dtype : types()) {
    const LinearWeight w = weight(together, dtype);
    const std::vector<float> x = input(together);
    const std::vector<float> all = convolved(x, together, w);
    const Lengths lengths{together.lengths};
    for (const Span& span : lengths.spans()) {
      Shape alone = together;
      alone.lengths = {span.length};
      const auto begin = x.begin() + span.begin * together.channels;
      const std::vector<float> own(begin, begin + span.length * together.channels);
      const std::vector<float> found = convolved(own, alone, w);
      EXPECT_TRUE(std::equal(found.begin(), found.end(), all.begin() + span.begin * together.out))
          << name(dtype) << ", " << span.length << " rows";
    }
  }
}

// Rows after the last tap stand where a window's elements are filled up to whole chunks: they are
// no part of it, and neither are the rows of a neighbour.
TEST_P(CudaConv1dTest, RowsThatAreNotFiniteSpoilOnlyTheWindowsThatSeeThem) {
  const Shape shape{{30, 25}, 40, 9, 3, 1, 1, 1, 1};
  const std::vector<int64_t> spoiled = {12, 29};
  for (const DType dtype : types()) {
    const LinearWeight w = weight(shape, dtype);
    std::vector<float> x = input(shape);
    const std::vector<float> good = convolved(x, shape, w);
    x[static_cast<size_t>(spoiled[0] * shape.channels + 7)] =
        std::numeric_limits<float>::quiet_NaN();
    x[static_cast<size_t>(spoiled[1] * shape.channels)] = std::numeric_limits<float>::infinity();
    const std::vector<float> found = convolved(x, shape, w);
    EXPECT_TRUE(launched("units_conv1d_" + suffix(dtype) + "_64"));
    for (size_t i = 0; i < found.size(); ++i) {
      const auto row = static_cast<int64_t>(i) / shape.out;
      const bool sees = std::ranges::any_of(
          spoiled, [&](int64_t at) { return std::abs(row - at) <= 1 && row < shape.lengths[0]; });
      if (sees) {
        EXPECT_FALSE(std::isfinite(found[i])) << name(dtype) << ", row " << row;
      } else {
        EXPECT_EQ(found[i], good[i]) << name(dtype) << ", row " << row;
      }
    }
  }
}

}  // namespace
}  // namespace mynah::cases
