#include "server/chat/embed_texts.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "server/http/request_work.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

bool is_token_list(const Json& value) {
  return value.is_array() && !value.empty() &&
         std::ranges::all_of(value, [](const Json& one) { return one.is_number_integer(); });
}

// What is no token of any model becomes -1, which no model has.
std::vector<int32_t> tokens_of(const Json& list) {
  std::vector<int32_t> tokens;
  tokens.reserve(list.size());
  for (const Json& one : list) {
    const bool fits =
        one.is_number_unsigned() &&
        one.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int32_t>::max());
    tokens.push_back(fits ? one.get<int32_t>() : -1);
  }
  return tokens;
}

}  // namespace

std::expected<EmbeddedTexts, FieldError> read_texts(const Json& value, std::string_view field) {
  EmbeddedTexts read;
  if (value.is_string()) {
    read.texts.push_back(value.get<std::string>());
    return read;
  }
  if (is_token_list(value)) {
    read.tokens.push_back(tokens_of(value));
    return read;
  }
  const bool is_list = value.is_array() && !value.empty();
  if (is_list && value.size() > kMostTexts) {
    return wrong_field(field, fmt::format("{}: wanted {} texts at most, found {}", field,
                                          kMostTexts, value.size()));
  }
  for (const Json& one : is_list ? value : Json::array()) {
    if (one.is_string() && read.tokens.empty()) {
      read.texts.push_back(one.get<std::string>());
    } else if (is_token_list(one) && read.texts.empty()) {
      read.tokens.push_back(tokens_of(one));
    } else {
      return wrong_field(field, fmt::format("{}[{}]: wanted a text, or a list of tokens where all "
                                            "are such, found {}",
                                            field, read.size(), shortened(one)));
    }
  }
  if (read.size() == 0) {
    return wrong_field(field, fmt::format("{}: wanted a text, a list of texts or a list of tokens, "
                                          "found {}",
                                          field, shortened(value)));
  }
  return read;
}

Result<MadeVectors> make_vectors(const EmbeddingService::Opened& opened, EmbeddedTexts texts,
                                 const EmbeddingOptions& options, Exchange& exchange) {
  if (const auto work = RequestWork::here()) {
    work->begin();
  }
  const Embedder& embedder = opened.embedder();
  MadeVectors made;
  if (texts.tokens.empty()) {
    MYNAH_TRY(made.vectors, embedder.embed(texts.texts, options, exchange.stop()));
  } else {
    MYNAH_TRY(made.vectors,
              embedder.embed_tokens(std::move(texts.tokens), options, exchange.stop()));
  }
  for (const Embedding& one : made.vectors) {
    made.tokens += one.tokens;
    made.cut += one.left_out > 0 ? 1 : 0;
  }
  opened.metrics->count_embedded(made.tokens);
  return made;
}

void name_embedding(const EmbeddingService::Opened& opened, const MadeVectors& made,
                    Response& response) {
  response.headers.set("X-Mynah-Model", opened.name);
  response.headers.set("X-Mynah-Device", "embed=" + opened.lease->device());
  if (made.cut > 0) {
    response.headers.set("X-Mynah-Cut", std::to_string(made.cut));
  }
}

}  // namespace mynah::server
