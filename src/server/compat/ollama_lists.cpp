#include <array>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "chat/chat_prompt.h"
#include "chat/reply/reply_format.h"
#include "formats/open.h"
#include "server/compat/model_details.h"
#include "server/compat/ollama.h"
#include "server/http/json_text.h"
#include "store/catalogue_embeddings.h"
#include "store/catalogue_language.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

// Go's time of nothing, where nobody knows it.
constexpr const char* kNever = "0001-01-01T00:00:00Z";

constexpr std::array<Field, 3> kShowFields = {
    {{.name = "model", .help = "A model's name, with or without a tag."},
     {.name = "name", .help = "The same, as older clients call it."},
     {.name = "verbose", .type = FieldType::Flag, .help = "Ignored.", .ignored = true}}};

// As ollama has it of what is kept for ever: clients take more than a century for that.
constexpr auto kForEver = std::chrono::steady_clock::duration::max();

std::string time_in(std::chrono::steady_clock::duration time) {
  // In seconds: a clock's own would overflow.
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format(
      "{:%FT%TZ}",
      fmt::gmtime(now + std::chrono::duration_cast<std::chrono::seconds>(time).count()));
}

// Of a file, or of all files in a folder; "" is built in and has none.
uint64_t size_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;  // what was removed has none any more
  if (!fs::is_directory(path, error)) {
    const auto size = fs::file_size(path, error);
    return error ? 0 : size;
  }
  uint64_t sum = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    const auto size = entry.is_regular_file(error) ? entry.file_size(error) : 0;
    sum += error ? 0 : size;
  }
  return sum;
}

// What cards hold for it.
uint64_t size_on_cards(const PlacementReport& report, const std::string& path) {
  uint64_t sum = 0;
  for (const StagePlacement& stage : report.stages) {
    // Stages that share a pool tell of it once.
    if (stage.model == path && stage.device != "cpu" && stage.memory_with.empty()) {
      sum += stage.bytes;
    }
  }
  return sum;
}

std::string changed_at(const HereModel& model) {
  return model.changed.empty() ? kNever : model.changed;
}

// `storage`: as the store has it, "": nobody knows; `kind`: the family of a file that says none.
Json details_json(const ModelDetails& details, const std::string& storage, std::string_view kind) {
  const std::string family =
      details.architecture.empty() ? std::string(kind) : details.architecture;
  return {{"parent_model", ""},
          {"format", "gguf"},
          {"family", family},
          {"families", {family}},
          {"parameter_size", parameters_text(details.parameters)},
          {"quantization_level", storage.empty() ? details.storage : storage}};
}

Json model_json(const Service& service, const PlacementReport& report,
                const engine::OpenModel& open, KnownDetails& known) {
  const std::string name = service.name_of_model(open.path);
  const auto stored = service.store().find(name);
  const std::string family = stored ? stored->family : "mynah";
  const std::string storage = stored ? stored->storage : "";
  constexpr std::array<const char*, 5> kTasks = {"automatic-speech-recognition",
                                                 "voice-activity-detection", "text-to-speech",
                                                 "text-generation", "feature-extraction"};
  // Its clients look for models by the names that they list.
  const bool is_of_ollama =
      open.does == engine::OpenModel::Does::Write || open.does == engine::OpenModel::Does::Embed;
  const std::string called = is_of_ollama ? with_tag(name) : name;
  const Json details =
      is_of_ollama
          ? details_json(known.of(open.path, stored ? stored->created : ""), storage, family)
          : Json{{"parent_model", ""},   {"format", open.path.ends_with(".gguf") ? "gguf" : ""},
                 {"family", family},     {"families", {family}},
                 {"parameter_size", ""}, {"quantization_level", storage}};
  return {{"name", called},
          {"model", called},
          {"size", size_of(open.path)},
          {"digest", stored ? stored->sha256 : ""},
          {"details", details},
          {"expires_at", time_in(open.left.value_or(kForEver))},
          {"size_vram", size_on_cards(report, open.path)},
          {"task", kTasks[static_cast<size_t>(open.does)]},
          {"device", open.device},
          {"requests", open.holders}};
}

