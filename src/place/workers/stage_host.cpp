#include "place/workers/stage_host.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include <unistd.h>

#include "place/terms/kind.h"
#include "place/workers/driver_asker.h"
#include "place/workers/driver_wire.h"
#include "place/workers/operation_cases.h"
#include "place/workers/watchdog.h"
#include "tensor/device_error.h"
#include "tensor/device_failure.h"

namespace mynah::place {
namespace {

// What this process's threads waited for a core, others having them: a watchdog counts none of
// that, so what is measured for it is to have none either.
class CoreWaits {
 public:
  CoreWaits() : begun_(std::chrono::steady_clock::now()), before_(read_process_times(::getpid())) {}

  // How much of the time since it was made the thread had one that waited most.
  [[nodiscard]] double share_of_cores() const {
    constexpr double kLeast = 0.05;  // so many programs as there are cores, and twenty times those
    std::chrono::nanoseconds longest{};
    for (const auto& [thread, times] : read_process_times(::getpid())) {
      const auto known = before_.find(thread);
      const auto waited =
          known == before_.end() ? std::chrono::nanoseconds{} : known->second.waited_to_run;
      longest = std::max(longest, times.waited_to_run - waited);
    }
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun_;
    const double waited_s = std::chrono::duration<double>(longest).count();
    return passed.count() > 0 ? std::clamp(1 - waited_s / passed.count(), kLeast, 1.0) : 1.0;
  }

 private:
  std::chrono::steady_clock::time_point begun_;
  std::map<pid_t, ThreadTimes> before_;
};

// Another mynah's time, which is its last stage's here: nobody knows which of them takes what. Its
// steps are from one sign of life to the next, and grow with no work.
void share_out(std::vector<ProbeTime>& times) {
  constexpr double kAnyWork = 1e6;
  const ProbeTime whole = times.back();
  for (ProbeTime& time : times) {
    time.milliseconds = whole.milliseconds / static_cast<double>(times.size());
    time.longest_step_ms = whole.longest_step_ms;
    time.step_work = kAnyWork;
  }
}

// The watch must outlive it.
class WatchedMynah final : public MynahCaller {
 public:
  WatchedMynah(AnotherMynah mynah, StageWatch& watch) : client_(std::move(mynah)), watch_(watch) {}

  Status ask(std::string_view route, std::span<const std::byte> body,
             const MynahClient::ResultTaker& on_result, const std::stop_token& stop) override {
    return client_.ask(route, body, on_result, [this] { watch_.before("elsewhere"); }, stop);
  }

