// Silero's loader and arithmetic on made-up weights: what needs no file from elsewhere.
#include <algorithm>
#include <cmath>
#include <limits>
#include <list>
#include <numbers>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/cuda/cuda_backend.h"
#include "backend/ref/ref_backend.h"
#include "base/thread_pool.h"
#include "models/silero/silero.h"
#include "models/silero/silero_weights.h"
#include "ops/ops.h"

namespace mynah {
namespace {

using testing::HasSubstr;

// A safetensors file of the 16 kHz network as its reader would return it.
class MadeUpFile {
 public:
  MadeUpFile() {
    file_.path = "made-up";
    add("stft_conv.weight", {258, 1, 256}, fourier_basis());
    add("conv1.weight", {128, 129, 3});
    add("conv1.bias", {128});
    add("conv2.weight", {64, 128, 3});
    add("conv2.bias", {64});
    add("conv3.weight", {64, 64, 3});
    add("conv3.bias", {64});
    add("conv4.weight", {128, 64, 3});
    add("conv4.bias", {128});
    add("lstm_cell.weight_ih", {512, 128});
    add("lstm_cell.weight_hh", {512, 128});
    add("lstm_cell.bias_ih", {512});
    add("lstm_cell.bias_hh", {512});
    add("final_conv.weight", {1, 128, 1});
    add("final_conv.bias", {1});
  }

  [[nodiscard]] const TensorFile& file() const { return file_; }

  [[nodiscard]] StoredTensor& tensor(const std::string& name) {
    return *std::ranges::find(file_.tensors, name, &StoredTensor::name);
  }

  // The values behind a tensor.
  [[nodiscard]] std::vector<float>& values(const std::string& name) {
    const auto index = &tensor(name) - file_.tensors.data();
    return *std::next(values_.begin(), index);
  }

  void remove(const std::string& name) {
    std::erase_if(file_.tensors, [&](const StoredTensor& tensor) { return tensor.name == name; });
  }

 private:
  static std::vector<float> fourier_basis() {
    std::vector<float> basis(size_t{258} * 256);
    for (size_t row = 0; row < 258; ++row) {
      for (size_t n = 0; n <= 128; ++n) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(n) / 256;
        const double window = 0.5 - 0.5 * std::cos(angle);
        const double turn = angle * static_cast<double>(row % 129);
        const auto value =
            static_cast<float>(window * (row < 129 ? std::cos(turn) : -std::sin(turn)));
        basis[row * 256 + n] = value;
        if (n > 0 && n < 128) {
          basis[row * 256 + 256 - n] = row < 129 ? value : -value;
        }
      }
    }
    return basis;
  }

  void add(const std::string& name, const Shape& shape) {
    // Small enough that no sum of a few hundred products grows without bound.
    std::vector<float> values;
    for (int64_t i = 0; i < shape.elements(); ++i) {
      state_ = state_ * 1664525U + 1013904223U;
      values.push_back((static_cast<float>(state_ >> 16U) / 65536.0F - 0.5F) * 0.2F);
    }
    add(name, shape, std::move(values));
  }

  void add(const std::string& name, const Shape& shape, std::vector<float> values) {
    values_.push_back(std::move(values));
    StoredTensor tensor;
    tensor.name = name;
    tensor.shape = shape;
    tensor.bytes = std::as_bytes(std::span(values_.back()));
    file_.tensors.push_back(tensor);
  }

  TensorFile file_;
  std::list<std::vector<float>> values_;  // in the order of the tensors
  uint32_t state_ = 1;
};

// Probabilities of `frames` frames of a chirp.
std::vector<float> run(const TensorFile& file, Backend& backend, int64_t frames) {
  auto network = Silero::load(file, 16000, backend);
  EXPECT_TRUE(network) << network.error().message;
  std::vector<float> window(576);
  std::vector<float> columns;
  for (int64_t frame = 0; frame < frames; ++frame) {
    for (size_t i = 0; i < window.size(); ++i) {
      const double t = static_cast<double>(frame) * 512 + static_cast<double>(i);
      window[i] = static_cast<float>(0.3 * std::sin(0.01 * t + 1e-5 * t * t));
    }
    columns.resize(columns.size() + 1024);
    cut_silero_columns(window, network->geometry(), std::span(columns).last(1024));
  }
  const Tensor x = ops::from_host(backend, columns, {frames * kSileroColumns, 256});
  return ops::to_host(backend, network->forward(x, Lengths{frames}, network->initial_state(1)));
}

TEST(SileroNetwork, computes_on_the_cpu_what_the_reference_backend_defines) {
  const MadeUpFile made_up;
  RefBackend ref;
  ThreadPool pool(2);
  const std::unique_ptr<Backend> cpu = *make_cpu_backend(pool);
  const std::vector<float> expected = run(made_up.file(), ref, 40);
  const std::vector<float> found = run(made_up.file(), *cpu, 40);
  ASSERT_EQ(found.size(), expected.size());
  // The bound for the real weights, whose sums are larger than these.
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-4) << i;
  }
  EXPECT_NE(expected.front(), expected.back());
}

