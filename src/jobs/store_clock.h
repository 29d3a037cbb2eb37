// StoreClock: the time of day, but never earlier than it was: a clock that is set back neither
// reorders what is kept nor makes it expire, nor does one that is set forward while mynah runs.
#pragma once

#include <cstdint>
#include <functional>

namespace mynah::jobs {

// Where times come from, in milliseconds.
struct TimeSources {
  std::function<int64_t()> of_day;    // since 1970, as the system's clock has it
  std::function<int64_t()> since_up;  // what passed, asleep too; nobody sets it

  // The system's.
  static TimeSources of_system();
};

class StoreClock {
 public:
  // `last_ms`: the latest time that it gave in the process before; 0: none.
  StoreClock(TimeSources sources, int64_t last_ms);

  // Milliseconds since 1970.
  [[nodiscard]] int64_t now_ms() const;

 private:
  TimeSources sources_;
  int64_t begin_ms_;
  int64_t begin_since_up_ms_;
};

}  // namespace mynah::jobs
