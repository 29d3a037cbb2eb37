// Vectors of what a client sends: what OpenAI's interface and ollama's have alike.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "chat/embedder.h"
#include "server/http/exchange.h"
#include "server/http/fields.h"
#include "server/models/embedding_service.h"

namespace mynah::server {

// Texts of one request at most.
inline constexpr size_t kMostTexts = 10'000;

// Texts, or tokens of the model's own in place of them; one of the two is empty.
struct EmbeddedTexts {
  std::vector<std::string> texts;
  TokenTexts tokens;

  [[nodiscard]] size_t size() const { return texts.size() + tokens.size(); }
};

// A text, a list of texts, a list of tokens or a list of such lists: what OpenAI takes. Refused
// with the field's name.
std::expected<EmbeddedTexts, FieldError> read_texts(const nlohmann::ordered_json& value,
                                                    std::string_view field);

// The vectors of a request, and the tokens in sum that they were made of.
struct MadeVectors {
  std::vector<Embedding> vectors;
  int64_t tokens = 0;
  size_t cut = 0;  // texts that were longer than the model reads
};

// Makes them on the request's thread, and counts them. As Embedder::embed() refuses.
[[nodiscard]] Result<MadeVectors> make_vectors(const EmbeddingService::Opened& opened,
                                               EmbeddedTexts texts, const EmbeddingOptions& options,
                                               Exchange& exchange);

// Names the model, where it computes and how many texts were cut.
void name_embedding(const EmbeddingService::Opened& opened, const MadeVectors& made,
                    Response& response);

}  // namespace mynah::server
