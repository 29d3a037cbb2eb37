#include "server/operation/scrape.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

#include "engine/version.h"
#include "server/metrics/exposition.h"

namespace mynah::server {
namespace {

// "tiny.en" of a model's file or folder.
std::string called(const std::string& path) {
  const std::filesystem::path file(path);
  const bool is_of_store = file.filename() == "model.gguf";
  return (is_of_store ? file.parent_path() : file).filename().string();
}

void tell_queue(Service& service, Exposition& to) {
  std::map<std::pair<RequestWork::Does, bool>, int> requests;  // by what they want; that compute
  for (const auto& work : service.board().working()) {
    ++requests[{work->does(), work->waited().has_value()}];
  }
  to.gauge("mynah_requests_under_way", "Requests that want a model, by what has become of them.");
  for (const auto& [does, task] : kTasks) {
    for (const bool computes : {false, true}) {
      to.sample(requests[{does, computes}],
                {{"task", task}, {"state", computes ? "running" : "waiting"}});
    }
  }
  const Service::WaitingWindows windows = service.waiting_windows();
  to.gauge("mynah_windows_waiting", "Windows that wait to be heard, by their class.");
  to.sample(static_cast<double>(windows.urgent), {{"class", "interactive"}});
  to.sample(static_cast<double>(windows.bulk), {{"class", "bulk"}});
}

// Samples of one metric that differ in nothing would be refused.
void tell_stages(Service& service, Exposition& to) {
  std::map<std::string, uint64_t> bytes;  // by device
  std::set<std::tuple<std::string, std::string, std::string, std::string>> told;
  const PlacementReport report = service.engine().placer().report();
  to.gauge("mynah_stage_info", "The device that a stage of a model computes on.");
  for (const StagePlacement& stage : report.stages) {
    if (stage.memory_with.empty()) {
      bytes[stage.device] += stage.bytes;
    }
    const std::string model = called(stage.model);
    if (told.emplace(stage.stage, model, stage.device, stage.storage).second) {
      to.sample(1, {{"stage", stage.stage},
                    {"model", model},
                    {"device", stage.device},
                    {"storage", stage.storage}});
    }
  }
  to.gauge("mynah_device_bytes", "Memory of a device that models have.");
  for (const auto& [device, held] : bytes) {
    to.sample(static_cast<double>(held), {{"device", device}});
  }
  std::map<std::pair<std::string, std::string>, int> moves;
  for (const PlacementMove& move : report.moves) {
    ++moves[{move.from, move.to}];
  }
  to.counter("mynah_fallbacks_total", "Models that went on elsewhere; to nowhere: were refused.");
  for (const auto& [way, count] : moves) {
    to.sample(count, {{"from", way.first}, {"to", way.second}});
  }
  to.gauge("mynah_models_open", "Models that are open.");
  to.sample(static_cast<double>(service.engine().open_models().size()));
}

// Of the process, by the names that all programs have for them.
void tell_process(Exposition& to) {
  long pages = 0;
  long resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  to.gauge("process_resident_memory_bytes", "Resident memory size in bytes.");
  to.sample(static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    constexpr double kOfMicrosecond = 1e-6;
    return static_cast<double>(time.tv_sec) + kOfMicrosecond * static_cast<double>(time.tv_usec);
  };
  to.counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.");
  to.sample(seconds(used.ru_utime) + seconds(used.ru_stime));
  const auto entries = [](const char* folder) {
    std::error_code ignored;  // one that cannot be read has none
    const std::filesystem::directory_iterator all(folder, ignored);
    return static_cast<double>(std::distance(begin(all), end(all)));
  };
  to.gauge("process_open_fds", "Number of open file descriptors.");
  to.sample(entries("/proc/self/fd"));
  to.gauge("process_threads", "Threads of the process.");
  to.sample(entries("/proc/self/task"));
}

}  // namespace

Handler metrics(Service& service) {
  return [&service](Exchange& exchange) {
    Exposition told;
    told.gauge("mynah_build_info", "Which mynah this is.");
    told.sample(1, {{"version", std::string(engine::program_version().version)}});
    service.metrics().tell(told);
    tell_queue(service, told);
    tell_stages(service, told);
    tell_process(told);
    exchange.answer(
        {.type = "text/plain; version=0.0.4; charset=utf-8", .body = std::move(told).text()});
  };
}

}  // namespace mynah::server
