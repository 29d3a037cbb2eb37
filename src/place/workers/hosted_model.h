// HostedModel: a model of one kind in the process that holds it for mynah (StageHost), and what is
// asked of that kind alone.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "place/elsewhere/mynah_client.h"
#include "place/wire/wire_types.h"
#include "place/wire/worker_protocol.h"
#include "speech/probe.h"

namespace mynah::place {

// Who wants a request no more, or a row of it: a window of a batch. Thread-safe.
class RequestStops {
 public:
  // Rows beyond are not stopped one by one.
  static constexpr size_t kMostRows = 64;

  [[nodiscard]] std::stop_token all() const { return all_.get_token(); }

  [[nodiscard]] std::stop_token row(size_t number) {
    if (number >= kMostRows) {
      return {};
    }
    const std::lock_guard lock(mutex_);
    return rows_.try_emplace(number).first->second.get_token();
  }

  void request_all() { all_.request_stop(); }

  // `rows`: bits, as in Pulse.
  void request(uint64_t rows) {
    const std::lock_guard lock(mutex_);
    for (auto& [number, stop] : rows_) {
      if ((rows >> number & 1) != 0) {
        stop.request_stop();
      }
    }
  }

 private:
  std::stop_source all_;
  std::mutex mutex_;
  std::map<size_t, std::stop_source> rows_;
};

// Another mynah, as a model in a worker asks it: each sign of life is a step of its last stage, for
// the watchdog to see. One thread at a time.
class MynahCaller {
 public:
  virtual ~MynahCaller() = default;

  // As MynahClient::ask(). Throws DeviceError of code Cancelled where the call is to end.
  virtual Status ask(std::string_view route, std::span<const std::byte> body,
                     const MynahClient::ResultTaker& on_result, const std::stop_token& stop) = 0;
};

// What the models of a host need of it.
class HostServices {
 public:
  virtual ~HostServices() = default;

  // A stage's own view of a device, which lives until the stage is opened anew.
  virtual Result<Backend*> open(Stage stage, const StageDevice& where) = 0;

  // Another mynah that a group's stages are on, by its name as a device; null: it is none's.
  virtual Result<std::unique_ptr<MynahCaller>> mynah(StageGroup group,
                                                     const StageDevice& where) = 0;

  // The stages of a group are called anew: a batch, a clause.
  virtual void begin_call(StageGroup group) = 0;

  // Runs what is to be timed, step by step; its times are those of the group's stages.
  virtual Status time_steps(StageGroup group, FunctionRef<Status()> run,
                            std::vector<ProbeTime>& times) = 0;
};

class HostedModel {
 public:
  virtual ~HostedModel() = default;

  // Does what is asked and returns the answer's fields; none: the kind is not asked that, and
  // nothing was read. An error is a refusal. Throws DeviceError where the device fails.
  [[nodiscard]] virtual std::optional<Result<WireWriter>> handle(Ask what, WireReader& in,
                                                                 RequestStops& stops) = 0;

  // Lets go of the model.
  virtual void close() = 0;

  // Computes the model's probe. Throws DeviceError.
  [[nodiscard]] virtual Result<Probe> probe() = 0;

  // How long its windows are; 0: it has none.
  [[nodiscard]] virtual double window_s() const { return 0; }
};

// Refused: a request that was not read to its end.
[[nodiscard]] inline Status check_read(const WireReader& in) {
  return in.done() ? Status{} : fail(ErrorCode::InvalidInput, "a request that cannot be read");
}

template <class... T>
[[nodiscard]] WireWriter answer_of(const T&... values) {
  WireWriter out;
  out(values...);
  return out;
}

[[nodiscard]] inline std::unexpected<Error> not_open(StageGroup group) {
  return fail(ErrorCode::InvalidInput,
              "no model of " + std::string(group_name(group)) + " is open");
}

}  // namespace mynah::place
