// Durations on the real weights: those of ONNX Runtime (tools/kokoro_oracle.py), frame by frame.
#include "models/kokoro/durations.h"

#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "backend/cpu/cpu_backend.h"
#include "base/mapped_file.h"
#include "base/thread_pool.h"
#include "formats/pytorch.h"
#include "models/kokoro/albert.h"
#include "models/kokoro/real_file.h"
#include "nn/linear.h"
#include "test_paths.h"

namespace mynah::kokoro {
namespace {

// A voice's styles, one for each number of phonemes: (510, 256), the acoustic half first.
std::vector<float> voice_pack(const std::string& path) {
  const auto file = MappedFile::open(path);
  EXPECT_TRUE(file.has_value());
  const auto pack = read_pytorch(*file);
  EXPECT_TRUE(pack.has_value()) << pack.error().message;
  const StoredTensor& styles = pack->tensors.front();
  EXPECT_EQ(styles.shape, (Shape{510, 1, 2 * kStyle}));
  std::vector<float> values(styles.bytes.size() / sizeof(float));
  std::memcpy(values.data(), styles.bytes.data(), styles.bytes.size());
  return values;
}

// None: as the file has them, which is how every setting of Kokoro computes them.
class KokoroDurations : public testing::TestWithParam<std::optional<DType>> {};

TEST_P(KokoroDurations, AreThoseOfOnnxRuntime) {
  MYNAH_SKIP_WITHOUT(real_file());
  MYNAH_SKIP_WITHOUT(test::shared_path("weights/kokoro-voices/af_heart.pt"));
  ThreadPool pool(2);
  const auto backend = make_cpu_backend(pool);
  ASSERT_TRUE(backend.has_value());
  auto stored = read_real_file();
  ASSERT_TRUE(stored.has_value()) << stored.error().message;
  const Weights w(std::move(stored->tensors), stored->owner, **backend,
                  {.storage = GetParam(), .precision = Precision::Exact});
  const auto albert = Albert::load(w / "bert", kVocabulary);
  ASSERT_TRUE(albert.has_value()) << albert.error().message;
  const auto narrow = Linear::load(w / "bert_encoder", {.in = Albert::kWidth, .out = kHidden});
  ASSERT_TRUE(narrow.has_value()) << narrow.error().message;
  const auto predictor = DurationPredictor::load(w / "predictor");
  ASSERT_TRUE(predictor.has_value()) << predictor.error().message;

  std::ifstream in(test::source_path("tests/models/kokoro/durations.json"));
  const auto rows = nlohmann::json::parse(in);
  ASSERT_EQ(rows.size(), 20U);
  std::map<std::string, std::vector<float>> voices;
  for (const auto& row : rows) {
    const auto phonemes = row["ids"].get<std::vector<int32_t>>();
    std::vector<int32_t> ids{0};
    ids.insert(ids.end(), phonemes.begin(), phonemes.end());
    ids.push_back(0);
    const Tensor x = (*narrow)((*albert)(ids, {static_cast<int64_t>(ids.size())}));
    for (const auto& [voice, frames] : row["frames"].items()) {
      if (!voices.contains(voice)) {
        voices[voice] = voice_pack(test::shared_path("weights/kokoro-voices/" + voice + ".pt"));
      }
      const auto style = std::span<const float>(voices[voice])
                             .subspan((phonemes.size() - 1) * 2 * kStyle + kStyle, kStyle);
      const Prosody prosody = (*predictor)(x, ops::from_host(**backend, style, {1, kStyle}), 1.0F);
      EXPECT_EQ(prosody.frames, frames.get<std::vector<int32_t>>())
          << voice << ": " << row["phonemes"].get<std::string>();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Storage, KokoroDurations,
                         testing::Values(std::optional<DType>(), std::optional(DType::F32)),
                         [](const auto& storage) {
                           return storage.param ? std::string(name(*storage.param))
                                                : std::string("as_stored");
                         });

}  // namespace
}  // namespace mynah::kokoro
