#include "talk/tools/timers.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

namespace mynah::talk {

namespace {

constexpr const char* kTimersTable =
    "CREATE TABLE IF NOT EXISTS timers (id INTEGER PRIMARY KEY, due_s INTEGER NOT NULL, "
    "label TEXT NOT NULL, zone TEXT NOT NULL);";

}  // namespace

Result<std::shared_ptr<Timers>> Timers::open(const std::string& path) {
  MYNAH_TRY(Database database, Database::open(path));
  // Another process may be writing.
  MYNAH_TRY_STATUS(database.execute("PRAGMA busy_timeout = 5000;"));
  MYNAH_TRY_STATUS(database.execute(kTimersTable));
  return std::shared_ptr<Timers>(new Timers(std::move(database)));
}

Result<Timer> Timers::add(const Timer& timer, SystemSeconds now) {
  if (timer.label.size() > kMostLabelBytes) {
    return fail(ErrorCode::InvalidInput, fmt::format("wanted a label of at most {} bytes, found {}",
                                                     kMostLabelBytes, timer.label.size()));
  }
  if (timer.due <= now || timer.due - now > kLongestTimer) {
    return fail(ErrorCode::InvalidInput, "wanted a time to come, within a year");
  }
  const std::scoped_lock lock(mutex_);
  Timer added = timer;
  MYNAH_TRY_STATUS(database_.in_transaction([&]() -> Status {
    MYNAH_TRY(Statement counting,
              database_.prepare("SELECT COUNT(*), COALESCE(MAX(id), 0) FROM timers"));
    MYNAH_TRY(const bool counted, counting.step());
    if (counted && std::cmp_greater_equal(counting.integer(0), kMostTimers)) {
      return fail(ErrorCode::Busy, fmt::format("there are {} timers and alarms already: wanted one "
                                               "of them cancelled first",
                                               kMostTimers));
    }
    added.id = counting.integer(1) + 1;
    MYNAH_TRY(Statement adding, database_.prepare("INSERT INTO timers VALUES (?, ?, ?, ?)"));
    return adding.bind(added.id)
        .bind(static_cast<int64_t>(added.due.time_since_epoch().count()))
        .bind(std::string_view(added.label))
        .bind(std::string_view(added.zone))
        .run();
  }));
  return added;
}

Result<std::vector<Timer>> Timers::until(int64_t most_s) {
  const std::scoped_lock lock(mutex_);
  MYNAH_TRY(Statement reading,
            database_.prepare("SELECT id, due_s, label, zone FROM timers WHERE due_s <= ? ORDER BY "
                              "due_s, id"));
  reading.bind(most_s);
  std::vector<Timer> timers;
  for (;;) {
    MYNAH_TRY(const bool there, reading.step());
    if (!there) {
      return timers;
    }
    timers.push_back({.id = reading.integer(0),
                      .due = SystemSeconds(std::chrono::seconds(reading.integer(1))),
                      .label = reading.text(2),
                      .zone = reading.text(3)});
  }
}

Result<std::vector<Timer>> Timers::all() {
  return until(std::numeric_limits<int64_t>::max());
}

Result<std::vector<Timer>> Timers::due(SystemSeconds now) {
  return until(now.time_since_epoch().count());
}

Result<bool> Timers::remove(int64_t id) {
  const std::scoped_lock lock(mutex_);
  MYNAH_TRY(Statement removing, database_.prepare("DELETE FROM timers WHERE id = ?"));
  MYNAH_TRY_STATUS(removing.bind(id).run());
  return database_.changed() > 0;
}

std::string ring_text(const Timer& timer, SystemSeconds now) {
  constexpr std::chrono::seconds kLate{60};
  const std::string what =
      fmt::format("{} {}{}", timer.is_alarm() ? "alarm" : "timer", timer.id,
                  timer.label.empty() ? std::string() : fmt::format(" ({})", timer.label));
  if (now - timer.due <= kLate) {
    return fmt::format("{} {}", what, timer.is_alarm() ? "rings" : "is over");
  }
  const auto when = time_in_zone(timer.due, timer.is_alarm() ? timer.zone : "Etc/UTC");
  return fmt::format("{} was missed: it was due at {}", what,
                     when ? *when : fmt::format("{} s", timer.due.time_since_epoch().count()));
}

}  // namespace mynah::talk
