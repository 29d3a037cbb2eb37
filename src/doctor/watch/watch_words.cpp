#include "doctor/watch/watch_words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstring>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace mynah::doctor {

namespace {

using Json = nlohmann::ordered_json;

// Threads that are told one by one; the others are counted.
constexpr size_t kMostTold = 4;
constexpr size_t kMostNamedCallers = 6;

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

// "0.02 s", "12.3 s".
std::string time_words(double seconds) {
  return seconds < 1 ? fmt::format("{:.2f} s", seconds) : fmt::format("{:.1f} s", seconds);
}

std::string signal_words(int signal) {
  const char* words = ::sigdescr_np(signal);
  std::string text =
      fmt::format("{}{}", signal_name(signal), words == nullptr ? "" : fmt::format(" ({})", words));
  if (signal == SIGKILL) {
    text += "; the system kills so what takes more memory than there is, see `dmesg`";
  } else if (signal == SIGTERM || signal == SIGHUP) {
    text += ", which another program sent";
  }
  return text;
}

std::string first_line(const Watched& watched) {
  const std::string time = time_words(watched.seconds);
  const std::string quiet = time_words(watched.quiet_s);
  switch (watched.end) {
    case WatchEnd::Exited:
      return fmt::format("exited {} after {}", watched.exit_code, time);
    case WatchEnd::Crashed:
      return fmt::format("crashed after {}: {}", time, signal_words(watched.signal));
    case WatchEnd::Waits:
      return fmt::format("hangs: after {} it uses no processor time, and wrote nothing for {}",
                         time, quiet);
    case WatchEnd::Spins:
      return fmt::format(
          "hangs: after {} it goes round in one place where nothing changes, and wrote nothing for "
          "{}",
          time, quiet);
    case WatchEnd::Slow:
      return fmt::format(
          "slow: after {} it still computes, or waits and computes by turns ({} of processor time "
          "so far)",
          time, time_words(watched.processor_s));
    case WatchEnd::Serves:
      return fmt::format("serves: after {} it still runs, and waits for connections on {}", time,
                         fmt::join(watched.waits_on, ", "));
    case WatchEnd::Asks:
      return fmt::format(
          "asks: after {} it still runs, waits for its standard input ({}), and wrote nothing for "
          "{}",
          time, fmt::join(watched.waits_on, ", "), quiet);
    case WatchEnd::Stopped:
      break;
  }
  const std::string why = watched.signal == SIGINT    ? " by Ctrl-C (SIGINT)"
                          : watched.signal == SIGPIPE ? ": nobody reads its output any more"
                                                      : "";
  return fmt::format("stopped after {}{}", time, why);
}

std::string what_it_does(const ThreadPlace& thread) {
  const std::string place = thread.at.library.empty() ? "" : place_words(thread.at);
  std::string text;
  if (thread.looks > 0) {
    text = fmt::format("runs {:.0f} % of the time, {} of {} looks in {}", thread.processor * 100,
                       thread.looks_here, thread.looks, place);
  } else if (!thread.system_call.empty()) {
    text = fmt::format("waits in {}{}{}", thread.system_call,
                       thread.system_call == "futex" ? ", for another thread or process" : "",
                       place.empty() ? "" : fmt::format(" ({})", place));
  } else {
    text = place.empty() ? "not to be seen" : place;
  }
  if (!thread.waits_in.empty()) {
    text += ", in the kernel's " + thread.waits_in;
  }
  return thread.state == 'D' ? text + ", and cannot be woken" : text;
}

// Where every program and every thread begins.
bool is_beginning(const CodePlace& place) {
  constexpr std::array<std::string_view, 6> kBeginnings = {
      "_start", "__libc_start_main", "__libc_init_first", "__libc_start_call_main",
      "clone3", "start_thread"};
  return std::ranges::find(kBeginnings, place.symbol) != kBeginnings.end();
}

std::string title_of(const ThreadPlace& thread) {
  const std::string name = thread.name.empty() ? std::string() : " (" + thread.name + ")";
  return thread.thread == thread.process
             ? fmt::format("process {}{}", thread.process, name)
             : fmt::format("thread {} of process {}{}", thread.thread, thread.process, name);
}

Json or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

Json json_of(const CodePlace& place) {
  if (place.library.empty()) {
    return {};
  }
  return {{"library", place.library},
          {"symbol", or_null(place.symbol)},
          {"offset", place.offset},
          {"inside", place.inside}};
}

}  // namespace

std::vector<std::string> watched_lines(const Watched& watched) {
  std::vector<std::string> lines = {first_line(watched)};
  // Where the threads of one that waits to be used stand says nothing.
  if (watched.end == WatchEnd::Serves) {
    lines.emplace_back("whether it answers was not tried; it was ended");
    return lines;
  }
  if (watched.end == WatchEnd::Asks) {
    return lines;
  }
  // Many threads of a pool wait in the same place.
  std::map<std::string, size_t> others;
  size_t told = 0;
  for (const ThreadPlace& thread : watched.threads) {
    const bool matters = thread.thread == thread.process || thread.looks > 0;
    if (!matters || told == kMostTold) {
      ++others[what_it_does(thread)];
      continue;
    }
    ++told;
    lines.push_back(fmt::format("{}: {}", title_of(thread), what_it_does(thread)));
    size_t callers = 0;
    for (const CodePlace& caller : thread.callers) {
      if (caller == thread.at || is_beginning(caller) || callers == kMostNamedCallers) {
        continue;
      }
      lines.push_back(fmt::format("  {} {}", callers == 0 ? "called, by its stack, from" : "from",
                                  place_words(caller)));
      ++callers;
    }
  }
  for (const auto& [place, count] : others) {
    lines.push_back(fmt::format("{} more thread{}: {}", count, count == 1 ? "" : "s", place));
  }
  if (!watched.traced && watched.end != WatchEnd::Exited) {
    lines.emplace_back("the system lets nobody trace it: where it is cannot be seen from outside");
  }
  return lines;
}

nlohmann::ordered_json watched_json(const Watched& watched) {
  const auto rounded = [](double value) { return std::round(value * 1000) / 1000; };
  Json threads = Json::array();
  for (const ThreadPlace& thread : watched.threads) {
    Json callers = Json::array();
    for (const CodePlace& caller : thread.callers) {
      callers.push_back(json_of(caller));
    }
    threads.push_back({{"process", thread.process},
                       {"thread", thread.thread},
                       {"name", or_null(thread.name)},
                       {"state", std::string(1, thread.state)},
                       {"system_call", or_null(thread.system_call)},
                       {"kernel_function", or_null(thread.waits_in)},
                       {"at", json_of(thread.at)},
                       {"callers", callers},
                       {"processor", rounded(thread.processor)},
                       {"looks", thread.looks},
                       {"looks_here", thread.looks_here}});
  }
  const bool exited = watched.end == WatchEnd::Exited;
  Json how;
  if (watched.end == WatchEnd::Waits) {
    how = "waits";
  } else if (watched.end == WatchEnd::Spins) {
    how = "spins";
  }
  return {{"end", end_name(watched.end)},
          {"how", how},
          {"exit_code", exited ? Json(watched.exit_code) : Json()},
          {"signal", watched.signal == 0 ? Json() : Json(signal_name(watched.signal))},
          {"seconds", rounded(watched.seconds)},
          {"waits_on", watched.waits_on},
          {"quiet_seconds", rounded(watched.quiet_s)},
          {"processor_seconds", rounded(watched.processor_s)},
          {"traced", watched.traced},
          {"threads", threads}};
}

}  // namespace mynah::doctor
