// POST /api/embed and the older /api/embeddings: vectors as ollama has them (its docs/api.md,
// "Generate Embeddings").
#include <array>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "chat/vector_text.h"
#include "server/chat/embed_texts.h"
#include "server/compat/ollama.h"
#include "server/http/request_work.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr Field kVectorModel = {
    .name = "model",
    .help = "A model that is here and makes vectors, with or without a tag.",
    .wanted = true};
constexpr Field kEmbedOptions = {.name = "options",
                                 .type = FieldType::Any,
                                 .help = "Ignored: nothing of how vectors are made can be chosen.",
                                 .ignored = true};

constexpr std::array<Field, 5> kEmbedFields = {
    {kVectorModel,
     {.name = "input",
      .type = FieldType::Any,
      .help = "A text, or a list of texts; none: the model is opened, or let go."},
     {.name = "truncate",
      .type = FieldType::Flag,
      .help = "False: a text that is longer than the model reads is refused; else its beginning is "
              "taken."},
     {.name = "dimensions",
      .type = FieldType::Whole,
      .help = "The first so many numbers of each vector.",
      .least = 1,
      .most = 1 << 16},
     kEmbedOptions}};

constexpr std::array<Field, 3> kOldFields = {
    {kVectorModel, {.name = "prompt", .help = "The text."}, kEmbedOptions}};

int64_t ns_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count();
}

// The whole of /api/embed's answer.
std::string embed_answer(const std::string& model, const MadeVectors& made, Clock::time_point begun,
                         Clock::time_point opened) {
  std::string vectors;
  for (const Embedding& one : made.vectors) {
    vectors += (vectors.empty() ? "" : ",") + vector_json(one.vector);
  }
  return fmt::format(
      "{{\"model\":{},\"embeddings\":[{}],\"total_duration\":{},\"load_duration\":{},"
      "\"prompt_eval_count\":{}}}\n",
      json_text(model), vectors, ns_between(begun, Clock::now()), ns_between(begun, opened),
      made.tokens);
}

// Nothing is to be made: the request lets go of a model, or has it opened, which was done.
bool lets_go() {
  const auto work = RequestWork::here();
  return work != nullptr && work->kept() && work->kept()->idle && work->kept()->idle->count() == 0;
}

void let_go(Service& service, const std::string& name) {
  if (const auto model = service.embeddings().model(name); model && lets_go()) {
    static_cast<void>(service.engine().unload(model->path));
  }
}

void embed_as_ollama(Service& service, Exchange& exchange) {
  const auto begun = Clock::now();
  const auto values = FieldValues::of_json(kEmbedFields, exchange.json());
  if (!values) {
    exchange.answer(ollama_error(values.error().error));
    return;
  }
  const std::string name = values->text("model");
  const Json* const input = values->find("input");
  const bool is_empty = input == nullptr || (input->is_array() && input->empty());
  auto texts = is_empty ? EmbeddedTexts() : read_texts(*input, "input");
  if (!texts) {
    exchange.answer(ollama_error(texts.error().error));
    return;
  }
  MadeVectors made;
  Response answer;
  auto open_at = begun;
  if (!is_empty || !lets_go()) {
    const auto opened = service.embeddings().open(name);
    if (!opened) {
      exchange.answer(ollama_opening_error(name, service.embeddings().model(name), opened.error()));
      return;
    }
    open_at = Clock::now();
    if (!is_empty) {
      auto vectors =
          make_vectors(*opened, *std::move(texts),
                       {.cuts = values->flag("truncate", true),
                        .dimensions = static_cast<int64_t>(values->number("dimensions", 0))},
                       exchange);
      if (!vectors) {
        exchange.answer(ollama_error(vectors.error()));
        return;
      }
      made = *std::move(vectors);
    }
    name_embedding(*opened, made, answer);
  } else {
    let_go(service, name);
  }
  answer.body = embed_answer(name, made, begun, open_at);
  exchange.answer(std::move(answer));
}

void embed_as_older(Service& service, Exchange& exchange) {
  const auto values = FieldValues::of_json(kOldFields, exchange.json());
  if (!values) {
    exchange.answer(ollama_error(values.error().error));
    return;
  }
  const std::string name = values->text("model");
  const auto opened = service.embeddings().open(name);
  if (!opened) {
    exchange.answer(ollama_opening_error(name, service.embeddings().model(name), opened.error()));
    return;
  }
  MadeVectors made;
  if (values->has("prompt")) {
    auto vectors =
        make_vectors(*opened, {.texts = {values->text("prompt")}, .tokens = {}}, {}, exchange);
    if (!vectors) {
      exchange.answer(ollama_error(vectors.error()));
      return;
    }
    made = *std::move(vectors);
  }
  Response answer;
  name_embedding(*opened, made, answer);
  answer.body = fmt::format("{{\"embedding\":{}}}\n",
                            made.vectors.empty() ? "[]" : vector_json(made.vectors.front().vector));
  exchange.answer(std::move(answer));
}

}  // namespace

std::vector<Route> ollama_embedding_routes(Service& service) {
  return {{.method = "POST",
           .path = "/api/embed",
           .help = "Vectors of texts, as ollama has it.",
           .handler = [&service](Exchange& exchange) { embed_as_ollama(service, exchange); },
           .accepts = Accepts::Text,
           .rights = {Right::Think},
           .fields = kEmbedFields},
          {.method = "POST",
           .path = "/api/embeddings",
           .help = "The vector of a text, as older clients of ollama ask for it.",
           .handler = [&service](Exchange& exchange) { embed_as_older(service, exchange); },
           .accepts = Accepts::Text,
           .rights = {Right::Think},
           .fields = kOldFields}};
}

}  // namespace mynah::server
