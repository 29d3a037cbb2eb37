#include "doctor/watch/watch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include <poll.h>
#include <unistd.h>

#include "doctor/watch/idle.h"

namespace mynah::doctor {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t kMostErrors = 64 << 10;
constexpr milliseconds kTick{100};
// Of the limit, the last part decides; of a long one not more than this.
constexpr milliseconds kLongestWindow{10'000};
// Of one processor: a program that waits wakes now and then, one that computes has seldom less
// than half of one.
constexpr double kWaits = 0.05;
constexpr double kComputes = 0.5;
// Between SIGTERM and SIGKILL.
constexpr milliseconds kGrace{1000};
// Until what a killed command wrote is read.
constexpr milliseconds kDrain{1000};

constexpr size_t kMostThreads = 64;  // that are described
constexpr size_t kMostRunning = 16;  // that are looked at again and again
constexpr int kLooks = 20;
constexpr milliseconds kBetweenLooks{40};
// A loop that waits for a word to change is shorter, one that computes changes its registers.
constexpr uint64_t kTightLoop = 512;
constexpr size_t kFewValues = 4;

double seconds_of(Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

// What is seen of a thread that runs, over several looks.
struct Running {
  ThreadPlace place;
  std::map<std::pair<std::string, std::string>, int> places;  // library and symbol
  std::map<std::pair<std::string, std::string>, CodePlace> first;
  uint64_t least = UINT64_MAX;
  uint64_t most = 0;
  std::vector<std::set<uint64_t>> values;  // of each register
};

class Watch {
 public:
  Watch(const WatchRequest& request, TracedChild child)
      : request_(request),
        child_(std::move(child)),
        began_(Clock::now()),
        window_(std::min(kLongestWindow, request.limit / 2)),
        last_output_(began_) {}

  Watched run() {
    while (!child_.end()) {
      pump(kTick);
      if (request_.stop.stop_requested()) {
        describe();
        watched_.end = WatchEnd::Stopped;
        break;
      }
      note_processor_time();
      if (Clock::now() - began_ >= request_.limit && judge()) {
        break;
      }
    }
    const bool by_itself = child_.end().has_value();
    const auto now = Clock::now();
    watched_.seconds = seconds_of(now - began_);
    watched_.quiet_s = seconds_of(now - last_output_);
    watched_.traced = child_.traced();
    if (by_itself) {
      note_end();
    }
    end_all();
    return std::move(watched_);
  }

 private:
  // Passes on what the command writes, and attends to what happens to it, for a while.
  void pump(milliseconds limit) {
    std::array<pollfd, 3> entries = {
        pollfd{.fd = child_.events(), .events = POLLIN, .revents = 0},
        pollfd{.fd = child_.out().get(), .events = POLLIN, .revents = 0},
        pollfd{.fd = child_.err().get(), .events = POLLIN, .revents = 0}};
    ::poll(entries.data(), entries.size(), static_cast<int>(limit.count()));
    child_.attend();
    if (entries[1].revents != 0) {
      pass_on(child_.out(), request_.out, false);
    }
    if (entries[2].revents != 0) {
      pass_on(child_.err(), request_.err, true);
    }
  }

  void pass_on(UniqueFd& from, const std::function<bool(std::string_view)>& to, bool errors) {
    std::array<char, 1 << 16> block{};
    const ssize_t got = ::read(from.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) {
      return;
    }
    if (got <= 0) {
      from.reset();
      return;
    }
    last_output_ = Clock::now();
    const std::string_view text(block.data(), static_cast<size_t>(got));
    if (errors) {
      watched_.errors += text;
      if (watched_.errors.size() > 2 * kMostErrors) {
        watched_.errors.erase(0, watched_.errors.size() - kMostErrors);
      }
    }
    if (!to(text)) {
      unread_ = true;
      from.reset();  // the command is told by its next write
    }
  }

  // Once a tick, so that the part of the last seconds can be told.
  void note_processor_time() {
    const auto now = Clock::now();
    if (!history_.empty() && now - history_.back().first < kTick) {
      return;
    }
    uint64_t total_ms = 0;
    for (const pid_t process : child_.processes()) {
      uint64_t& used = used_ms_[process];
      used = std::max(used, processor_ms_of(process));
    }
    for (const auto& [process, used] : used_ms_) {
      total_ms += used;
    }
    watched_.processor_s = static_cast<double>(total_ms) / 1000;
    history_.emplace_back(now, total_ms);
    while (history_.size() > 2 && history_[1].first <= now - window_) {
      history_.pop_front();
    }
  }

  // The part of one processor that all of it used in the window.
  [[nodiscard]] double processor() const {
    const auto& [then, before_ms] = history_.front();
    const auto& [now, after_ms] = history_.back();
    const double passed_ms = seconds_of(now - then) * 1000;
    return passed_ms <= 0 ? 0 : static_cast<double>(after_ms - before_ms) / passed_ms;
  }

  // Whether the time is over; where it is, what the command does.
  bool judge() {
    const auto now = Clock::now();
    const double used = processor();
    const bool quiet = now - last_output_ >= window_;
    // On a busy machine, what wants to compute may get no processor.
    if (used < kWaits && !wants_processor()) {
      describe();
      const auto idle = why_idle(watched_);
      if (idle || quiet) {
        watched_.end = idle ? idle->end : WatchEnd::Waits;
        watched_.waits_on = idle ? idle->waits_on : std::vector<std::string>();
        return true;
      }
    }
    if (used >= kComputes || now - began_ >= 2 * request_.limit) {
      const bool spins = describe();
      // One that looks at its doings now and then, and serves all the same.
      if (const auto idle = why_idle(watched_); idle && used < kComputes) {
        watched_.end = idle->end;
        watched_.waits_on = idle->waits_on;
        return !child_.end().has_value();
      }
      watched_.end = quiet && spins ? WatchEnd::Spins : WatchEnd::Slow;
      return !child_.end().has_value();  // it may have ended while it was looked at
    }
    return false;
  }

  [[nodiscard]] bool wants_processor() const {
    return std::ranges::any_of(child_.processes(), [](pid_t process) {
      return std::ranges::any_of(threads_of(process), [process](pid_t thread) {
        const auto view = view_thread(process, thread);
        return view && view->state == 'R';
      });
    });
  }

  CodePlaces& places_of(pid_t process) {
    const auto found = places_.find(process);
    return found != places_.end()
               ? found->second
               : places_.emplace(process, CodePlaces(mappings_of(process))).first->second;
  }

  // Every thread and where it is; whether the one that runs most goes round where nothing changes.
  bool describe() {
    watched_.threads.clear();
    places_.clear();
    std::vector<Running> running;
    for (const pid_t process : child_.processes()) {
      for (const pid_t thread : threads_of(process)) {
        const auto view = view_thread(process, thread);
        if (!view || watched_.threads.size() + running.size() >= kMostThreads) {
          continue;
        }
        ThreadPlace place;
        place.process = process;
        place.thread = thread;
        place.name = view->name;
        place.state = view->state;
        place.waits_in = view->waits_in;
        place.system_call = view->system_call;
        place.waits_for = view->waits_for;
        if (view->state == 'R' && running.size() < kMostRunning) {
          running.emplace_back().place = std::move(place);
          continue;
        }
        if (view->counter) {
          CodePlaces& places = places_of(process);
          place.at = places.at(*view->counter);
          place.callers = callers_of(process, view->stack.value_or(0), places, kMostCallers);
        }
        watched_.threads.push_back(std::move(place));
      }
    }
    const bool spins = look_again(running);
    // What runs is what matters of one that runs.
    std::ranges::stable_sort(running, std::ranges::greater(),
                             [](const Running& thread) { return thread.place.processor; });
    std::vector<ThreadPlace> threads;
    threads.reserve(running.size() + watched_.threads.size());
    for (Running& thread : running) {
      threads.push_back(std::move(thread.place));
    }
    threads.insert(threads.end(), std::make_move_iterator(watched_.threads.begin()),
                   std::make_move_iterator(watched_.threads.end()));
    watched_.threads = std::move(threads);
    return spins;
  }

  bool look_again(std::vector<Running>& running) {
    if (running.empty()) {
      return false;
    }
    std::map<pid_t, uint64_t> before_ms;
    for (const Running& thread : running) {
      const auto view = view_thread(thread.place.process, thread.place.thread);
      before_ms[thread.place.thread] = view ? view->processor_ms : 0;
    }
    const auto began = Clock::now();
    for (int look = 0; look < kLooks && !child_.end(); ++look) {
      for (Running& thread : running) {
        look_at(thread);
      }
      pump(kBetweenLooks);
    }
    const double passed_ms = seconds_of(Clock::now() - began) * 1000;
    for (Running& thread : running) {
      if (const auto view = view_thread(thread.place.process, thread.place.thread)) {
        thread.place.processor =
            static_cast<double>(view->processor_ms - before_ms[thread.place.thread]) / passed_ms;
      }
      conclude(thread);
    }
    const auto& busiest = *std::ranges::max_element(
        running, {}, [](const Running& thread) { return thread.place.processor; });
    return busiest.place.looks >= kLooks / 2 && !busiest.place.changes &&
           busiest.most - busiest.least < kTightLoop;
  }

  void look_at(Running& thread) {
    const auto registers = child_.look_at(thread.place.thread);
    if (!registers) {
      return;
    }
    CodePlaces& places = places_of(thread.place.process);
    const CodePlace place = places.at(registers->counter);
    if (thread.place.looks == 0) {
      thread.values.resize(registers->others.size());
      thread.place.callers =
          callers_of(thread.place.process, registers->stack, places, kMostCallers);
    }
    ++thread.place.looks;
    const auto key = std::pair(place.library, place.symbol);
    ++thread.places[key];
    thread.first.emplace(key, place);
    thread.least = std::min(thread.least, registers->counter);
    thread.most = std::max(thread.most, registers->counter);
    for (size_t i = 0; i < registers->others.size(); ++i) {
      thread.values[i].insert(registers->others[i]);
    }
  }

  static void conclude(Running& thread) {
    const auto usual =
        std::ranges::max_element(thread.places, {}, [](const auto& entry) { return entry.second; });
    if (usual == thread.places.end()) {
      return;
    }
    thread.place.at = thread.first.at(usual->first);
    thread.place.looks_here = usual->second;
    thread.place.changes = std::ranges::any_of(
        thread.values, [](const auto& values) { return values.size() > kFewValues; });
  }

  // Of a command that ended by itself.
  void note_end() {
    constexpr int kShellsSignal = 128;  // a shell's exit code of a command that a signal ended
    const ProcessEnd& end = *child_.end();
    watched_.end = end.signal == 0 ? WatchEnd::Exited : WatchEnd::Crashed;
    watched_.exit_code = end.exit_code;
    watched_.signal = end.signal;
    // A command of a moment was not looked at before.
    watched_.processor_s = std::max(watched_.processor_s, child_.processor_s());
    watched_.threads.clear();
    const auto& fatal = child_.fatal();
    if (fatal && end.signal == 0 && end.exit_code == kShellsSignal + fatal->signal) {
      watched_.end = WatchEnd::Crashed;
      watched_.signal = fatal->signal;
    }
    // These are others' doings: Ctrl-C, and `| head`.
    if (watched_.signal == SIGINT || (watched_.signal == SIGPIPE && unread_)) {
      watched_.end = WatchEnd::Stopped;
    }
    if (fatal && watched_.end != WatchEnd::Exited && watched_.signal == fatal->signal) {
      ThreadPlace place;
      place.process = fatal->process;
      place.thread = fatal->thread;
      place.at = fatal->at;
      place.callers = fatal->callers;
      watched_.threads = {std::move(place)};
    }
  }

  // Ends what is left, at first as one would ask it to, and reads what was written.
  void end_all() {
    if (!child_.processes().empty()) {
      child_.kill(SIGTERM);
      const auto until = Clock::now() + kGrace;
      while (!child_.processes().empty() && Clock::now() < until) {
        pump(milliseconds(10));
      }
      child_.kill(SIGKILL);
    }
    const auto until = Clock::now() + kDrain;
    while ((child_.out() || child_.err()) && Clock::now() < until) {
      pump(milliseconds(10));
    }
    watched_.errors.erase(0,
                          watched_.errors.size() - std::min(watched_.errors.size(), kMostErrors));
  }

  const WatchRequest& request_;
  TracedChild child_;
  Clock::time_point began_;
  milliseconds window_;
  Clock::time_point last_output_;
  bool unread_ = false;  // nobody takes what it writes any more
  std::map<pid_t, uint64_t> used_ms_;
  std::deque<std::pair<Clock::time_point, uint64_t>> history_;
  std::map<pid_t, CodePlaces> places_;
  Watched watched_;
};

}  // namespace

std::string_view end_name(WatchEnd end) {
  switch (end) {
    case WatchEnd::Exited:
      return "exited";
    case WatchEnd::Crashed:
      return "crashed";
    case WatchEnd::Waits:
    case WatchEnd::Spins:
      return "hangs";
    case WatchEnd::Slow:
      return "slow";
    case WatchEnd::Serves:
      return "serves";
    case WatchEnd::Asks:
      return "asks";
    case WatchEnd::Stopped:
      break;
  }
  return "stopped";
}

Result<Watched> watch(const WatchRequest& request) {
  MYNAH_TRY(TracedChild child, TracedChild::start(request.command));
  return Watch(request, std::move(child)).run();
}

}  // namespace mynah::doctor
