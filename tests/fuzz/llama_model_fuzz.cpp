// GGUF files that say they are language models: read, loaded and asked for what follows two tokens.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "backend/ref/ref_backend.h"
#include "base/check.h"
#include "formats/gguf.h"
#include "models/llama/model.h"

namespace mynah {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = read_gguf(MappedFile::from_bytes(std::as_bytes(std::span(data, size)), "fuzz"));
  if (!file) {
    return 0;
  }
  const auto config = llama::Config::read(*file);
  if (!config) {
    MYNAH_CHECK(!config.error().message.empty(), "an error without a message");
    return 0;
  }
  RefBackend backend;
  const auto model = llama::Model::load(
      *file, *config,
      {.backend = &backend, .storage = {}, .precision = Precision::Exact, .cache = nullptr});
  if (!model) {
    MYNAH_CHECK(!model.error().message.empty(), "an error without a message");
    return 0;
  }
  KvCache cache = (*model)->new_cache(1, 2);
  const std::array<int32_t, 2> tokens = {0, static_cast<int32_t>(config->vocabulary - 1)};
  const Lane lane{.sequence = cache.add(), .count = 2};
  const Tensor logits = (*model)->logits((*model)->forward(tokens, {&lane, 1}, cache));
  MYNAH_CHECK(logits.dim(0) == 2 && logits.dim(1) == config->vocabulary, "logits of another shape");
  return 0;
}

}  // namespace mynah
