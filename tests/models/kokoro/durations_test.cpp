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

struct Setting {
  std::string name;
  std::optional<DType> storage;  // none: as the file has them
  Precision precision = Precision::Exact;
};

class KokoroDurations : public testing::TestWithParam<Setting> {};

TEST_P(KokoroDurations, AreThoseOfOnnxRuntime) {
  MYNAH_SKIP_WITHOUT(real_file());
  MYNAH_SKIP_WITHOUT(test::shared_path("weights/kokoro-voices/af_heart.pt"));
  ThreadPool pool(2);
  const auto backend = make_cpu_backend(pool);
  ASSERT_TRUE(backend.has_value());
  auto stored = read_real_file();
  ASSERT_TRUE(stored.has_value()) << stored.error().message;
  const Weights w(std::move(stored->tensors), stored->owner, **backend,
                  {.storage = GetParam().storage, .precision = GetParam().precision});
  const auto albert = Albert::load(w / "bert", Sizes{});
  ASSERT_TRUE(albert.has_value()) << albert.error().message;
  const auto narrow =
      Linear::load(w / "bert_encoder", {.in = Sizes{}.width, .out = Sizes{}.hidden});
  ASSERT_TRUE(narrow.has_value()) << narrow.error().message;
  const auto predictor = DurationPredictor::load(w / "predictor", Sizes{});
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

// "close" is how Kokoro computes them where the rest is Fast.
INSTANTIATE_TEST_SUITE_P(
    Settings, KokoroDurations,
    testing::Values(Setting{.name = "as_stored", .storage = {}},
                    Setting{.name = "close", .storage = {}, .precision = Precision::Close},
                    Setting{.name = "f32", .storage = DType::F32}),
    [](const auto& setting) { return setting.param.name; });

}  // namespace
}  // namespace mynah::kokoro
