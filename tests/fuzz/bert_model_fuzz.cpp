// GGUF files that say they are encoders: read, loaded, and asked for a text's vector.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/ref/ref_backend.h"
#include "base/check.h"
#include "formats/gguf.h"
#include "models/bert/model.h"
#include "text/tokenizer/text_tokenizer.h"

namespace mynah {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = read_gguf(MappedFile::from_bytes(std::as_bytes(std::span(data, size)), "fuzz"));
  if (!file) {
    return 0;
  }
  const auto config = bert::Config::read(*file);
  if (!config) {
    MYNAH_CHECK(!config.error().message.empty(), "an error without a message");
    return 0;
  }
  RefBackend backend;
  const auto model = bert::Model::load(
      *file, *config,
      {.backend = &backend, .storage = {}, .precision = Precision::Exact, .cache = nullptr});
  if (!model) {
    MYNAH_CHECK(!model.error().message.empty(), "an error without a message");
    return 0;
  }
  std::vector<int32_t> tokens = {0, static_cast<int32_t>(config->vocabulary - 1)};
  if (const auto tokenizer = create_text_tokenizer(*file);
      tokenizer && (*tokenizer)->size() <= config->vocabulary) {
    tokens = (*tokenizer)->encode_whole("the cat");
    tokens.resize(std::min(tokens.size(), static_cast<size_t>(config->longest)));
  }
  if (!tokens.empty()) {
    const Lengths texts = {std::ssize(tokens)};
    const auto vectors = (*model)->pool((*model)->forward(tokens, texts), texts);
    MYNAH_CHECK(std::ssize(vectors) == config->width, "a vector of another width");
  }
  return 0;
}

}  // namespace mynah
