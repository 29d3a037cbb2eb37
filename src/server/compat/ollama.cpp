#include "server/compat/ollama.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <string>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/http/json_text.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

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

Json model_json(const Service& service, const PlacementReport& report,
                const engine::OpenModel& open) {
  const std::string name = service.name_of_model(open.path);
  const auto stored = service.store().find(name);
  const std::string family = stored ? stored->family : "mynah";
  const std::string storage = stored ? stored->storage : "";
  constexpr std::array<const char*, 3> kTasks = {"automatic-speech-recognition",
                                                 "voice-activity-detection", "text-to-speech"};
  Json json = {{"name", name},
               {"model", name},
               {"size", size_of(open.path)},
               {"digest", stored ? stored->sha256 : ""},
               {"details",
                {{"parent_model", ""},
                 {"format", open.path.ends_with(".gguf") ? "gguf" : ""},
                 {"family", family},
                 {"families", {family}},
                 {"parameter_size", ""},
                 {"quantization_level", storage}}},
               {"expires_at", nullptr},  // it is in use, or kept for ever
               {"size_vram", size_on_cards(report, open.path)},
               {"task", kTasks[static_cast<size_t>(open.does)]},
               {"device", open.device},
               {"requests", open.holders}};
  if (open.left) {
    const auto at = std::chrono::system_clock::now() +
                    std::chrono::duration_cast<std::chrono::seconds>(*open.left);
    json["expires_at"] =
        fmt::format("{:%FT%TZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(at)));
  }
  return json;
}

}  // namespace

std::vector<Route> ollama_routes(Service& service) {
  return {{.method = "GET",
           .path = "/api/ps",
           .help = "The models that are loaded, as ollama has it.",
           .handler = [&service](Exchange& exchange) {
             const PlacementReport report = service.engine().placer().report();
             Json models = Json::array();
             for (const engine::OpenModel& open : service.engine().open_models()) {
               models.push_back(model_json(service, report, open));
             }
             exchange.answer({.body = json_text({{"models", std::move(models)}}) + "\n"});
           }}};
}

}  // namespace mynah::server
