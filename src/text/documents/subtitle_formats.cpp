#include "text/documents/subtitle_formats.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/ascii.h"
#include "text/documents/tags.h"

namespace mynah {
namespace {

constexpr std::string_view kScript = "[Script Info]";
// How a file of TTML begins.
constexpr std::string_view kXml = "<?xml";
constexpr std::string_view kRoot = "<tt";
constexpr std::string_view kSsml = "<speak";
// Where an XML file's root must stand, beside its declaration and comments.
constexpr size_t kMostProlog = 2000;
// Beyond a week nothing is a time.
constexpr double kMostSeconds = 7 * 24 * 3600;

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  text.remove_prefix(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
  const size_t begin = text.find_first_not_of(kAsciiSpace);
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find_first_of("\r\n"), text.size());
  const std::string_view line = text.substr(0, end);
  const size_t taken = text.substr(end).starts_with("\r\n") ? end + 2 : end + 1;
  text.remove_prefix(std::min(taken, text.size()));
  return trimmed(line);
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && is_ascii_digit(text.front()) ? std::optional(value) : std::nullopt;
}

// "0:00:01.50", "00:00:01:12" with frames, "00:01.5".
std::optional<double> clock_time(std::string_view text, double frames = 0) {
  double seconds = 0;
  int parts = 0;
  while (!text.empty()) {
    const size_t colon = std::min(text.find(':'), text.size());
    const auto value = number(text.substr(0, colon));
    if (!value || ++parts > (frames > 0 ? 4 : 3)) {
      return std::nullopt;
    }
    seconds = parts == 4 ? seconds + *value / frames : seconds * 60 + *value;
    text.remove_prefix(std::min(colon + 1, text.size()));
  }
  return parts < 2 || seconds > kMostSeconds ? std::nullopt : std::optional(seconds);
}

// The fields that a line has before its last.
std::vector<std::string_view> fields_of(std::string_view line, size_t most) {
  std::vector<std::string_view> fields;
  while (fields.size() + 1 < most && line.contains(',')) {
    fields.push_back(trimmed(line.substr(0, line.find(','))));
    line.remove_prefix(line.find(',') + 1);
  }
  fields.push_back(trimmed(line));
  return fields;
}

// A text of SubStation in lines, without what stands in braces; none of a drawing.
std::vector<std::string> substation_lines(std::string_view text) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const size_t close = text.front() == '{' ? text.find('}') : std::string_view::npos;
    if (close != std::string_view::npos) {
      const std::string_view marks = text.substr(0, close);
      const size_t drawing = marks.find("\\p");
      const bool draws = drawing != std::string_view::npos && drawing + 2 < marks.size() &&
                         marks[drawing + 2] >= '1' && marks[drawing + 2] <= '9';
      if (draws) {
        return {};
      }
      text.remove_prefix(close + 1);
    } else if (text.starts_with("\\N") || text.starts_with("\\n")) {
      lines.emplace_back();
      text.remove_prefix(2);
    } else {
      lines.back() += text.front();
      text.remove_prefix(1);
    }
  }
  return lines;
}

std::vector<TimedLines> read_substation(std::string_view text) {
  // Of v4+, which a file names again above its events.
  std::vector<std::string_view> names = {"Layer",   "Start",   "End",     "Style",  "Name",
                                         "MarginL", "MarginR", "MarginV", "Effect", "Text"};
  const auto place = [&](std::string_view name) {
    return static_cast<size_t>(std::ranges::find(names, name) - names.begin());
  };
  std::vector<TimedLines> cues;
  bool events = false;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    constexpr std::string_view kFormat = "Format:";
    constexpr std::string_view kDialogue = "Dialogue:";
    if (line.starts_with('[')) {
      events = line == "[Events]";
    } else if (events && line.starts_with(kFormat)) {
      constexpr size_t kMostFields = 40;
      names = fields_of(line.substr(kFormat.size()), kMostFields);
    } else if (events && line.starts_with(kDialogue)) {
      const std::vector<std::string_view> fields =
          fields_of(line.substr(kDialogue.size()), names.size());
      const size_t first = place("Start");
      const size_t last = place("End");
      if (fields.size() < names.size() || first >= fields.size() || last >= fields.size()) {
        continue;
      }
      const auto start = clock_time(fields[first]);
      const auto end = clock_time(fields[last]);
      std::vector<std::string> lines = substation_lines(fields.back());
      const bool layer =
          start && !cues.empty() && cues.back().start_s == *start && cues.back().lines == lines;
      if (start && end && !lines.empty() && !layer) {
        cues.push_back({.start_s = *start, .end_s = *end, .lines = std::move(lines)});
      }
    }
  }
  return cues;
}

std::vector<TimedLines> read_subviewer(std::string_view text) {
  std::vector<TimedLines> cues;
  bool open = false;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const size_t comma = line.find(',');
    const auto start = clock_time(line.substr(0, comma));
    const auto end =
        comma == std::string_view::npos ? std::nullopt : clock_time(line.substr(comma + 1));
    if (start && end) {
      cues.push_back({.start_s = *start, .end_s = *end, .lines = {}});
      open = true;
    } else if (line.empty()) {
      open = false;
    } else if (open) {
      cues.back().lines.emplace_back(line);
    }
  }
  return cues;
}

class TimedTextReader {
 public:
  explicit TimedTextReader(std::string_view text) : tags_(text) {}

