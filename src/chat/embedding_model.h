// EmbeddingModel: what placement computes of a model that makes vectors of texts. It knows tokens
// and no words.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/tensor_file.h"
#include "speech/probe.h"
#include "tensor/backend.h"

namespace mynah {

struct EmbeddingFacts {
  std::string architecture;  // general.architecture: "bert"
  int64_t vocabulary = 0;    // tokens are in [0, vocabulary)
  int64_t longest = 0;       // tokens of a text, its marks counted
  int64_t width = 0;         // numbers of a vector
  bool normalized = false;   // vectors are as long as one

  bool operator==(const EmbeddingFacts&) const = default;
};

using TokenTexts = std::vector<std::vector<int32_t>>;

// Const after load. Calls come one at a time.
class EmbeddingModel {
 public:
  EmbeddingModel() = default;
  virtual ~EmbeddingModel() = default;
  EmbeddingModel(const EmbeddingModel&) = delete;
  EmbeddingModel& operator=(const EmbeddingModel&) = delete;

  [[nodiscard]] virtual const EmbeddingFacts& facts() const = 0;

  // The vectors of texts of 1 to EmbeddingFacts::longest tokens each, one behind the other, width
  // numbers a text: the same whatever texts are beside it. All of them are computed together, so
  // that whoever asks says how much that is. Device where the device fails.
  [[nodiscard]] virtual Result<std::vector<float>> embed(const TokenTexts& texts) const = 0;
};

// How an embedding model is opened.
struct EmbeddingLoadOptions {
  std::optional<DType> storage;           // of its weights; none: what is fast, or the file's own
  Precision precision = Precision::Fast;  // Exact: f32 arithmetic whatever the storage
  std::string cache_folder;               // for packed weights; empty: none
};

// Opens a GGUF file or a folder of sentence-transformers, as the GGUF file that would be made of
// it: words are read from it, too.
[[nodiscard]] Result<std::shared_ptr<const TensorFile>> open_embedding_file(
    const std::string& path);

// Loads it. Unsupported, and named, where mynah does not do what the model wants; InvalidInput for
// what is no such model.
[[nodiscard]] Result<std::shared_ptr<const EmbeddingModel>> load_embedding_model(
    const TensorFile& file, const EmbeddingLoadOptions& options, Backend& backend);

// A file or folder opened and loaded.
[[nodiscard]] Result<std::shared_ptr<const EmbeddingModel>> load_embedding_model(
    const std::string& path, const EmbeddingLoadOptions& options, Backend& backend);

// Whether load_embedding_model() would take it, as far as its head says. As that refuses.
[[nodiscard]] Status check_embedding_file(const std::string& path);

// Tokens that a probe computes.
inline constexpr int64_t kProbeTokens = 64;

// The vectors that the model makes of tokens that are always the same. Its "sound" is a second a
// token, so that times are milliseconds a token.
[[nodiscard]] Result<Probe> probe_embedding_model(const EmbeddingModel& model);

}  // namespace mynah
