#include "cli/files/progress.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "text/utf8.h"

namespace mynah::cli {

namespace {

constexpr std::chrono::milliseconds kBetweenDraws{100};
constexpr int kBarWidth = 24;
constexpr int kPercentStep = 5;  // whisper-cli's progress_step

}  // namespace

std::string short_duration(double seconds) {
  const auto whole = static_cast<int64_t>(std::max(0.0, std::round(seconds)));
  if (whole < 3600) {
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
  }
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string last_characters(const std::string& text, size_t most) {
  const std::u32string characters = to_code_points(text);
  if (characters.size() <= most) {
    return text;
  }
  if (most < 4) {
    return {};
  }
  return "..." + to_utf8(std::u32string_view(characters).substr(characters.size() - most + 3));
}

Progress::Progress(OutputStream& err, ProgressStyle style, size_t n_recordings, Now now)
    : err_(err), style_(style), now_(std::move(now)), begin_(now_()), recordings_(n_recordings) {}

void Progress::update(size_t recording, const std::string& name, double done_s,
                      std::optional<double> duration_s) {
  Recording& state = recordings_[recording];
  state.done_s = done_s;
  state.duration_s = duration_s;
  if (style_ == ProgressStyle::Lines) {
    print_line(state);
  } else if (style_ == ProgressStyle::Bar) {
    draw(name);
  }
}

void Progress::finish(size_t recording) {
  recordings_[recording].finished = true;
  clear();
}

void Progress::clear() {
  if (on_screen_) {
    err_.write("\r\033[K");
    err_.flush();
    on_screen_ = false;
    drawn_.reset();
  }
}

std::string Progress::bar(const std::string& name, int columns) const {
  double done_s = 0;
  double fraction = 0;
  double known_s = 0;
  size_t finished = 0;
  bool all_known = true;
  for (const Recording& recording : recordings_) {
    done_s += recording.done_s;
    finished += recording.finished ? 1 : 0;
    all_known = all_known && (recording.duration_s || recording.finished);
    known_s += recording.finished ? recording.done_s : recording.duration_s.value_or(0);
    if (recording.finished) {
      fraction += 1;
    } else if (recording.duration_s && *recording.duration_s > 0) {
      fraction += std::min(1.0, recording.done_s / *recording.duration_s);
    }
  }
  fraction /= static_cast<double>(std::max<size_t>(1, recordings_.size()));
  if (all_known && known_s > 0) {
    fraction = std::min(1.0, done_s / known_s);  // by length, where all lengths are known
  }
  const double elapsed_s = std::chrono::duration<double>(now_() - begin_).count();
  const auto filled = static_cast<int>(fraction * kBarWidth);
  std::string line =
      fmt::format("[{}{}] {:3.0f} %", std::string(static_cast<size_t>(filled), '#'),
                  std::string(static_cast<size_t>(kBarWidth - filled), '.'), fraction * 100);
  if (elapsed_s > 0) {
    line += fmt::format("  {:.1f}x", done_s / elapsed_s);
  }
  if (fraction > 0) {
    line += fmt::format("  {} left", short_duration(elapsed_s * (1 - fraction) / fraction));
  }
  if (recordings_.size() > 1) {
    line += fmt::format("  {}/{}", std::min(finished + 1, recordings_.size()), recordings_.size());
  }
  const auto room = static_cast<size_t>(std::max(0, columns - 1));
  if (line.size() + 2 < room) {
    line += "  " + last_characters(name, room - line.size() - 2);
  }
  return line;
}

void Progress::draw(const std::string& name) {
  const auto now = now_();
  if (drawn_ && now - *drawn_ < kBetweenDraws) {
    return;
  }
  drawn_ = now;
  on_screen_ = true;
  err_.write("\r\033[K" + bar(name, err_.columns()));
  err_.flush();
}

void Progress::print_line(Recording& recording) {
  if (!recording.duration_s || *recording.duration_s <= 0) {
    return;
  }
  const int percent =
      static_cast<int>(100 * std::min(1.0, recording.done_s / *recording.duration_s));
  while (percent >= recording.last_percent + kPercentStep) {
    recording.last_percent += kPercentStep;
    err_.line(fmt::format("progress = {:3}%", recording.last_percent));
  }
  err_.flush();
}

}  // namespace mynah::cli
