#include "cli/ps.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "place/plain_text.h"
#include "place/status_page.h"

namespace mynah::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLongestText = 1000;

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_string()
             ? "?"
             : place::made_plain(found->get_ref<const std::string&>(), kLongestText);
}

double number_of(const Json& object, const char* key) {
  constexpr double kMost = 1e18;  // a uint64_t holds it
  const auto found = object.find(key);
  return found == object.end() || !found->is_number()
             ? 0.0
             : std::clamp(found->get<double>(), 0.0, kMost);
}

std::string line_of(int pid, const LoadedStage& stage) {
  const std::string held = stage.memory_with
                               ? "with " + *stage.memory_with
                               : fmt::format("{:.1f} MB", static_cast<double>(stage.bytes) / 1e6);
  return fmt::format("{:<8} {:<13} {:<8} {:<6} {:>17} {:>7.0f} s  {}", pid, stage.stage,
                     stage.device, stage.storage.value_or("file"), held, stage.idle_s, stage.model);
}

Json to_json(int pid, const std::vector<LoadedStage>& stages) {
  Json list = Json::array();
  for (const LoadedStage& stage : stages) {
    list.push_back({{"stage", stage.stage},
                    {"device", stage.device},
                    {"storage", stage.storage ? Json(*stage.storage) : Json()},
                    {"model", stage.model},
                    {"bytes", stage.memory_with ? Json() : Json(stage.bytes)},
                    {"memory_with", stage.memory_with ? Json(*stage.memory_with) : Json()},
                    {"idle_s", stage.idle_s}});
  }
  return {{"pid", pid}, {"stages", std::move(list)}};
}

Result<std::vector<int>> parse_pids(const std::vector<std::string>& words) {
  std::vector<int> pids;
  for (const std::string& word : words) {
    int pid = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), pid);
    if (error != std::errc() || end != word.data() + word.size() || pid <= 0) {
      return fail(
          ErrorCode::Usage,
          fmt::format("wanted the number of a process, found '{}': `mynah ps` lists them", word));
    }
    pids.push_back(pid);
  }
  return pids;
}

}  // namespace

std::optional<std::vector<LoadedStage>> parse_status_page(std::string_view text) {
  const Json page = Json::parse(text, nullptr, false);
  if (!page.is_object()) {
    return std::nullopt;
  }
  std::vector<LoadedStage> stages;
  const auto list = page.find("stages");
  if (list == page.end() || !list->is_array()) {
    return stages;
  }
  for (const Json& stage : *list) {
    if (stage.is_object()) {
      const auto storage = stage.find("storage");
      const bool typed = storage != stage.end() && storage->is_string();
      const auto with = stage.find("memory_with");
      const bool shares = with != stage.end() && with->is_string();
      stages.push_back(
          {.stage = text_of(stage, "stage"),
           .device = text_of(stage, "device"),
           .storage = typed ? std::optional(text_of(stage, "storage")) : std::nullopt,
           .model = text_of(stage, "model"),
           .bytes = static_cast<uint64_t>(number_of(stage, "bytes")),
           .memory_with = shares ? std::optional(text_of(stage, "memory_with")) : std::nullopt,
           .idle_s = number_of(stage, "idle_s")});
    }
  }
  return stages;
}

void PsCommand::fields(Fields& fields) {
  fields.positional("PID", words_, "Processes; none: all of yours.");
  fields.flag("unload", unload_, "Have them let go of what they have loaded.").once();
}

std::string PsCommand::details() const {
  return "Stages that are loaded, the device each is on, its weights' type, the memory that is "
         "held\n"
         "there, and for how long nothing was asked of it. What is let go is loaded again when it\n"
         "is needed; --keep-alive of the other verbs says after how long that happens by itself.\n";
}

Result<int> PsCommand::run(Context& context) {
  MYNAH_TRY(const std::vector<int> wanted, parse_pids(words_));
  if (unload_) {
    std::vector<int> pids = wanted;
    if (pids.empty()) {
      for (const place::OtherProcess& other : place::find_status_pages()) {
        pids.push_back(other.pid);
      }
    }
    for (const int pid : pids) {
      const Status asked = place::request_unload(pid);
      if (!asked && !wanted.empty()) {
        return std::unexpected(asked.error());  // of all: one that has ended meanwhile is none
      }
    }
    if (context.json) {
      context.out.line(Json{{"asked", pids}}.dump());
    } else {
      context.out.line(
          fmt::format("{} process{} asked to let go", pids.size(), pids.size() == 1 ? "" : "es"));
    }
    return 0;
  }
  bool any = false;
  for (const place::OtherProcess& other : place::find_status_pages()) {
    if (!wanted.empty() && std::ranges::find(wanted, other.pid) == wanted.end()) {
      continue;
    }
    const auto stages = parse_status_page(other.text);
    if (!stages) {
      continue;
    }
    if (context.json) {
      context.out.line(
          to_json(other.pid, *stages).dump(-1, ' ', false, Json::error_handler_t::replace));
      continue;
    }
    for (const LoadedStage& stage : *stages) {
      if (!std::exchange(any, true)) {
        context.out.line(fmt::format("{:<8} {:<13} {:<8} {:<6} {:>17} {:>9}  {}", "pid", "stage",
                                     "device", "type", "held", "idle", "model"));
      }
      context.out.line(line_of(other.pid, stage));
    }
  }
  if (!any && !context.json) {
    context.out.line("nothing is loaded");
  }
  return 0;
}

}  // namespace mynah::cli
