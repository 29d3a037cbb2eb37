#include "server/operation/waiting.h"

#include <algorithm>
#include <chrono>

#include <nlohmann/json.hpp>

#include "base/rounded.h"
#include "server/http/json_text.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

double seconds(RequestWork::Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

// Of a request that wants a model.
const char* task_of(const RequestWork& work) {
  return std::ranges::find(kTasks, work.does(), [](const auto& one) { return one.first; })->second;
}

}  // namespace

Handler queue(Service& service) {
  return [&service](Exchange& exchange) {
    const std::string& owner = exchange.head().owner;
    Json waiting;
    Json running;
    for (const auto& [does, task] : kTasks) {
      waiting[task] = 0;
      running[task] = 0;
    }
    Json own = Json::array();
    for (const auto& work : service.board().working()) {
      const char* const task = task_of(*work);
      const auto waited = work->waited();
      Json& count = (waited ? running : waiting)[task];
      count = count.get<int>() + 1;
      if (work->owner() == owner) {
        own.push_back({{"id", work->id()},
                       {"task", task},
                       {"state", waited ? "running" : "waiting"},
                       {"waited_s", rounded_ms(seconds(waited.value_or(work->age())))},
                       {"age_s", rounded_ms(seconds(work->age()))}});
      }
    }
    const Service::WaitingWindows windows = service.waiting_windows();
    constexpr double kOfMillisecond = 1e-3;
    const Json told = {{"waiting", std::move(waiting)},
                       {"running", std::move(running)},
                       {"windows", {{"interactive", windows.urgent}, {"bulk", windows.bulk}}},
                       {"estimated_s", rounded_ms(windows.left_ms * kOfMillisecond)},
                       {"requests", std::move(own)}};
    exchange.answer({.body = json_text(told) + "\n"});
  };
}

}  // namespace mynah::server