TEST(SileroNetwork, computes_on_a_simulated_card_what_the_reference_backend_defines) {
  const MadeUpFile made_up;
  RefBackend ref;
  ThreadPool pool(2);
  const std::vector<float> expected = run(made_up.file(), ref, 10);
  for (const int level : simt_levels()) {
    const std::unique_ptr<Backend> card = make_simt_backend(pool, {.level = level, .seed = 1});
    const std::vector<float> found = run(made_up.file(), *card, 10);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i], 1e-4) << i << ", level " << level;
    }
  }
}

TEST(SileroNetwork, takes_any_basis_as_it_is_where_it_is_not_fouriers) {
  MadeUpFile made_up;
  const SileroGeometry geometry = *SileroGeometry::at_rate(16000);
  EXPECT_TRUE(is_fourier_basis(made_up.values("stft_conv.weight"), geometry));
  // As f16 would round it.
  for (float& value : made_up.values("stft_conv.weight")) {
    value = std::round(value * 2048) / 2048;
  }
  EXPECT_FALSE(is_fourier_basis(made_up.values("stft_conv.weight"), geometry));
  RefBackend ref;
  ThreadPool pool(2);
  const std::unique_ptr<Backend> cpu = *make_cpu_backend(pool);
  const std::vector<float> expected = run(made_up.file(), ref, 10);
  const std::vector<float> found = run(made_up.file(), *cpu, 10);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-4) << i;
  }
}

TEST(SileroNetwork, cuts_columns_that_overlap_by_half_and_reflects_the_last) {
  const SileroGeometry geometry = *SileroGeometry::at_rate(8000);
  std::vector<float> window(static_cast<size_t>(geometry.window()));
  for (size_t i = 0; i < window.size(); ++i) {
    window[i] = static_cast<float>(i);
  }
  std::vector<float> columns(static_cast<size_t>(kSileroColumns * geometry.n_fft));
  cut_silero_columns(window, geometry, columns);
  EXPECT_EQ(columns[0], 0);
  EXPECT_EQ(columns[128], 64);
  EXPECT_EQ(columns[2 * 128 - 1], 191);
  // The fourth: samples 192 to 287, then 286 down to 255.
  EXPECT_EQ(columns[3 * 128], 192);
  EXPECT_EQ(columns[3 * 128 + 95], 287);
  EXPECT_EQ(columns[3 * 128 + 96], 286);
  EXPECT_EQ(columns[4 * 128 - 1], 255);
}

class SileroLoader : public testing::Test {
 protected:
  Error load_error() {
    RefBackend backend;
    const auto network = Silero::load(made_up_.file(), 16000, backend);
    EXPECT_FALSE(network);
    return network ? Error{} : network.error();
  }

  MadeUpFile made_up_;
};

TEST_F(SileroLoader, names_the_tensor_that_is_missing) {
  made_up_.remove("conv3.bias");
  const Error error = load_error();
  EXPECT_EQ(error.code, ErrorCode::InvalidInput);
  EXPECT_THAT(error.message, HasSubstr("made-up: conv3.bias: wanted a tensor (64), found none"));
}

TEST_F(SileroLoader, names_the_shape_that_is_wrong) {
  made_up_.tensor("lstm_cell.bias_hh").shape = {256, 2};
  EXPECT_THAT(load_error().message,
              HasSubstr("lstm_cell.bias_hh: wanted shape (512), found (256, 2)"));
}

TEST_F(SileroLoader, refuses_values_that_are_not_finite) {
  made_up_.values("conv2.weight")[77] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(load_error().message, HasSubstr("conv2.weight: holds values that are not finite"));
}

TEST_F(SileroLoader, says_that_a_file_is_another_model) {
  made_up_.remove("stft_conv.weight");
  EXPECT_THAT(load_error().message, HasSubstr("wanted a Silero voice activity model"));
}

}  // namespace
}  // namespace mynah
