#include "server/operation/waiting.h"

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

}  // namespace

Handler queue(Service& service) {
  return [&service](Exchange& exchange) {
    const std::string& owner = exchange.head().owner;
    int counts[2][2] = {};  // that speak, that compute
    Json own = Json::array();
    for (const auto& work : service.board().working()) {
      const bool speaks = work->does() == RequestWork::Does::Speak;
      const auto waited = work->waited();
      ++counts[speaks ? 1 : 0][waited ? 1 : 0];
      if (work->owner() == owner) {
        own.push_back({{"id", work->id()},
                       {"task", speaks ? "speak" : "hear"},
                       {"state", waited ? "running" : "waiting"},
                       {"waited_s", rounded_ms(seconds(waited.value_or(work->age())))},
                       {"age_s", rounded_ms(seconds(work->age()))}});
      }
    }
    const Service::WaitingWindows windows = service.waiting_windows();
    constexpr double kOfMillisecond = 1e-3;
    const Json told = {{"waiting", {{"hear", counts[0][0]}, {"speak", counts[1][0]}}},
                       {"running", {{"hear", counts[0][1]}, {"speak", counts[1][1]}}},
                       {"windows", {{"interactive", windows.urgent}, {"bulk", windows.bulk}}},
                       {"estimated_s", rounded_ms(windows.left_ms * kOfMillisecond)},
                       {"requests", std::move(own)}};
    exchange.answer({.body = json_text(told) + "\n"});
  };
}

}  // namespace mynah::server
