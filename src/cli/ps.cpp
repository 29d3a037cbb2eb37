#include "cli/ps.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "place/status_page.h"

namespace mynah::cli {

namespace {

using Json = nlohmann::ordered_json;

// A page is another process's: anything may stand there.
std::vector<std::string> lines_of(int pid, const Json& page) {
  std::vector<std::string> lines;
  for (const Json& stage : page.value("stages", Json::array())) {
    if (!stage.is_object()) {
      continue;
    }
    const Json& storage = stage.contains("storage") ? stage["storage"] : Json();
    lines.push_back(fmt::format("{:<8} {:<13} {:<8} {:<6} {:>9.1f} MB {:>7.0f} s  {}", pid,
                                stage.value("stage", "?"), stage.value("device", "?"),
                                storage.is_string() ? storage.get<std::string>() : "file",
                                stage.value("bytes", 0.0) / 1e6, stage.value("idle_s", 0.0),
                                stage.value("model", std::string("?"))));
  }
  return lines;
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
      MYNAH_TRY_STATUS(place::request_unload(pid));
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
    const Json page = Json::parse(other.text, nullptr, false);
    if (!page.is_object()) {
      continue;
    }
    if (context.json) {
      context.out.line(page.dump(-1, ' ', false, Json::error_handler_t::replace));
      continue;
    }
    for (const std::string& line : lines_of(other.pid, page)) {
      if (!std::exchange(any, true)) {
        context.out.line(fmt::format("{:<8} {:<13} {:<8} {:<6} {:>12} {:>9}  {}", "pid", "stage",
                                     "device", "type", "held", "idle", "model"));
      }
      context.out.line(line);
    }
  }
  if (!any && !context.json) {
    context.out.line("nothing is loaded");
  }
  return 0;
}

}  // namespace mynah::cli
