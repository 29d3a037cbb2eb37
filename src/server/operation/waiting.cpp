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
    const std::string owner =
        exchange.head().work != nullptr ? exchange.head().work->owner() : std::string();
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
    Json windows = {{"interactive", 0}, {"bulk", 0}};
    double left_ms = 0;
    for (const HearingLoad& load : service.engine().hearing_loads()) {
      windows["interactive"] = windows["interactive"].get<size_t>() + load.urgent_windows;
      windows["bulk"] = windows["bulk"].get<size_t>() + load.bulk_windows;
      left_ms += load.window_ms * static_cast<double>(load.urgent_windows + load.bulk_windows);
    }
    constexpr double kOfMillisecond = 1e-3;
    const Json told = {{"waiting", {{"hear", counts[0][0]}, {"speak", counts[1][0]}}},
                       {"running", {{"hear", counts[0][1]}, {"speak", counts[1][1]}}},
                       {"windows", std::move(windows)},
                       {"estimated_s", rounded_ms(left_ms * kOfMillisecond)},
                       {"requests", std::move(own)}};
    exchange.answer({.body = json_text(told) + "\n"});
  };
}

}  // namespace mynah::server