 private:
  MynahClient client_;
  StageWatch& watch_;
};

}  // namespace

StageHost::StageHost(Pulse& pulse, DeviceThreads& threads)
    : signs_{.pulse = pulse}, threads_(threads) {
  for (const Kind* const kind : kinds()) {
    models_.push_back(kind->host(*this));
  }
}

Result<WireWriter> StageHost::handle(Ask what, std::span<const std::byte> bytes,
                                     RequestStops& stops) {
  // Its turn ends with the call, also where the device fails.
  const std::unique_ptr<CallTurn, void (*)(CallTurn*)> turn(&signs_.turn,
                                                            [](CallTurn* own) { own->end(); });
  // A batch of windows looks at it between two tokens by itself: others of it may go on.
  signs_.stop = what == Ask::Decode || what == Ask::Draft ? std::stop_token() : stops.all();
  WireReader in(bytes);
  Result<WireWriter> answered = answer(what, in, stops);
  signs_.clock.enter(std::nullopt);
  show_what_was_done();
  if (!answered && answered.error().code == ErrorCode::OutOfMemory) {
    release_idle_memory();  // what was loaded of a model that does not fit
  }
  return answered;
}

Result<WireWriter> StageHost::answer(Ask what, WireReader& in, RequestStops& stops) {
  switch (what) {
    case Ask::Settings:
      return take_settings(in);
    case Ask::CloseGroup:
      return close_group(in);
    case Ask::Report:
      return report(in);
    case Ask::Probe:
      return probe(in);
    case Ask::Operations:
      return operations(in);
    case Ask::Driver:
      return ask_driver_of(in);
    case Ask::Cards:
      return ask_nvml_of(in);
    case Ask::Check:
      return check(in);
    default:
      return ask_models(what, in, stops);
  }
}

Result<WireWriter> StageHost::ask_models(Ask what, WireReader& in, RequestStops& stops) {
  for (const auto& model : models_) {
    if (auto answer = model->handle(what, in, stops)) {
      return *std::move(answer);
    }
  }
  return fail(ErrorCode::InvalidInput, "a request that nobody knows");
}

HostedModel& StageHost::model_of(StageGroup group) {
  return *models_[static_cast<size_t>(group)];
}

void StageHost::show_what_was_done() {
  constexpr double kMicroseconds = 1e3;
  for (const Stage stage : all_stages()) {
    const HostedStage& hosted = stages_[number_of(stage)];
    if (hosted.backend != nullptr) {
      Pulse::Done& done = signs_.pulse.done[number_of(stage)];
      done.operations.store(hosted.backend->operations(), std::memory_order_relaxed);
      done.microseconds.store(
          static_cast<uint64_t>(kMicroseconds * signs_.clock.milliseconds(stage)),
          std::memory_order_relaxed);
    }
  }
}

void StageHost::release_idle_memory() {
  for (auto& [name, device] : devices_) {
    device.backend->release_idle_memory();
  }
}

Result<Backend*> StageHost::open(Stage stage, const StageDevice& where) {
  HostedStage& hosted = stages_[number_of(stage)];
  if (!devices_.contains(where.device)) {
    MYNAH_TRY(OpenedDevice opened, open_device(where.device, settings_, threads_));
    devices_.emplace(where.device, std::move(opened));
  }
  hosted.device = where.device;
  hosted.address.clear();
  const OpenedDevice& device = devices_.at(where.device);
  hosted.watch = std::make_unique<StageWatch>(stage, signs_, device.pool.get());
  hosted.watch->set_faults(faults_);
  hosted.backend = std::make_unique<WatchedBackend>(*device.backend, hosted.watch.get());
  return hosted.backend.get();
}

Result<std::unique_ptr<MynahCaller>> StageHost::mynah(StageGroup group, const StageDevice& where) {
  const auto known = std::ranges::find(settings_.mynahs, where.device, &AnotherMynah::name);
  if (known == settings_.mynahs.end()) {
    return nullptr;
  }
  for (const Stage stage : stages_of(group)) {
    HostedStage& hosted = stages_[number_of(stage)];
    hosted = {};
    hosted.device = where.device;
    hosted.address = known->address();
    hosted.watch = std::make_unique<StageWatch>(stage, signs_);
    hosted.watch->set_faults(faults_);
  }
  return std::make_unique<WatchedMynah>(*known, *stages_[number_of(stages_of(group).back())].watch);
}

void StageHost::begin_call(StageGroup group) {
  for (const Stage stage : stages_of(group)) {
    if (const auto& watch = stages_[number_of(stage)].watch) {
      watch->begin_call();
    }
  }
}

Result<WireWriter> StageHost::take_settings(WireReader& in) {
  const auto settings = std::make_unique<DeviceSettings>();  // as in ask_driver_of()
  std::vector<Fault> faults;
  in(*settings, faults);
  MYNAH_TRY_STATUS(check_read(in));
  settings_ = std::move(*settings);
  faults_ = std::move(faults);
  return WireWriter();
}

Result<WireWriter> StageHost::ask_driver_of(WireReader& in) {
  const auto search = std::make_unique<gpu::GpuSearch>();  // on the stack g++ 12 takes it for unset
  in(*search);
  MYNAH_TRY_STATUS(check_read(in));
  auto answer = ask_driver(*search);
  return answer ? answer_of(DriverOutcome{.answer = *std::move(answer), .absence = {}})
                : answer_of(DriverOutcome{.answer = {}, .absence = std::move(answer).error()});
}

Result<WireWriter> StageHost::ask_nvml_of(WireReader& in) {
  gpu::NvmlSearch search;
  std::vector<std::string> addresses;
  in(search, addresses);
  MYNAH_TRY_STATUS(check_read(in));
  MYNAH_TRY(const gpu::NvmlFacts facts, ask_nvml(search, addresses));
  return answer_of(facts);
}

Result<WireWriter> StageHost::check(WireReader& in) {
  std::string device;
  in(device);
  MYNAH_TRY_STATUS(check_read(in));
  MYNAH_TRY_STATUS(check_there(device, settings_));
  return WireWriter();
}

Result<WireWriter> StageHost::close_group(WireReader& in) {
  StageGroup group{};
  in(group);
  MYNAH_TRY_STATUS(check_read(in));
  model_of(group).close();
  release_idle_memory();
  return WireWriter();
}

Result<WireWriter> StageHost::report(WireReader& in) {
  MYNAH_TRY_STATUS(check_read(in));
  std::vector<StageReport> reports;
  for (const Stage stage : all_stages()) {
    const HostedStage& hosted = stages_[number_of(stage)];
    if (hosted.backend == nullptr) {
      if (!hosted.address.empty()) {
        reports.push_back({.stage = stage,
                           .device = hosted.device,
                           .architecture = hosted.address,
                           .milliseconds = signs_.clock.milliseconds(stage)});
      }
      continue;
    }
    const auto memory = hosted.backend->device_memory();
    reports.push_back({.stage = stage,
                       .device = hosted.device,
                       .architecture = hosted.backend->description(),
                       .bytes = hosted.backend->memory_held(),
                       .operations = hosted.backend->operations(),
                       .launches = hosted.backend->launches(),
                       .milliseconds = signs_.clock.milliseconds(stage),
                       .memory_free = memory ? memory->free : 0,
                       .memory_total = memory ? memory->total : 0});
  }
  return answer_of(reports);
}

Status StageHost::time_steps(StageGroup group, FunctionRef<Status()> run,
                             std::vector<ProbeTime>& times) {
  std::map<Stage, double> before;
  for (const Stage stage : stages_of(group)) {
    before[stage] = signs_.clock.milliseconds(stage);
  }
  signs_.clock.forget_longest();
  signs_.clock.time_steps(true);
  const CoreWaits waits;
  MYNAH_TRY_STATUS(run());
  signs_.clock.enter(std::nullopt);
  signs_.clock.time_steps(false);
  const double share = waits.share_of_cores();
  for (const Stage stage : stages_of(group)) {
    times.push_back({.stage = stage,
                     .milliseconds = signs_.clock.milliseconds(stage) - before[stage],
                     .longest_step_ms = share * signs_.clock.longest_ms(stage)});
  }
  if (const Stage last = stages_of(group).back(); !stages_[number_of(last)].address.empty()) {
    share_out(times);
  }
  return {};
}

Result<WireWriter> StageHost::probe(WireReader& in) {
  StageGroup group{};
  in(group);
  MYNAH_TRY_STATUS(check_read(in));
  ProbeReport report;
  const auto run = [&]() -> Status {
    MYNAH_TRY(report.probe, model_of(group).probe());
    return {};
  };
  MYNAH_TRY_STATUS(time_steps(group, run, report.times));
  for (ProbeTime& time : report.times) {
    if (!stages_[number_of(time.stage)].address.empty()) {
      continue;
    }
    time.step_work =
        facts_of(time.stage).probe_work(report.probe.sound_s, model_of(group).window_s());
  }
  return answer_of(report);
}

Result<WireWriter> StageHost::operations(WireReader& in) {
  std::string device;
  in(device);
  MYNAH_TRY_STATUS(check_read(in));
  // The first stage's watch: what is tried is nobody's yet.
  MYNAH_TRY(Backend * backend, open(all_stages().front(), {.device = device, .storage = {}}));
  return answer_of(run_operation_cases(*backend));
}

}  // namespace mynah::place
