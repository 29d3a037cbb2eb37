// ConvTranspose1d: loads by name, gives what its parts packed by hand give, and finds them again in
// a cache.
#include "nn/conv_transpose1d.h"

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/ref/ref_backend.h"

namespace mynah {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Keeps blobs in memory.
class MemoryCache : public BlobCache {
 public:
  [[nodiscard]] std::optional<Blob> find(std::string_view name) const override {
    const auto at = blobs_.find(name);
    if (at == blobs_.end()) {
      return std::nullopt;
    }
    return Blob{*at->second, at->second};
  }

  Status add(std::string_view name, std::span<const std::byte> bytes) override {
    blobs_.try_emplace(std::string(name),
                       std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end()));
    return {};
  }

  Status commit() override { return {}; }

  void release_pages() const override {}

  [[nodiscard]] size_t count() const { return blobs_.size(); }

 private:
  std::map<std::string, std::shared_ptr<const std::vector<std::byte>>, std::less<>> blobs_;
};

class ConvTranspose1dTest : public testing::Test {
 protected:
  static constexpr ConvTranspose1d::Sizes kSizes{
      .in = 2, .out = 1, .kernel = {.kernel = 4, .stride = 2, .padding = 1}};

  // A checkpoint of one layer, "ups.0".
  Weights weights(const WeightOptions& options) {
    return {{{.name = "ups.0.weight",
              .dtype = DType::F32,
              .shape = {2, 1, 4},
              .bytes = std::as_bytes(std::span(kernel_)),
              .row_scales = {}},
             {.name = "ups.0.bias",
              .dtype = DType::F32,
              .shape = {1},
              .bytes = std::as_bytes(std::span(bias_)),
              .row_scales = {}}},
            nullptr,
            backend_,
            options};
  }

  std::vector<float> run(const ConvTranspose1d& conv, Activation activation = Activation::None) {
    const Tensor x = ops::from_host(backend_, x_, {3, 2});
    return ops::to_host(backend_, conv(x, {2, 1}, {.activation = activation}));
  }

  RefBackend backend_;
  std::vector<float> kernel_ = {1, 10, 100, 1000, -1, -2, -3, -4};
  std::vector<float> bias_ = {0.5F};
  std::vector<float> x_ = {1, 0, 2, 1, 0, 1};  // an utterance of two rows, and one of one
};

TEST_F(ConvTranspose1dTest, LoadsAKernelAndABiasByName) {
  const Result<ConvTranspose1d> conv = ConvTranspose1d::load(weights({}) / "ups" / 0, kSizes);
  ASSERT_TRUE(conv) << conv.error().message;
  // Row 1 is (2, 1): its kernel is 2 20 200 2000 less 1 2 3 4, two rows on.
  EXPECT_THAT(run(*conv), ElementsAre(10.5F, 101.5F, 1018.5F, 197.5F, -1.5F, -2.5F));
  EXPECT_THAT(run(*conv, Activation::Relu), ElementsAre(10.5F, 101.5F, 1018.5F, 197.5F, 0, 0));
  EXPECT_EQ(conv->out_lengths({2, 1})[1], (Span{4, 2}));
}

TEST_F(ConvTranspose1dTest, PartsComeFromTheCacheTheNextTime) {
  MemoryCache cache;
  for (const DType storage : {DType::F16, DType::I8}) {
    const WeightOptions options{.storage = storage, .cache = &cache};
    const Result<ConvTranspose1d> fresh = ConvTranspose1d::load(weights(options) / "ups.0", kSizes);
    ASSERT_TRUE(fresh);
    const std::vector<float> wanted = run(*fresh);
    kernel_.assign(kernel_.size(), 0.0F);  // no longer looked at
    const Result<ConvTranspose1d> cached =
        ConvTranspose1d::load(weights(options) / "ups.0", kSizes);
    ASSERT_TRUE(cached);
    EXPECT_EQ(run(*cached), wanted);
    EXPECT_NE(wanted[0], 0.5F);
    kernel_ = {1, 10, 100, 1000, -1, -2, -3, -4};
  }
  EXPECT_EQ(cache.count(), 4U);  // two parts of either type
}

TEST_F(ConvTranspose1dTest, RefusesSizesWhoseResultHasAnotherLength) {
  ConvTranspose1d::Sizes sizes = kSizes;
  sizes.kernel.padding = 0;
  const Result<ConvTranspose1d> conv = ConvTranspose1d::load(weights({}) / "ups.0", sizes);
  ASSERT_FALSE(conv);
  EXPECT_EQ(conv.error().code, ErrorCode::Unsupported);
  EXPECT_THAT(conv.error().message,
              HasSubstr("ups.0.weight: wanted a transposed convolution whose result is stride "
                        "times as long as its input, found kernel 4 stride 2 padding 0+0 groups 1 "
                        "of 2 to 1 channels"));
  sizes = kSizes;
  sizes.in = 3;
  EXPECT_FALSE(ConvTranspose1d::load(weights({}) / "ups.0", sizes));
}

}  // namespace
}  // namespace mynah
