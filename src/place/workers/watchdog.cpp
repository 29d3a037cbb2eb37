#include "place/workers/watchdog.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>

namespace mynah::place {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Whoever stops a process for a moment, as a debugger does, goes on with it within this.
constexpr milliseconds kStopped{1000};

// A process that runs at all beats five hundred times in this. No driver keeps it from beating, but
// a machine can: where the core that is to wake it was taken away, as from a virtual machine, it
// looks asleep.
constexpr milliseconds kSilence{10000};

// Signs of life may be so far apart: what its threads waited is read when they stay away longer,
// since that takes a part of a millisecond of a core which the worker could use.
constexpr milliseconds kUsual = 5 * kBeat;

// Of the time between two looks no more than this counts: the rest the watcher itself was away.
constexpr milliseconds kLongestLook = 3 * kBeat;

}  // namespace

std::optional<ThreadTimes> read_thread_times(pid_t process, pid_t thread) {
  const std::string folder = fmt::format("/proc/{}/task/{}", process, thread);
  std::ifstream stat(folder + "/stat");
  std::string line;
  if (!std::getline(stat, line)) {
    return std::nullopt;
  }
  ThreadTimes times;
  // proc(5): the name stands in brackets and may hold any characters; the state follows it.
  const size_t name_end = line.rfind(')');
  if (name_end != std::string::npos && name_end + 2 < line.size()) {
    times.state = line[name_end + 2];
  }
  // Documentation/scheduler/sched-stats.rst: nanoseconds on a core, then waiting for one.
  std::ifstream schedule(folder + "/schedstat");
  int64_t ran = 0;
  int64_t waited = 0;
  if (schedule >> ran >> waited) {
    times.waited_to_run = nanoseconds(waited);
  }
  return times;
}

std::map<pid_t, ThreadTimes> read_process_times(pid_t process) {
  std::map<pid_t, ThreadTimes> all;
  std::error_code error;
  const std::filesystem::directory_iterator threads(fmt::format("/proc/{}/task", process), error);
  for (auto entry = threads; !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    const pid_t thread = std::atoi(entry->path().filename().c_str());
    if (const auto times = read_thread_times(process, thread)) {
      all.emplace(thread, *times);
    }
  }
  return all;
}

WaitedShare::WaitedShare(pid_t process, WatchdogSenses senses)
    : process_(process),
      senses_(std::move(senses)),
      begin_(senses_.now()),
      before_(senses_.times(process)) {}

double WaitedShare::until_now() const {
  nanoseconds longest{};
  for (const auto& [thread, times] : senses_.times(process_)) {
    const auto known = before_.find(thread);
    const nanoseconds before = known == before_.end() ? nanoseconds{} : known->second.waited_to_run;
    longest = std::max(longest, times.waited_to_run - before);
  }
  const std::chrono::duration<double> passed = senses_.now() - begin_;
  return passed.count() > 0 ? std::min(1.0, std::chrono::duration<double>(longest) / passed) : 0.0;
}

Watchdog::Watchdog(pid_t process, const Pulse& pulse, const StepLimit& step, WatchdogSenses senses)
    : process_(process),
      pulse_(pulse),
      step_(step),
      senses_(std::move(senses)),
      last_look_(senses_.now()),
      beats_{.seen = pulse.beats.load(), .counted = {}},
      steps_{.seen = pulse.steps.load(), .counted = {}} {}

Watchdog::Waits Watchdog::read_waits() {
  Waits waits;
  for (const auto& [thread, times] : senses_.times(process_)) {
    const auto known = waited_.try_emplace(thread, times.waited_to_run).first;
    const nanoseconds waited = times.waited_to_run - known->second;
    known->second = times.waited_to_run;
    waits.longest = std::max(waits.longest, waited);
    if (thread == pulse_.beat_thread.load()) {
      waits.beating = waited;
      // It does nothing but beat: where it does not while it could run, others have the cores.
      waits.starved = times.state == 'R';
    }
    // A signal stops all threads at once, also before the one that beats has begun to.
    waits.stopped = waits.stopped || times.state == 'T' || times.state == 't';
  }
  if (pulse_.beat_thread.load() == 0) {
    waits.beating = waits.longest;
  }
  return waits;
}

// A thread that waits for a core is told of when it gets one: it may then have waited longer than
// since the last look, and what was counted meanwhile is taken back.
void Watchdog::Silence::count(uint64_t now_seen, nanoseconds could_move) {
  counted = now_seen == seen ? std::max(counted + could_move, nanoseconds{}) : nanoseconds{};
  seen = now_seen;
}

std::optional<std::string> Watchdog::look(std::string_view where) {
  const auto now = senses_.now();
  nanoseconds passed = std::min<nanoseconds>(now - last_look_, kLongestLook);
  last_look_ = now;
  Waits waits;
  if (!looked_) {
    // What they waited before is not known: the time counts from here on.
    read_waits();
    passed = {};
    looked_ = true;
  } else if (std::max(beats_.counted, steps_.counted) >= kUsual) {
    waits = read_waits();
  }
  stopped_ = waits.stopped ? stopped_ + passed : nanoseconds{};
  beats_.count(pulse_.beats.load(), waits.starved ? nanoseconds{} : passed - waits.beating);
  // Who has the turn is watched by his own call.
  const bool rests = pulse_.rests.load() != 0;
  steps_.count(pulse_.steps.load(), rests ? nanoseconds{} : passed - waits.longest);
  if (stopped_ > kStopped) {
    return fmt::format("was stopped, and stayed so,{} for {} ms", where,
                       duration_cast<milliseconds>(stopped_).count());
  }
  if (beats_.counted > kSilence) {
    return fmt::format("gave no sign of life{} for {} ms", where,
                       duration_cast<milliseconds>(beats_.counted).count());
  }
  if (const milliseconds allowed = step_.of(stage_of(pulse_)); steps_.counted > allowed) {
    return fmt::format("hung{}: no step in {} ms, {} are allowed", where,
                       duration_cast<milliseconds>(steps_.counted).count(), allowed.count());
  }
  return std::nullopt;
}

}  // namespace mynah::place
