// Embedder: an embedding model as people and programs use it: texts in, vectors out.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/embedding_model.h"
#include "text/tokenizer/text_tokenizer.h"

namespace mynah {

// What a text became.
struct Embedding {
  std::vector<float> vector;
  int64_t tokens = 0;    // that it was read as, its marks counted
  int64_t left_out = 0;  // that it has beyond what the model reads
};

struct EmbeddingOptions {
  // Of a text that is longer than the model reads its beginning is taken, as sentence-transformers
  // does it; else it is refused.
  bool cuts = true;
  // The first numbers of a vector, made as long as one again where the model's are (Kusupati et al.
  // 2022, arXiv:2205.13147); 0: all.
  int64_t dimensions = 0;
};

// Any number of threads may use it: batches are computed in turn, in the order in which they came.
class Embedder {
 public:
  // `file`: open_embedding_file() of what the model was loaded from, for its words.
  static Result<std::unique_ptr<Embedder>> open(const TensorFile& file,
                                                std::shared_ptr<const EmbeddingModel> model);

  [[nodiscard]] const EmbeddingFacts& facts() const { return model_->facts(); }

  // A text's tokens as the model reads it, its marks around it, however many they are.
  [[nodiscard]] std::vector<int32_t> tokens(std::string_view text) const {
    return tokenizer_->encode_whole(text);
  }

  // A vector a text, in their order. InvalidInput where a text is too long and may not be cut, and
  // for dimensions that the model does not have. Cancelled once stop is requested, and what the
  // device says.
  [[nodiscard]] Result<std::vector<Embedding>> embed(std::span<const std::string> texts,
                                                     const EmbeddingOptions& options,
                                                     const std::stop_token& stop) const;

  // The same of texts that are tokens already, the model's own, with or without its marks around
  // them, which are added. InvalidInput too for a number that is no token.
  [[nodiscard]] Result<std::vector<Embedding>> embed_tokens(TokenTexts texts,
                                                            const EmbeddingOptions& options,
                                                            const std::stop_token& stop) const;

  // Has it make a vector, as a first request would.
  [[nodiscard]] Status warm_up() const;

 private:
  // Computes one batch after another, each once all that came before it are done.
  class Turns {
   public:
    // False: stop was requested before it was its turn.
    bool begin(const std::stop_token& stop);
    void end();

   private:
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<uint64_t> waiting_;  // the first one computes
    uint64_t next_ = 0;
  };

  Embedder(std::unique_ptr<TextTokenizer> tokenizer, std::shared_ptr<const EmbeddingModel> model)
      : tokenizer_(std::move(tokenizer)), model_(std::move(model)) {}

  // Cut to what the model reads, its last mark kept.
  [[nodiscard]] Result<Embedding> cut(std::vector<int32_t>& text, size_t number,
                                      const EmbeddingOptions& options) const;
  [[nodiscard]] Result<std::vector<Embedding>> run(TokenTexts texts,
                                                   const EmbeddingOptions& options,
                                                   const std::stop_token& stop) const;
  [[nodiscard]] Result<std::vector<float>> compute(const TokenTexts& batch,
                                                   const std::stop_token& stop) const;

  std::unique_ptr<TextTokenizer> tokenizer_;
  std::shared_ptr<const EmbeddingModel> model_;
  mutable Turns turns_;
};

}  // namespace mynah
