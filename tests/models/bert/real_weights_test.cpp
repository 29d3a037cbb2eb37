// all-MiniLM-L6-v2 with its real weights, against its equations in double precision, which agree
// with ONNX Runtime's (tools/bert_oracle.py real).
#include <algorithm>
#include <memory>
#include <numeric>

#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "models/bert/checkpoint.h"
#include "models/bert/golden.h"
#include "models/bert/model.h"
#include "text/tokenizer/text_tokenizer.h"

namespace mynah::bert {
namespace {

struct Kept {
  DType storage;
  Precision precision;
  double most;  // that a cosine may be off
};

class RealBert : public testing::TestWithParam<Kept> {};

TEST_P(RealBert, MakesTheVectorsOfSentenceTransformers) {
  const std::string path = test::weights_path("minilm");
  MYNAH_SKIP_WITHOUT(path);
  ThreadPool pool(2);
  const auto backend = make_cpu_backend(pool);
  ASSERT_TRUE(backend.has_value()) << backend.error().message;
  if (!(*backend)->supports_weight(GetParam().storage)) {
    GTEST_SKIP() << "no " << name(GetParam().storage) << " weights on this processor";
  }
  const auto file = open_checkpoint(path);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const auto config = Config::read(*file);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  const auto model = Model::load(*file, *config,
                                 {.backend = backend->get(),
                                  .storage = GetParam().storage,
                                  .precision = GetParam().precision});
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const auto tokenizer = create_text_tokenizer(*file);
  ASSERT_TRUE(tokenizer.has_value()) << tokenizer.error().message;

  const GoldenTexts golden("minilm.npz");
  ASSERT_GE(golden.count(), 19U);
  std::vector<int32_t> tokens;
  Lengths texts;
  for (size_t i = 0; i < golden.count(); ++i) {
    std::vector<int32_t> own = (*tokenizer)->encode_whole(golden.text(i));
    if (std::ssize(own) > config->longest) {
      own.resize(static_cast<size_t>(config->longest));
      own.back() = *(*tokenizer)->special().eos;
    }
    ASSERT_EQ(own, golden.tokens(i)) << golden.text(i);
    tokens.insert(tokens.end(), own.begin(), own.end());
    texts.add(std::ssize(own));
  }
  const std::vector<float> vectors = (*model)->pool((*model)->forward(tokens, texts), texts);
  for (size_t i = 0; i < golden.count(); ++i) {
    const std::vector<float> wanted = golden.vector(i);
    const double cosine =
        std::inner_product(wanted.begin(), wanted.end(),
                           vectors.begin() + static_cast<int64_t>(i) * config->width, 0.0);
    EXPECT_NEAR(cosine, 1, GetParam().most) << golden.text(i);
  }
}

std::string storage_name(const testing::TestParamInfo<Kept>& info) {
  return std::string(name(info.param.storage));
}

// A cosine falls by half the square of a vector's error, which f32 keeps below 1e-4 of its length.
// In int16 each of 24 products is some 5e-4 off, half a step of 1/8191 of a row's largest number
// and of 1/700 of a mean weight: 2.5e-3 of a vector's length if they are independent, twice that at
// most. What is asked for is 1e-4.
INSTANTIATE_TEST_SUITE_P(, RealBert,
                         testing::Values(Kept{DType::F32, Precision::Exact, 1e-6},
                                         Kept{DType::I16, Precision::Fast, 1.3e-5}),
                         storage_name);

}  // namespace
}  // namespace mynah::bert
