// Timers: what is to ring, and when. They are kept in a file, so that they ring, or are told to
// have been missed, after a restart.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/sqlite.h"
#include "talk/tools/zones.h"

namespace mynah::talk {

struct Timer {
  int64_t id = 0;  // as people and models name it: 1, 2 ...
  SystemSeconds due;
  std::string label;  // "tea"; may be empty
  std::string zone;   // of an alarm, which is set to a time of the clock; "": it is a timer

  [[nodiscard]] bool is_alarm() const { return !zone.empty(); }

  bool operator==(const Timer&) const = default;
};

inline constexpr size_t kMostTimers = 64;
inline constexpr size_t kMostLabelBytes = 200;
// In seconds: a year.
inline constexpr std::chrono::seconds kLongestTimer = std::chrono::hours(24) * 366;

// Any number of threads may use it, and several processes may have the same file: each of them is
// told what is due until one says that it rang.
class Timers {
 public:
  // Makes the file, for its user alone, where there is none.
  static Result<std::shared_ptr<Timers>> open(const std::string& path);

  // Busy where there are kMostTimers; InvalidInput where it is due after more than kLongestTimer,
  // or where the label is too long.
  [[nodiscard]] Result<Timer> add(const Timer& timer, SystemSeconds now);

  // Those that did not ring yet, the next one first.
  [[nodiscard]] Result<std::vector<Timer>> all();
  [[nodiscard]] Result<std::vector<Timer>> due(SystemSeconds now);

  // It rang, or is not wanted any more. False: it was not there.
  [[nodiscard]] Result<bool> remove(int64_t id);

 private:
  explicit Timers(Database database) : database_(std::move(database)) {}

  [[nodiscard]] Result<std::vector<Timer>> until(int64_t most_s);

  std::mutex mutex_;  // guards the connection: a statement is run by one thread
  Database database_;
};

// What is said when it rings, "timer 2 (tea) is over", and where that comes more than a minute
// late, since when: "alarm 1 was missed: it was set to 2026-11-30 07:30:00, ...".
[[nodiscard]] std::string ring_text(const Timer& timer, SystemSeconds now);

}  // namespace mynah::talk
