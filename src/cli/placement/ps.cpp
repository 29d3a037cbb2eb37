#include "cli/placement/ps.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "place/state/status_page.h"
#include "place/terms/plain_text.h"

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

std::string stages_text(const std::vector<LoadedStage>& stages) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_device;
  for (const LoadedStage& stage : stages) {
    const auto known =
        std::ranges::find(by_device, stage.device, [](const auto& entry) { return entry.first; });
    auto& names = known != by_device.end()
                      ? known->second
                      : by_device.emplace_back(stage.device, std::vector<std::string>()).second;
    names.push_back(stage.stage);
  }
  std::vector<std::string> parts;
  parts.reserve(by_device.size());
  for (const auto& [device, names] : by_device) {
    parts.push_back(fmt::format("{} on {}", fmt::join(names, " and "), device));
  }
  return parts.empty() ? "nothing: it has nothing loaded"
                       : fmt::format("{}", fmt::join(parts, ", "));
}

void PsCommand::fields(Fields& fields) {
  fields.positional("PID", words_, "Processes; none: all of yours.").as_optional();
  fields.flag("unload", unload_, "Have them let go of what they have loaded.").once();
}

std::string PsCommand::details() const {
  return "Stages that are loaded, the device each is on, its weights' type, the memory that is "
         "held\n"
         "there, and for how long nothing was asked of it. What is let go is loaded again when it\n"
         "is needed; --keep-alive of the other verbs says after how long that happens by itself.\n";
}

Result<std::vector<PsCommand::Process>> PsCommand::find(const std::vector<int>& wanted) {
  std::vector<Process> found;
  for (const place::OtherProcess& other : place::find_status_pages()) {
    const bool asked = wanted.empty() || std::ranges::find(wanted, other.pid) != wanted.end();
    if (auto stages = asked ? parse_status_page(other.text) : std::nullopt) {
      found.push_back({.pid = other.pid, .stages = *std::move(stages)});
    }
  }
  for (const int pid : wanted) {
    if (std::ranges::find(found, pid, &Process::pid) == found.end()) {
      return std::unexpected(place::no_page_of(pid));
    }
  }
  return found;
}

Result<int> PsCommand::unload(Context& context, const std::vector<Process>& processes, bool named) {
  std::vector<int> pids;
  for (const Process& process : processes) {
    const Status asked = place::request_unload(process.pid);
    if (!asked && named) {
      return std::unexpected(asked.error());
    }
    if (!asked) {
      continue;  // it has ended meanwhile
    }
    pids.push_back(process.pid);
    if (!context.json) {
      context.out.line(
          fmt::format("{} is asked to let go of {}", process.pid, stages_text(process.stages)));
    }
  }
  if (context.json) {
    Json list = Json::array();
    for (const Process& process : processes) {
      list.push_back(to_json(process.pid, process.stages));
    }
    context.out.line(Json{{"asked", pids}, {"processes", std::move(list)}}.dump(
        -1, ' ', false, Json::error_handler_t::replace));
  } else if (pids.empty()) {
    context.out.line("nothing is loaded");
  }
  return 0;
}

Result<int> PsCommand::run(Context& context) {
  MYNAH_TRY(const std::vector<int> wanted, parse_pids(words_));
  MYNAH_TRY(const std::vector<Process> processes, find(wanted));
  if (unload_) {
    return unload(context, processes, !wanted.empty());
  }
  bool any = false;
  for (const Process& process : processes) {
    if (context.json) {
      context.out.line(to_json(process.pid, process.stages)
                           .dump(-1, ' ', false, Json::error_handler_t::replace));
      continue;
    }
    for (const LoadedStage& stage : process.stages) {
      if (!std::exchange(any, true)) {
        context.out.line(fmt::format("{:<8} {:<13} {:<8} {:<6} {:>17} {:>9}  {}", "pid", "stage",
                                     "device", "type", "held", "idle", "model"));
      }
      context.out.line(line_of(process.pid, stage));
    }
  }
  if (!any && !context.json) {
    context.out.line("nothing is loaded");
  }
  return 0;
}

}  // namespace mynah::cli
