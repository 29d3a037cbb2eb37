// How far a batch of recordings is: a bar on a terminal, or lines for a log.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command/stream.h"

namespace mynah::cli {

enum class ProgressStyle : uint8_t {
  Off,
  Bar,   // one line, drawn again and again; for a terminal
  Lines  // a line at every 5 percent of a recording, as whisper-cli --print-progress
};

// "0:07", "12:34", "1:02:03".
[[nodiscard]] std::string short_duration(double seconds);

// The last `most` characters, "..." before them where some are missing: the end of a path, or of a
// sentence that is being spoken, says most.
[[nodiscard]] std::string last_characters(const std::string& text, size_t most);

class Progress {
 public:
  using Clock = std::chrono::steady_clock;
  using Now = std::function<Clock::time_point()>;

  // `n_recordings` will be reported; `now` is the clock, a test's own in a test.
  Progress(OutputStream& err, ProgressStyle style, size_t n_recordings, Now now = Clock::now);

  // Seconds of a recording that are done, of how many. Draws at most ten times a second.
  void update(size_t recording, const std::string& name, double done_s,
              std::optional<double> duration_s);
  void finish(size_t recording);

  // Takes the bar off the screen, so that a line can be printed; the next update draws it again.
  void clear();

  // The bar's line, without the control codes around it.
  [[nodiscard]] std::string bar(const std::string& name, int columns) const;

 private:
  struct Recording {
    double done_s = 0;
    std::optional<double> duration_s;
    bool finished = false;
    int last_percent = 0;
  };

  void draw(const std::string& name);
  void print_line(Recording& recording);

  OutputStream& err_;
  ProgressStyle style_;
  Now now_;
  Clock::time_point begin_;
  std::optional<Clock::time_point> drawn_;
  bool on_screen_ = false;
  std::vector<Recording> recordings_;
};

}  // namespace mynah::cli
