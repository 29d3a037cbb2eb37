#include "server/operation/ready.h"

#include <cstdint>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/http/json_text.h"
#include "tensor/device_error.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

Response not_ready(const std::string& reason) {
  constexpr int kUnavailable = 503;
  Response response{.status = kUnavailable,
                    .body = json_text(Json{{"status", "not ready"}, {"reason", reason}}) + "\n"};
  response.headers.set("X-Mynah-Reason", reason);  // for who reads no body of an error
  return response;
}

}  // namespace

Result<size_t> Ready::look() {
  return or_device_error([this]() -> Result<size_t> {
    MYNAH_TRY(const size_t computed, service_.engine().try_open_models());
    if (computed == 0) {
      MYNAH_TRY_STATUS(service_.check_could_open());
    }
    return computed;
  });
}

Status Ready::start() try {
  looks_ = true;
  since_ = Clock::now();
  // The one before has come to its end.
  looker_ = std::jthread([this] {
    Result<size_t> seen = look();
    const std::lock_guard lock(mutex_);
    seen_ = std::move(seen);
    ++looked_;
    looks_ = false;
    changed_.notify_all();
  });
  return {};
} catch (const std::system_error& error) {
  looks_ = false;
  return fail(ErrorCode::Environment,
              fmt::format("no thread can be started: {}; see `ulimit -u`", error.what()));
}

Response Ready::answer() {
  std::unique_lock lock(mutex_);
  if (!looks_) {
    if (const Status started = start(); !started) {
      return not_ready(started.error().message);
    }
  }
  const uint64_t before = looked_;
  const auto until = since_ + patience_;
  if (!changed_.wait_until(lock, until, [&] { return looked_ != before; })) {
    const std::chrono::duration<double> since = Clock::now() - since_;
    return not_ready(
        fmt::format("no model has answered for {:.0f} s: wanted one to compute", since.count()));
  }
  if (!*seen_) {
    return not_ready(seen_->error().message);
  }
  const size_t computed = **seen_;
  return {.body = json_text(computed == 0 ? Json{{"status", "idle"}}
                                          : Json{{"status", "ready"}, {"models", computed}}) +
                  "\n"};
}

}  // namespace mynah::server
