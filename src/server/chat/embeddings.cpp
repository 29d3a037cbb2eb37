#include "server/chat/embeddings.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "chat/vector_text.h"
#include "server/chat/embed_texts.h"
#include "server/http/errors.h"
#include "store/base64.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMostDimensions = 1 << 16;

constexpr std::array<Field, 6> kEmbeddingFields = {
    {{.name = "input",
      .type = FieldType::Any,
      .help = "A text, a list of texts, or lists of the model's own tokens in place of them.",
      .wanted = true},
     {.name = "model",
      .help = "A model that is here and makes vectors; one of OpenAI's, or none: the default."},
     {.name = "encoding_format",
      .help = "Lists of numbers, or their bytes: 32-bit, little-endian.",
      .choices = "float base64"},
     {.name = "dimensions",
      .type = FieldType::Whole,
      .help = "The first so many numbers of each vector, for models that were trained for that.",
      .least = 1,
      .most = kMostDimensions},
     {.name = "truncate",
      .type = FieldType::Flag,
      .help = "False: a text that is longer than the model reads is refused; else its beginning is "
              "taken, and left_out says how many tokens were not."},
     {.name = "user", .help = "Ignored.", .ignored = true}}};

// One line, written by hand: a vector's numbers are most of it.
std::string answer_of(const MadeVectors& made, const std::string& model, bool as_bytes) {
  std::string body = R"({"object":"list","data":[)";
  for (size_t i = 0; i < made.vectors.size(); ++i) {
    const Embedding& one = made.vectors[i];
    body +=
        fmt::format(R"({}{{"object":"embedding","index":{},"embedding":)", i == 0 ? "" : ",", i);
    body += as_bytes ? fmt::format("\"{}\"", base64(std::as_bytes(std::span(one.vector))))
                     : vector_json(one.vector);
    body += one.left_out > 0 ? fmt::format(R"(,"left_out":{}}})", one.left_out) : "}";
  }
  const Json usage = {{"prompt_tokens", made.tokens}, {"total_tokens", made.tokens}};
  return fmt::format("{}],\"model\":{},\"usage\":{}}}\n", body, json_text(model), json_text(usage));
}

void embed(Service& service, Exchange& exchange) {
  const auto values = FieldValues::of_json(kEmbeddingFields, exchange.json());
  auto texts = values ? read_texts(*values->find("input"), "input")
                      : std::expected<EmbeddedTexts, FieldError>(std::unexpected(values.error()));
  if (!texts) {
    exchange.answer(openai_error(texts.error().error, texts.error().field));
    return;
  }
  const auto opened = service.embeddings().open(values->text("model"));
  if (!opened) {
    const bool missing = opened.error().code == ErrorCode::NotFound;
    exchange.answer(openai_error(opened.error(), "model", missing ? "model_not_found" : ""));
    return;
  }
  const EmbeddingOptions options{
      .cuts = values->flag("truncate", true),
      .dimensions = static_cast<int64_t>(values->number("dimensions", 0))};
  const auto made = make_vectors(*opened, *std::move(texts), options, exchange);
  if (!made) {
    const bool of_dimensions = options.dimensions > opened->embedder().facts().width;
    exchange.answer(openai_error(made.error(), of_dimensions ? "dimensions" : "input"));
    return;
  }
  Response answer;
  name_embedding(*opened, *made, answer);
  answer.body = answer_of(*made, opened->name, values->text("encoding_format") == "base64");
  exchange.answer(std::move(answer));
}

}  // namespace

Route embeddings_route(Service& service) {
  return {.method = "POST",
          .path = "/v1/embeddings",
          .help = "Vectors of texts, as OpenAI's API has it.",
          .handler = [&service](Exchange& exchange) { embed(service, exchange); },
          .accepts = Accepts::Text,
          .rights = {Right::Think},
          .fields = kEmbeddingFields};
}

}  // namespace mynah::server
