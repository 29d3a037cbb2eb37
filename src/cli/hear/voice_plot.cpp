// The picture of `mynah vad --plot`.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "cli/hear/voice_report.h"

namespace mynah::cli {

namespace {

// All in pixels.
constexpr double kWidth = 1200;
constexpr double kLeft = 46;
constexpr double kRight = 14;
constexpr double kTitle = 30;
constexpr double kWave = 120;
constexpr double kGap = 10;
constexpr double kCurve = 90;
constexpr double kAxis = 30;
constexpr double kPanel = kTitle + kWave + kGap + kCurve + kAxis;
constexpr double kPlotWidth = kWidth - kLeft - kRight;

constexpr std::string_view kStyle =
    "text{font:12px sans-serif;fill:#333}.title{font-weight:bold}.speech{fill:#2a9d5c;"
    "fill-opacity:.22}.wave{fill:#35608d}.curve{fill:none;stroke:#c0392b;stroke-width:1.2}"
    ".line{stroke:#999;stroke-width:.6}.threshold{stroke:#c0392b;stroke-width:.7;"
    "stroke-dasharray:4 3}";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    }
  }
  return out;
}

// A step of the time axis that is easy to read: 1, 2 or 5 times a power of ten, or minutes.
double tick_step(double duration_s) {
  for (const double step :
       {0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0}) {
    if (duration_s / step <= 16) {
      return step;
    }
  }
  return 7200;
}

class Panel {
 public:
  Panel(const VoiceReport& report, double top, float threshold, std::string& out)
      : report_(report), top_(top), threshold_(threshold), out_(out) {}

  void draw() {
    text(kLeft, top_ + 19, "title", summary(report_));
    segments();
    wave();
    curve();
    axis();
  }

 private:
  [[nodiscard]] double x(double time_s) const {
    return kLeft + kPlotWidth * (time_s - report_.start_s) / std::max(report_.duration_s, 1e-3);
  }

  [[nodiscard]] double wave_middle() const { return top_ + kTitle + kWave / 2; }

  [[nodiscard]] double curve_y(double probability) const {
    return top_ + kTitle + kWave + kGap + kCurve * (1 - probability);
  }

  void text(double at_x, double at_y, std::string_view style, const std::string& what) {
    fmt::format_to(std::back_inserter(out_),
                   "<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", style, at_x, at_y,
                   escaped(what));
  }

  void line(std::string_view style, double x1, double y1, double x2, double y2) {
    fmt::format_to(std::back_inserter(out_),
                   "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                   style, x1, y1, x2, y2);
  }

  void segments() {
    for (const SpeechSpan& span : report_.spans) {
      fmt::format_to(std::back_inserter(out_),
                     "<rect class=\"speech\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" "
                     "height=\"{:.1f}\"><title>{:.3f} to {:.3f} s</title></rect>\n",
                     x(span.start_s), top_ + kTitle, x(span.end_s) - x(span.start_s),
                     kWave + kGap + kCurve, span.start_s, span.end_s);
    }
  }

  // Calls fn(first, last + 1, x) for the frames that fall on each pixel, at least one each.
  template <class Fn>
  void for_columns(size_t frames, Fn fn) const {
    const size_t step = std::max<size_t>(1, frames / static_cast<size_t>(kPlotWidth));
    for (size_t first = 0; first < frames; first += step) {
      const double middle_s =
          (static_cast<double>(first) + static_cast<double>(step) / 2) * report_.frame_s;
      fn(first, std::min(first + step, frames),
         std::min(x(report_.start_s + middle_s), kLeft + kPlotWidth));
    }
  }

  void wave() {
    std::string above;
    std::string below;
    for_columns(report_.peaks.size(), [&](size_t first, size_t last, double at) {
      FramePeaks peaks;
      for (size_t i = first; i < last; ++i) {
        peaks.low = std::min(peaks.low, report_.peaks[i].low);
        peaks.high = std::max(peaks.high, report_.peaks[i].high);
      }
      above += fmt::format("{:.1f},{:.1f} ", at, wave_middle() - peaks.high * kWave / 2);
      below = fmt::format("{:.1f},{:.1f} ", at, wave_middle() - peaks.low * kWave / 2) + below;
    });
    fmt::format_to(std::back_inserter(out_), "<polygon class=\"wave\" points=\"{}{}\"/>\n", above,
                   below);
    line("line", kLeft, wave_middle(), kLeft + kPlotWidth, wave_middle());
  }

  void curve() {
    std::string points;
    for_columns(report_.probabilities.size(), [&](size_t first, size_t last, double at) {
      const float highest =
          *std::max_element(report_.probabilities.begin() + static_cast<ptrdiff_t>(first),
                            report_.probabilities.begin() + static_cast<ptrdiff_t>(last));
      points += fmt::format("{:.1f},{:.1f} ", at, curve_y(highest));
    });
    for (const double probability : {0.0, 1.0}) {
      line("line", kLeft, curve_y(probability), kLeft + kPlotWidth, curve_y(probability));
      text(kLeft - 14, curve_y(probability) + 4, "scale", fmt::format("{:.0f}", probability));
    }
    line("threshold", kLeft, curve_y(threshold_), kLeft + kPlotWidth, curve_y(threshold_));
    text(4, curve_y(threshold_) + 4, "scale", fmt::format("{:.2f}", threshold_));
    fmt::format_to(std::back_inserter(out_), "<polyline class=\"curve\" points=\"{}\"/>\n", points);
  }

  void axis() {
    const double step = tick_step(report_.duration_s);
    const double bottom = curve_y(0);
    const auto first = static_cast<int64_t>(std::ceil(report_.start_s / step));
    for (int64_t i = first; static_cast<double>(i) * step <= report_.start_s + report_.duration_s;
         ++i) {
      const double time_s = static_cast<double>(i) * step;
      line("line", x(time_s), bottom, x(time_s), bottom + 4);
      text(x(time_s) - 8, bottom + 17, "scale", fmt::format("{:g} s", time_s));
    }
  }

  const VoiceReport& report_;
  double top_;
  float threshold_;
  std::string& out_;
};

}  // namespace

std::string plot_svg(const std::vector<VoiceReport>& reports, float threshold) {
  const double height = kPanel * static_cast<double>(std::max<size_t>(1, reports.size()));
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n<style>{2}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      kWidth, height, kStyle);
  double top = 0;
  for (const VoiceReport& report : reports) {
    Panel(report, top, threshold, out).draw();
    top += kPanel;
  }
  return out + "</svg>\n";
}

}  // namespace mynah::cli
