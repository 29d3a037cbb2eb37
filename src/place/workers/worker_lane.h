// WorkerLane: what is asked of a worker process for one model. Its calls come one after another;
// those of other lanes of the process, each with a thread of its own there, go on beside them. When
// it goes the process lets go of what it has there; where it is the last one the process ends.
// Whatever becomes of the process, who asks gets an answer or a DeviceError in bounded time.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/shared_memory.h"
#include "base/thread_pool.h"
#include "place/wire/channel.h"
#include "place/wire/wire_types.h"
#include "place/wire/worker_protocol.h"
#include "place/workers/pulse.h"
#include "place/workers/step_limit.h"
#include "place/workers/worker_process.h"
#include "tensor/device_error.h"

namespace mynah::place {

// Who wants a call no more.
struct CallStop {
  CallStop() = default;

  // NOLINTNEXTLINE(google-explicit-constructor): most calls have this alone
  CallStop(std::stop_token whole) : all(std::move(whole)) {}

  CallStop(std::stop_token whole, std::vector<std::stop_token> each)
      : all(std::move(whole)), rows(std::move(each)) {}

  std::stop_token all;
  std::vector<std::stop_token> rows;  // of the first windows of a batch, which leave it alone
};

class WorkerLane {
 public:
  // The first lane of a new process, which has its settings and no model yet. Device where there is
  // none, for want of whatever.
  static Result<std::shared_ptr<WorkerLane>> start(const WorkerSpec& spec);

  // One more of the same process; refused, and failing, as tell() is. `device`: as in WorkerSpec.
  Result<std::shared_ptr<WorkerLane>> next(const std::string& device);

  WorkerLane(const WorkerLane&) = delete;
  WorkerLane& operator=(const WorkerLane&) = delete;

  // Asks for one thing and waits for the answer's bytes; callers come one after another. `step`:
  // the longest time without an operation (see Watchdog). What the worker refuses is an error.
  // Throws DeviceError where the worker fails, hangs or is gone; it is then ended, and every later
  // call of any lane throws the same. Once stop is requested the worker ends early what it does.
  // Where the user stops (WorkerSpec::stop) and it does not, the worker is ended all the same, at
  // once: Cancelled, and no failure. Only what is asked after that is waited for.
  Result<std::vector<std::byte>> ask(Ask what, std::span<const std::byte> bytes,
                                     const StepLimit& step, const CallStop& stop = {});

  // The same with values for bytes, which are written where the worker reads them.
  template <class Out, class... In>
  Result<Out> ask_for(Ask what, const StepLimit& step, const CallStop& stop, const In&... in) {
    MYNAH_TRY(const std::vector<std::byte> answer,
              exchange_values(what, step, stop, WhenLate::End, in...));
    Out out{};
    if (!read_wire(answer, out)) {
      refuse_answer();
    }
    return out;
  }

  // The same of what nothing depends on. An answer that does not come in time is an error and no
  // reason to end the worker: it is passed over when it comes.
  template <class Out, class... In>
  Result<Out> ask_if_prompt(Ask what, const StepLimit& step, const In&... in) {
    MYNAH_TRY(const std::vector<std::byte> answer,
              exchange_values(what, step, {}, WhenLate::PassOver, in...));
    Out out{};
    if (!read_wire(answer, out)) {
      refuse_answer();
    }
    return out;
  }

  // Ends the process, since what it answered cannot be (place/wire/possible.h), and throws
  // DeviceError.
  [[noreturn]] void refuse_answer();

  // The same where all that matters of the answer is whether it was refused.
  template <class... In>
  Status tell(Ask what, const StepLimit& step, const In&... in) {
    MYNAH_TRY_STATUS(exchange_values(what, step, {}, WhenLate::End, in...));
    return {};
  }

  // Of ask_if_prompt().
  template <class... In>
  Status tell_if_prompt(Ask what, const StepLimit& step, const In&... in) {
    MYNAH_TRY_STATUS(exchange_values(what, step, {}, WhenLate::PassOver, in...));
    return {};
  }

  // Waits for a call that is under way, then ends the process: nobody needs it.
  void retire();

  // Waits for a call that is under way, then lets go of what the lane has in the process, which
  // goes on: nobody needs that. What is asked later fails.
  void close();

  // The same where it has a model: its memory is free by then, unless the worker fails meanwhile.
  void close(StageGroup group);

  // Kills the process from any thread: a call that is under way fails.
  void cancel() { process_->cancel(); }

  // Kills the process from any thread, and remembers why: calls that are under way fail for that
  // reason.
  void end(const std::string& reason);

  // Whether something can be asked. Waits for nobody.
  [[nodiscard]] bool alive() const;

  [[nodiscard]] pid_t pid() const { return process_->pid(); }

  // Brings a report of its up to what it showed last, alive or not.
  void add_last_sign(StageReport& report) const;

  // The stage that computed last.
  [[nodiscard]] std::optional<Stage> last_stage() const { return stage_of(pulse()); }

 private:
  // What becomes of the worker whose answer does not come in time.
  enum class WhenLate : uint8_t { End, PassOver };

  WorkerLane(std::string device, std::shared_ptr<WorkerProcess> process, LaneEnds ends);

  // One that was told nothing yet.
  static Result<std::shared_ptr<WorkerLane>> spawn(const WorkerSpec& spec);
  Status tell_settings();

  [[nodiscard]] const Pulse& pulse() const;
  [[nodiscard]] Pulse& pulse();
  [[nodiscard]] Error why_dead() const;
  // Of who has the call.
  [[noreturn]] void end_call(const std::string& reason, ErrorCode code = ErrorCode::Device);
  // " in stt.decoder": the stage that computed last; "": none did.
  [[nodiscard]] std::string where() const;
  // Asks with a request of so many bytes, which `write` writes, and descriptors; returns the
  // answer's.
  Result<std::vector<std::byte>> exchange(Ask what, size_t bytes,
                                          FunctionRef<void(std::span<std::byte>)> write,
                                          const StepLimit& step, const CallStop& stop,
                                          WhenLate when_late, std::span<const int> descriptors);

  template <class... In>
  Result<std::vector<std::byte>> exchange_values(Ask what, const StepLimit& step,
                                                 const CallStop& stop, WhenLate when_late,
                                                 const In&... in) {
    WireCounter counter;
    counter(in...);
    const auto write = [&](std::span<std::byte> room) {
      WirePlacer placer(room);
      placer(in...);
    };
    return exchange(what, counter.count(), write, step, stop, when_late, {});
  }

  // Shows the worker who stops.
  void show_stops(uint64_t request, const CallStop& stop);
  // None: it did not come in time, and is passed over. Ends the worker, and throws, where it fails.
  std::optional<Message> wait_for_answer(uint64_t request, const StepLimit& step,
                                         const CallStop& stop, WhenLate when_late);

  std::string device_;  // for messages
  std::shared_ptr<WorkerProcess> process_;
  mutable std::mutex mutex_;  // one call at a time
  std::optional<Channel> channel_;
  SharedMemory pulse_;
  std::atomic<bool> closed_{false};
  uint64_t requests_ = 0;
  uint64_t late_ = 0;  // a request whose answer is still to come, and passed over; 0: none
};

}  // namespace mynah::place
