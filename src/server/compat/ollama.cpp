#include "server/compat/ollama.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/http/errors.h"
#include "server/http/json_text.h"
#include "server/models/changes.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

// Clients look at it before they ask for what newer ones can.
constexpr const char* kVersion = "{\"version\":\"0.12.0\"}\n";
constexpr std::string_view kUsualTag = ":latest";

constexpr Field kPulledModel = {.name = "model", .help = "A model's name, with or without a tag."};
constexpr Field kOldName = {.name = "name", .help = "The same, as older clients call it."};

constexpr std::array<Field, 4> kPullFields = {
    {kPulledModel,
     kOldName,
     {.name = "stream", .type = FieldType::Flag, .help = "False: only how it ended is told."},
     {.name = "insecure", .type = FieldType::Flag, .help = "Ignored.", .ignored = true}}};

constexpr std::array<Field, 2> kDeleteFields = {{kPulledModel, kOldName}};

std::string name_in(const FieldValues& values) {
  std::string name = values.text("model").empty() ? values.text("name") : values.text("model");
  if (name.ends_with(kUsualTag)) {
    name.resize(name.size() - kUsualTag.size());
  }
  return name;
}

void pull_as_ollama(const Service& service, Exchange& exchange) {
  const auto values = FieldValues::of_json(kPullFields, exchange.json());
  if (!values) {
    exchange.answer(ollama_error(values.error().error));
    return;
  }
  const PullWords words{.refusal = [](const Error& error,
                                      const std::string& /*code*/) { return ollama_error(error); },
                        .error_line = ollama_error_text,
                        .whole = !values->flag("stream", true)};
  pull_named(service, name_in(*values), words, exchange);
}

void remove_as_ollama(Service& service, Exchange& exchange) {
  const auto values = FieldValues::of_json(kDeleteFields, exchange.json());
  if (!values) {
    exchange.answer(ollama_error(values.error().error));
    return;
  }
  const std::string name = name_in(*values);
  const auto own = service.store().own_name(name);
  const Status removed = own ? service.remove(*own) : std::unexpected(own.error());
  exchange.answer(removed ? Response{.body = {}} : ollama_error(removed.error()));
}

}  // namespace

std::string ollama_error_text(const Error& error) {
  return json_text({{"error", client_message(error)}});
}

Response ollama_error(const Error& error) {
  return {.status = error_status(error.code), .body = ollama_error_text(error) + "\n"};
}

Response ollama_model_error(const std::string& name, const Error& error) {
  if (error.code != ErrorCode::NotFound) {
    return ollama_error(error);
  }
  constexpr size_t kMostShown = 80;
  return ollama_error({ErrorCode::NotFound,
                       fmt::format("model '{}' not found: GET /api/tags lists those that are here, "
                                   "POST /api/pull brings another",
                                   name.substr(0, kMostShown))});
}

Response ollama_opening_error(const std::string& name, const Result<HereModel>& here,
                              const Error& error) {
  return ollama_model_error(name, here ? error : here.error());
}

std::string with_tag(const std::string& name) {
  return name.contains(':') ? name : name + std::string(kUsualTag);
}

std::vector<Route> ollama_routes(Service& service) {
  std::vector<Route> routes = {
      {.method = "GET",
       .path = "/api/version",
       .help = "The version of ollama whose interface this is.",
       .handler = [](Exchange& exchange) { exchange.answer({.body = kVersion}); },
       .open = Open::ToAll},
      {.method = "POST",
       .path = "/api/pull",
       .help = "Pulls a model of the catalogue, as ollama has it.",
       .handler = [&service](Exchange& exchange) { pull_as_ollama(service, exchange); },
       .accepts = Accepts::Text,
       .rights = {Right::Models},
       .fields = kPullFields,
       .answers = "application/x-ndjson application/json"},
      {.method = "DELETE",
       .path = "/api/delete",
       .help = "Removes a model from this machine, as ollama has it.",
       .handler = [&service](Exchange& exchange) { remove_as_ollama(service, exchange); },
       .accepts = Accepts::Text,
       .rights = {Right::Models},
       .fields = kDeleteFields}};
  std::ranges::move(ollama_list_routes(service), std::back_inserter(routes));
  std::ranges::move(ollama_writing_routes(service), std::back_inserter(routes));
  std::ranges::move(ollama_embedding_routes(service), std::back_inserter(routes));
  return routes;
}

}  // namespace mynah::server