void list_models(const Service& service, KnownDetails& known, Exchange& exchange) {
  Json models = Json::array();
  const auto add = [&](const std::vector<HereModel>& all, std::string_view kind) {
    for (const HereModel& model : all) {
      models.push_back(
          {{"name", with_tag(model.name)},
           {"model", with_tag(model.name)},
           {"modified_at", changed_at(model)},
           {"size", model.size},
           {"digest", model.digest},
           {"details", details_json(known.of(model.path, model.changed), model.storage, kind)}});
    }
  };
  add(service.chats().models(), kLanguageFamily);
  add(service.embeddings().models(), kEmbeddingFamily);
  exchange.answer({.body = json_text({{"models", std::move(models)}}) + "\n"});
}

// A file's metadata but for what is long, as ollama leaves that out.
Json info_of(const TensorFile& file) {
  Json info = Json::object();
  constexpr size_t kLongest = 1000;
  for (const auto& [key, value] : file.metadata) {
    std::visit(
        [&](const auto& held) {
          using Held = std::decay_t<decltype(held)>;
          if constexpr (std::is_arithmetic_v<Held>) {
            info[key] = held;
          } else if constexpr (std::is_same_v<Held, std::string>) {
            info[key] = held.size() <= kLongest ? Json(held) : Json(nullptr);
          } else {
            info[key] = nullptr;
          }
        },
        value);
  }
  info["general.parameter_count"] = details_of(file).parameters;
  return info;
}

std::string metadata_text(const TensorFile& file, std::string_view key) {
  const auto found = file.metadata.find(key);
  const auto* const text =
      found == file.metadata.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? std::string() : *text;
}

// What its chat template says that a model can.
Json capabilities_of(const std::string& source) {
  Json all = Json::array({"completion"});
  if (template_takes_tools(source)) {
    all.push_back("tools");
  }
  const std::string& thought = reply_format_of_template(source).thoughts.begin;
  if ((!thought.empty() && source.contains(thought)) || source.contains("enable_thinking") ||
      source.contains("reasoning_effort")) {
    all.push_back("thinking");
  }
  return all;
}

void show_model(const Service& service, Exchange& exchange) {
  const auto values = FieldValues::of_json(kShowFields, exchange.json());
  if (!values) {
    exchange.answer(ollama_error(values.error().error));
    return;
  }
  const std::string name =
      values->text("model").empty() ? values->text("name") : values->text("model");
  const bool embeds = service.embeddings().has(name);
  const auto model = embeds ? service.embeddings().model(name) : service.chats().model(name);
  const auto file =
      model ? open_tensor_file(model->path) : Result<TensorFile>(std::unexpected(model.error()));
  if (!file) {
    exchange.answer(model ? ollama_error(file.error()) : ollama_model_error(name, file.error()));
    return;
  }
  const std::string source = metadata_text(*file, "tokenizer.chat_template");
  const Json told = {
      {"license", model->licence},
      {"modelfile", "FROM " + with_tag(model->name) + "\n"},
      {"parameters", ""},
      {"template", source},
      {"details", details_json(details_of(*file), model->storage,
                               embeds ? kEmbeddingFamily : kLanguageFamily)},
      {"model_info", info_of(*file)},
      {"capabilities", embeds ? Json::array({"embedding"}) : capabilities_of(source)},
      {"modified_at", changed_at(*model)}};
  exchange.answer({.body = json_text(told) + "\n"});
}

}  // namespace

std::vector<Route> ollama_list_routes(Service& service) {
  const auto known = std::make_shared<KnownDetails>();
  return {{.method = "GET",
           .path = "/api/tags",
           .help = "The models that are here and write or make vectors, as ollama has it.",
           .handler = [&service,
                       known](Exchange& exchange) { list_models(service, *known, exchange); }},
          {.method = "POST",
           .path = "/api/show",
           .help = "What one of them is and can, as ollama has it.",
           .handler = [&service](Exchange& exchange) { show_model(service, exchange); },
           .accepts = Accepts::Text,
           .fields = kShowFields},
          {.method = "GET",
           .path = "/api/ps",
           .help = "The models that are loaded, as ollama has it.",
           .handler = [&service, known](Exchange& exchange) {
             const PlacementReport report = service.engine().placer().report();
             Json models = Json::array();
             for (const engine::OpenModel& open : service.engine().open_models()) {
               models.push_back(model_json(service, report, open, *known));
             }
             exchange.answer({.body = json_text({{"models", std::move(models)}}) + "\n"});
           }}};
}

}  // namespace mynah::server
