#include "place/workers/stage_host.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include <unistd.h>

#include "place/workers/driver_asker.h"
#include "place/workers/driver_wire.h"
#include "place/workers/load_stages.h"
#include "place/workers/probe_stages.h"
#include "place/workers/watchdog.h"
#include "tensor/device_error.h"
#include "tensor/device_failure.h"
#include "text/utf8.h"

namespace mynah::place {
namespace {

Status check_read(const WireReader& in) {
  return in.done() ? Status{} : fail(ErrorCode::InvalidInput, "a request that cannot be read");
}

template <class... T>
WireWriter answer_of(const T&... values) {
  WireWriter out;
  out(values...);
  return out;
}

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

std::unexpected<Error> not_open(StageGroup group) {
  return fail(ErrorCode::InvalidInput,
              "no model of " + std::string(group_name(group)) + " is open");
}

}  // namespace

Result<WireWriter> StageHost::handle(Ask what, std::span<const std::byte> bytes,
                                     const std::stop_token& stop) {
  WireReader in(bytes);
  Result<WireWriter> answer = fail(ErrorCode::InvalidInput, "a request that nobody knows");
  switch (what) {
    case Ask::Settings:
      answer = take_settings(in);
      break;
    case Ask::OpenDetector:
      answer = open_detector(in);
      break;
    case Ask::OpenWindows:
      answer = open_windows(in);
      break;
    case Ask::OpenVoice:
      answer = open_voice(in);
      break;
    case Ask::CloseGroup:
      answer = close_group(in);
      break;
    case Ask::NewDecoder:
      answer = new_decoder(in);
      break;
    case Ask::DropDecoder:
      answer = drop_decoder(in);
      break;
    case Ask::Decode:
      answer = decode(in, stop);
      break;
    case Ask::Draft:
      answer = draft(in, stop);
      break;
    case Ask::Listen:
      answer = listen(in);
      break;
    case Ask::Probabilities:
      answer = probabilities(in);
      break;
    case Ask::Speak:
      answer = speak(in);
      break;
    case Ask::FindVoice:
      answer = find_voice(in);
      break;
    case Ask::Report:
      answer = report(in);
      break;
    case Ask::Probe:
      answer = probe(in);
      break;
    case Ask::Operations:
      answer = operations(in);
      break;
    case Ask::Driver:
      answer = ask_driver_of(in);
      break;
    case Ask::Cards:
      answer = ask_nvml_of(in);
      break;
    case Ask::Check:
      answer = check(in);
      break;
    case Ask::FullWindow:
      answer = full_window(in);
      break;
  }
  clock_.enter(std::nullopt);
  show_what_was_done();
  if (!answer && answer.error().code == ErrorCode::OutOfMemory) {
    release_idle_memory();  // what was loaded of a model that does not fit
  }
  return answer;
}

void StageHost::show_what_was_done() {
  constexpr double kMicroseconds = 1e3;
  for (const Stage stage : kStages) {
    const HostedStage& hosted = stages_[static_cast<size_t>(stage)];
    if (hosted.backend != nullptr) {
      Pulse::Done& done = pulse_.done[static_cast<size_t>(stage)];
      done.operations.store(hosted.backend->operations(), std::memory_order_relaxed);
      done.microseconds.store(static_cast<uint64_t>(kMicroseconds * clock_.milliseconds(stage)),
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
  HostedStage& hosted = stages_[static_cast<size_t>(stage)];
  if (!devices_.contains(where.device)) {
    MYNAH_TRY(OpenedDevice opened, open_device(where.device, settings_));
    devices_.emplace(where.device, std::move(opened));
  }
  hosted.device = where.device;
  hosted.watch = std::make_unique<StageWatch>(stage, pulse_, clock_);
  hosted.watch->set_faults(faults_);
  hosted.backend =
      std::make_unique<WatchedBackend>(*devices_.at(where.device).backend, hosted.watch.get());
  return hosted.backend.get();
}

void StageHost::begin_call(StageGroup group) {
  for (const Stage stage : stages_of(group)) {
    if (const auto& watch = stages_[static_cast<size_t>(stage)].watch) {
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

Result<WireWriter> StageHost::open_detector(WireReader& in) {
  DetectorFile file;
  StageDevice where;
  in(file, where);
  MYNAH_TRY_STATUS(check_read(in));
  detector_.reset();
  MYNAH_TRY(Backend * backend, open(Stage::Vad, where));
  MYNAH_TRY(detector_, load_detector(file, *backend));
  return answer_of(DetectorFacts{
      .rate_hz = detector_->rate_hz(), .frame_s = detector_->frame_s(), .name = detector_->name()});
}

Result<WireWriter> StageHost::open_windows(WireReader& in) {
  WindowsFile file;
  StageDevice encoder;
  StageDevice decoder;
  in(file, encoder, decoder);
  MYNAH_TRY_STATUS(check_read(in));
  decoders_.clear();
  windows_.reset();
  MYNAH_TRY(Backend * of_encoder, open(Stage::SttEncoder, encoder));
  MYNAH_TRY(Backend * of_decoder, open(Stage::SttDecoder, decoder));
  MYNAH_TRY(const auto opened, open_hearing(file.path));
  MYNAH_TRY(windows_,
            load_windows(*opened, file, {.backend = *of_encoder, .storage = encoder.storage},
                         {.backend = *of_decoder, .storage = decoder.storage}));
  return WireWriter();
}

Result<WireWriter> StageHost::open_voice(WireReader& in) {
  VoiceModelFile file;
  StageDevice acoustic;
  StageDevice vocoder;
  in(file, acoustic, vocoder);
  MYNAH_TRY_STATUS(check_read(in));
  voice_.reset();
  MYNAH_TRY(Backend * of_acoustic, open(Stage::TtsAcoustic, acoustic));
  MYNAH_TRY(Backend * of_vocoder, open(Stage::TtsVocoder, vocoder));
  MYNAH_TRY(voice_, load_voice(file, {.backend = *of_acoustic, .storage = acoustic.storage},
                               {.backend = *of_vocoder, .storage = vocoder.storage}));
  return answer_of(VoiceModelFacts{.name = voice_->name(),
                                   .rate_hz = voice_->rate_hz(),
                                   .voices = voice_->voices(),
                                   .most_phonemes = voice_->most_phonemes(),
                                   .phonemes = to_utf8(voice_->alphabet().characters()),
                                   .reading = voice_->reading()});
}

Result<WireWriter> StageHost::close_group(WireReader& in) {
  StageGroup group{};
  in(group);
  MYNAH_TRY_STATUS(check_read(in));
  switch (group) {
    case StageGroup::Vad:
      detector_.reset();
      break;
    case StageGroup::Stt:
      decoders_.clear();
      windows_.reset();
      break;
    case StageGroup::Tts:
      voice_.reset();
      break;
  }
  release_idle_memory();
  return WireWriter();
}

Result<WireWriter> StageHost::new_decoder(WireReader& in) {
  DecodingOptions options;
  in(options);
  MYNAH_TRY_STATUS(check_read(in));
  if (windows_ == nullptr) {
    return not_open(StageGroup::Stt);
  }
  MYNAH_TRY(auto decoder, windows_->decoder(options));
  decoders_.emplace(next_decoder_, std::move(decoder));
  return answer_of(next_decoder_++);
}

Result<WireWriter> StageHost::drop_decoder(WireReader& in) {
  uint64_t number = 0;
  in(number);
  MYNAH_TRY_STATUS(check_read(in));
  decoders_.erase(number);
  return WireWriter();
}

Result<WireWriter> StageHost::decode(WireReader& in, const std::stop_token& stop) {
  uint64_t number = 0;
  std::vector<WindowTask> tasks;
  in(number, tasks);
  MYNAH_TRY_STATUS(check_read(in));
  const auto found = decoders_.find(number);
  if (found == decoders_.end()) {
    return not_open(StageGroup::Stt);
  }
  begin_call(StageGroup::Stt);
  auto heard = found->second->decode(tasks, stop);
  if (!heard) {
    throw DeviceError(std::move(heard).error());
  }
  return answer_of(*heard, found->second->timings());
}

Result<WireWriter> StageHost::draft(WireReader& in, const std::stop_token& stop) {
  uint64_t number = 0;
  WindowTask task;
  in(number, task);
  MYNAH_TRY_STATUS(check_read(in));
  const auto found = decoders_.find(number);
  if (found == decoders_.end()) {
    return not_open(StageGroup::Stt);
  }
  begin_call(StageGroup::Stt);
  auto heard = found->second->draft(task, stop);
  if (!heard) {
    throw DeviceError(std::move(heard).error());
  }
  return answer_of(*heard);
}

Result<WireWriter> StageHost::listen(WireReader& in) {
  std::vector<std::byte> state;
  std::span<const float> samples;
  bool flush = false;
  in(state, samples, flush);
  MYNAH_TRY_STATUS(check_read(in));
  if (detector_ == nullptr) {
    return not_open(StageGroup::Vad);
  }
  begin_call(StageGroup::Vad);
  const auto session = detector_->session();
  if (!state.empty()) {
    MYNAH_TRY_STATUS(session->restore(state));
  }
  auto heard = flush ? session->flush() : session->push(samples);
  if (!heard) {
    throw DeviceError(std::move(heard).error());
  }
  MYNAH_TRY(const std::vector<std::byte> after, session->save());
  return answer_of(*heard, after);
}

Result<WireWriter> StageHost::probabilities(WireReader& in) {
  std::vector<std::span<const float>> recordings;
  in(recordings);
  MYNAH_TRY_STATUS(check_read(in));
  if (detector_ == nullptr) {
    return not_open(StageGroup::Vad);
  }
  begin_call(StageGroup::Vad);
  auto found = detector_->probabilities(recordings);
  if (!found) {
    throw DeviceError(std::move(found).error());
  }
  return answer_of(*found);
}

Result<WireWriter> StageHost::speak(WireReader& in) {
  std::vector<PhonemeWord> words;
  VoiceSettings settings;
  in(words, settings);
  MYNAH_TRY_STATUS(check_read(in));
  if (voice_ == nullptr) {
    return not_open(StageGroup::Tts);
  }
  begin_call(StageGroup::Tts);
  auto sound = voice_->speak(words, settings);
  if (!sound && is_of_device(sound.error().code)) {
    throw DeviceError(std::move(sound).error());
  }
  MYNAH_TRY(const ClauseSound clause, std::move(sound));
  return answer_of(clause);
}

Result<WireWriter> StageHost::find_voice(WireReader& in) {
  std::string name;
  in(name);
  MYNAH_TRY_STATUS(check_read(in));
  if (voice_ == nullptr) {
    return not_open(StageGroup::Tts);
  }
  MYNAH_TRY(const VoiceFacts facts, voice_->find_voice(name));
  return answer_of(facts);
}

Result<WireWriter> StageHost::report(WireReader& in) {
  MYNAH_TRY_STATUS(check_read(in));
  std::vector<StageReport> reports;
  for (const Stage stage : kStages) {
    const HostedStage& hosted = stages_[static_cast<size_t>(stage)];
    if (hosted.backend == nullptr) {
      continue;
    }
    const auto memory = hosted.backend->device_memory();
    reports.push_back({.stage = stage,
                       .device = hosted.device,
                       .architecture = hosted.backend->description(),
                       .bytes = hosted.backend->memory_held(),
                       .operations = hosted.backend->operations(),
                       .launches = hosted.backend->launches(),
                       .milliseconds = clock_.milliseconds(stage),
                       .memory_free = memory ? memory->free : 0,
                       .memory_total = memory ? memory->total : 0});
  }
  return answer_of(reports);
}

Status StageHost::time_steps(StageGroup group, FunctionRef<Status()> run,
                             std::vector<ProbeTime>& times) {
  std::array<double, kStages.size()> before{};
  for (const Stage stage : stages_of(group)) {
    before[static_cast<size_t>(stage)] = clock_.milliseconds(stage);
  }
  clock_.forget_longest();
  clock_.time_steps(true);
  const CoreWaits waits;
  MYNAH_TRY_STATUS(run());
  clock_.enter(std::nullopt);
  clock_.time_steps(false);
  const double share = waits.share_of_cores();
  for (const Stage stage : stages_of(group)) {
    times.push_back(
        {.stage = stage,
         .milliseconds = clock_.milliseconds(stage) - before[static_cast<size_t>(stage)],
         .longest_step_ms = share * clock_.longest_ms(stage)});
  }
  return {};
}

Result<WireWriter> StageHost::probe(WireReader& in) {
  StageGroup group{};
  in(group);
  MYNAH_TRY_STATUS(check_read(in));
  ProbeReport report;
  const auto run = [&]() -> Status {
    if (group == StageGroup::Vad && detector_ != nullptr) {
      MYNAH_TRY(report.probe, probe_detector(*detector_));
    } else if (group == StageGroup::Stt && windows_ != nullptr) {
      MYNAH_TRY(report.probe, windows_->probe());
    } else if (group == StageGroup::Tts && voice_ != nullptr) {
      MYNAH_TRY(report.probe, probe_voice(*voice_));
    } else {
      return not_open(group);
    }
    return {};
  };
  MYNAH_TRY_STATUS(time_steps(group, run, report.times));
  for (ProbeTime& time : report.times) {
    time.step_work =
        probe_work(time.stage, report.probe.sound_s,
                   windows_ == nullptr ? 0 : windows_->header()->facts().full_window_s);
  }
  return answer_of(report);
}

Result<WireWriter> StageHost::full_window(WireReader& in) {
  MYNAH_TRY_STATUS(check_read(in));
  if (windows_ == nullptr) {
    return not_open(StageGroup::Stt);
  }
  FullWindow window;
  const auto run = [&]() -> Status {
    MYNAH_TRY(window.memory, windows_->hear_full_window());
    return {};
  };
  MYNAH_TRY_STATUS(time_steps(StageGroup::Stt, run, window.times));
  return answer_of(window);
}

Result<WireWriter> StageHost::operations(WireReader& in) {
  std::string device;
  in(device);
  MYNAH_TRY_STATUS(check_read(in));
  // The first stage's watch: what is tried is nobody's yet.
  MYNAH_TRY(Backend * backend, open(Stage::Vad, {.device = device, .storage = {}}));
  return answer_of(run_operation_cases(*backend));
}

}  // namespace mynah::place