  std::vector<TimedLines> read() {
    while (const auto tag = tags_.next()) {
      if (tag->kind == Tag::Kind::Open) {
        open(*tag);
      } else if (tag->kind == Tag::Kind::Close) {
        close(tag->name);
      } else if (in_p_) {
        std::string text = tag->text;
        std::ranges::replace(text, '\n', ' ');
        cue_.lines.back() += text;
      }
    }
    end_cue();
    return std::move(cues_);
  }

 private:
  struct Around {
    std::string name;
    double begin_s = 0;
  };

  void open(const Tag& tag) {
    const double around = around_.empty() ? 0 : around_.back().begin_s;
    const auto begin = time(tag.attribute("begin"));
    const auto end = time(tag.attribute("end"));
    const auto length = time(tag.attribute("dur"));
    const double from = around + begin.value_or(0);
    const double to = end ? around + *end : from + length.value_or(0);
    if (tag.name == "tt") {
      frames_ = number(tag.attribute("ttp:framerate")).value_or(frames_);
      ticks_ = number(tag.attribute("ttp:tickrate")).value_or(ticks_);
    }
    if (tag.name == "p" && !tag.closed) {
      end_cue();
      in_p_ = true;
      cue_.lines = {std::string()};
    }
    if (in_p_ && tag.name == "br") {
      cue_.lines.emplace_back();
    }
    // A line's own times, or those of what it holds.
    if (in_p_ && (begin || end || length)) {
      cue_.start_s = timed_ ? std::min(cue_.start_s, from) : from;
      cue_.end_s = timed_ ? std::max(cue_.end_s, to) : to;
      timed_ = true;
    }
    constexpr size_t kDeepest = 64;
    if (!tag.closed && around_.size() < kDeepest) {
      around_.push_back({.name = tag.name, .begin_s = from});
    }
  }

  void close(const std::string& name) {
    const auto last = std::ranges::find(around_.rbegin(), around_.rend(), name, &Around::name);
    if (last != around_.rend()) {
      around_.erase(std::prev(last.base()), around_.end());
    }
    if (name == "p") {
      end_cue();
    }
  }

  void end_cue() {
    if (in_p_ && timed_) {
      cues_.push_back(std::move(cue_));
    }
    cue_ = {};
    in_p_ = false;
    timed_ = false;
  }

  // "00:00:01.5", "00:00:01:12", "1.5s", "500ms", "30f", "10000t".
  [[nodiscard]] std::optional<double> time(std::string_view text) const {
    if (text.contains(':')) {
      return clock_time(text, frames_);
    }
    const size_t unit_at = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto value = number(text.substr(0, unit_at));
    const std::string_view unit = text.substr(unit_at);
    const double factor = unit == "h"    ? 3600
                          : unit == "m"  ? 60
                          : unit == "s"  ? 1
                          : unit == "ms" ? 1e-3
                          : unit == "f"  ? 1 / frames_
                          : unit == "t"  ? 1 / ticks_
                                         : 0;
    return value && factor > 0 && *value * factor <= kMostSeconds ? std::optional(*value * factor)
                                                                  : std::nullopt;
  }

  TagReader tags_;
  std::vector<Around> around_;
  std::vector<TimedLines> cues_;
  TimedLines cue_;
  bool in_p_ = false;
  bool timed_ = false;
  double frames_ = 30;  // a second, where the file names none
  double ticks_ = 1;
};

bool is_subviewer(std::string_view text) {
  const std::string_view line = take_line(text);
  const size_t comma = line.find(',');
  return comma != std::string_view::npos && std::ranges::count(line, ':') == 4 &&
         clock_time(line.substr(0, comma)) && clock_time(line.substr(comma + 1));
}

}  // namespace

std::optional<SubtitleFormat> other_subtitle_format(std::string_view text) {
  text = without_mark(text);
  if (text.starts_with(kScript)) {
    return SubtitleFormat::SubStation;
  }
  if (is_subviewer(text)) {
    return SubtitleFormat::SubViewer;
  }
  if (!text.starts_with(kXml) && !text.starts_with(kRoot)) {
    return std::nullopt;
  }
  TagReader tags(text.substr(0, kMostProlog));
  while (const auto tag = tags.next()) {
    if (tag->kind == Tag::Kind::Open) {
      const bool timed =
          tag->name == "tt" && std::ranges::any_of(tag->attributes, [](const auto& attribute) {
            return attribute.first.starts_with("xmlns") &&
                   (attribute.second.contains("ttml") || attribute.second.contains("ttaf1"));
          });
      const bool ssml = text.substr(0, tags.position()).contains(kSsml);
      return timed && !ssml ? std::optional(SubtitleFormat::TimedText) : std::nullopt;
    }
    if (tag->kind != Tag::Kind::Text || !trimmed(tag->text).empty()) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

bool may_be_other_subtitles(std::string_view text) {
  text = without_mark(text);
  if (kScript.starts_with(text) || kXml.starts_with(text) || kRoot.starts_with(text)) {
    return true;
  }
  // An XML file's root is not there yet.
  return text.size() < kMostProlog && (text.starts_with(kXml) || text.starts_with(kRoot)) &&
         !other_subtitle_format(text) && !text.contains(kSsml);
}

std::vector<TimedLines> read_timed_lines(std::string_view text, SubtitleFormat format) {
  text = without_mark(text);
  return format == SubtitleFormat::SubStation  ? read_substation(text)
         : format == SubtitleFormat::TimedText ? TimedTextReader(text).read()
                                               : read_subviewer(text);
}

}  // namespace mynah
