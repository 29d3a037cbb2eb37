#include "text/documents/subtitles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "text/documents/cue_descriptions.h"
#include "text/documents/subtitle_formats.h"
#include "text/documents/tags.h"
#include "text/utf8.h"

namespace mynah {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kWebVtt = "WEBVTT";

struct CueTimes {
  double start_s = 0;
  double end_s = 0;
};

// "1:02:03,5", "02:03.500": taken from the text's begin.
std::optional<double> take_time(std::string_view& text) {
  constexpr size_t kMostDigits = 4;
  const auto number = [&text](size_t& digits) {
    double value = 0;
    digits = 0;
    while (!text.empty() && is_ascii_digit(text[0]) && digits < kMostDigits) {
      value = value * 10 + (text[0] - '0');
      text.remove_prefix(1);
      ++digits;
    }
    return value;
  };
  double seconds = 0;
  size_t digits = 0;
  size_t parts = 0;
  for (;;) {
    const double value = number(digits);
    // Of hours, minutes and seconds the first may be any.
    ++parts;
    if (digits == 0 || (parts > 1 && (digits > 2 || value >= 60)) || parts > 3) {
      return std::nullopt;
    }
    seconds = seconds * 60 + value;
    if (!text.starts_with(':')) {
      break;
    }
    text.remove_prefix(1);
  }
  const bool fraction = text.starts_with(',') || text.starts_with('.');
  if (parts < 2 || (digits < 2 && !fraction)) {
    return std::nullopt;
  }
  if (fraction) {
    text.remove_prefix(1);
    const double value = number(digits);
    if (digits == 0) {
      return std::nullopt;
    }
    seconds += value / std::pow(10.0, static_cast<double>(digits));
  }
  return seconds;
}

// A line of times with what may stand behind them; "->" is an arrow too.
std::optional<CueTimes> times_of(std::string_view line) {
  std::string_view rest = trimmed(line);
  const auto start = take_time(rest);
  rest = trimmed(rest);
  const size_t dashes = rest.find_first_not_of('-');
  if (!start || dashes == 0 || dashes > 3 || dashes == std::string_view::npos ||
      rest[dashes] != '>') {
    return std::nullopt;
  }
  rest = trimmed(rest.substr(dashes + 1));
  const auto end = take_time(rest);
  if (!end || (!rest.empty() && !is_ascii_space(rest[0]))) {
    return std::nullopt;
  }
  return CueTimes{.start_s = *start, .end_s = *end};
}

// A line that is of times, though they may be broken: it has an arrow behind digits, or begins with
// hours, minutes, seconds and parts of them.
bool is_meant_as_times(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (text.empty() || !is_ascii_digit(text[0])) {
    return false;
  }
  const size_t arrow = text.find("-->");
  if (arrow != std::string_view::npos && text.substr(0, arrow).contains(':')) {
    return true;
  }
  std::string_view rest = text;
  const auto time = take_time(rest);
  const std::string_view taken = text.substr(0, text.size() - rest.size());
  return time && std::ranges::count(taken, ':') == 2 && taken.find_first_of(",.") < taken.size() &&
         (rest.empty() || is_ascii_space(rest[0]));
}

// Characters that are not said: marks of direction and width, notes of music.
bool is_unsaid(char32_t c) {
  return (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) || c == 0xFEFF ||
         (c >= 0x2669 && c <= 0x266C) || c == 0x1F3B5 || c == 0x1F3B6;
}

// How many bytes of a mark stand at the begin: "<i>", "{\an8}", "\N"; 0 where none does.
size_t mark_length(std::string_view text) {
  constexpr size_t kLongest = 300;
  const char next = text.size() > 1 ? text[1] : ' ';
  if (text[0] == '\\') {
    return next == 'N' || next == 'n' || next == 'h' ? 2 : 0;
  }
  const bool tag = text[0] == '<' && (is_ascii_letter(next) || is_ascii_digit(next) || next == '/');
  const bool override =
      text[0] == '{' &&
      (next == '\\' || (is_ascii_letter(next) && text.size() > 2 && text[2] == ':'));
  if (!tag && !override) {
    return 0;
  }
  const size_t end = text.substr(0, kLongest).find(tag ? '>' : '}');
  const size_t again = text.find(text[0], 1);
  return end == std::string_view::npos || again < end ? 0 : end + 1;
}

// A line of a cue as it is said.
std::string said_of(std::string_view line) {
  std::string plain;
  bool ruby = false;  // how characters are read, beside them
  for (size_t at = 0; at < line.size();) {
    const size_t mark = mark_length(line.substr(at));
    if (mark == 0) {
      plain += ruby ? "" : std::string(1, line[at]);
      ++at;
      continue;
    }
    const std::string_view tag = line.substr(at, mark);
    ruby = tag == "<rt>" || (ruby && tag != "</rt>" && tag != "</ruby>");
    plain += tag[0] == '\\' || tag.starts_with("<br") ? " " : "";
    at += mark;
  }
  std::string said;
  for (const char32_t c : to_code_points(replace_entities(plain))) {
    const bool space = c <= U' ' || c == 0xA0;
    if (is_unsaid(c) || (space && (said.empty() || said.ends_with(' ')))) {
      continue;
    }
    append_utf8(said, space ? U' ' : c);
  }
  // "# La la la #" is sung.
  const bool sung = said.starts_with("# ") || said.ends_with(" #");
  std::string_view rest = said;
  while (!rest.empty() && (rest.back() == ' ' || (sung && rest.back() == '#'))) {
    rest.remove_suffix(1);
  }
  while (sung && !rest.empty() && (rest.front() == '#' || rest.front() == ' ')) {
    rest.remove_prefix(1);
  }
  return std::string(rest);
}

// The dash before a speaker, in bytes with the space behind it.
size_t dash_length(std::string_view line) {
  for (const std::string_view dash : {"--", "-", "\u2010", "\u2013", "\u2014"}) {
    if (line.starts_with(dash)) {
      const size_t text = line.find_first_not_of(' ', dash.size());
      const bool number = text == dash.size() && text < line.size() && is_ascii_digit(line[text]);
      return text == std::string_view::npos ? line.size() : number ? 0 : text;
    }
  }
  return 0;
}

bool ends_sentence(std::string_view text) {
  for (const std::string_view end : {".", "!", "?", ":", ";", "\u2026", "\"", "\u201D", ")", "]",
                                     "\u3002", "\uFF01", "\uFF1F"}) {
    if (text.ends_with(end)) {
      return true;
    }
  }
  return false;
}

class SubtitleReader {
 public:
  SubtitleReader(std::string_view text, NoteReading how) : how_(how), rest_(text) {
    if (rest_.starts_with(kByteOrderMark)) {
      rest_.remove_prefix(kByteOrderMark.size());
    }
    webvtt_ = rest_.starts_with(kWebVtt);
  }

  Result<Subtitles> read() {
    bool block = webvtt_;  // one that is passed over, up to a blank line
    while (const auto line = next_line()) {
      const std::string_view text = trimmed(*line);
      const auto times = times_of(text);
      if (text.empty()) {
        // A line of spaces is a cue's in WebVTT.
        const bool blank = !webvtt_ || line->empty();
        block = block && !blank;
        behind_blank_ = behind_blank_ || blank;
        continue;
      }
      if (times) {
        block = false;
        begin_cue(*times);
      } else if (!block) {
        if (is_meant_as_times(text)) {
          return wrong("times such as 00:01:02,500 --> 00:01:04,000", text);
        }
        block =
            webvtt_ && behind_blank_ &&
            (text.starts_with("NOTE") || text.starts_with("STYLE") || text.starts_with("REGION"));
        if (!begun_ && !webvtt_ && !is_ascii_digits(text)) {
          return wrong("the number of a cue or its times", text);
        }
        if (!block) {
          lines_.push_back({.text = text, .apart = webvtt_ && behind_blank_});
          last_line_ = number_;
        }
      }
      behind_blank_ = false;
    }
    end_cue();
    if (!begun_) {
      return fail(ErrorCode::InvalidInput,
                  "wanted subtitles, found no line of times such as 00:01:02,500 --> 00:01:04,000");
    }
    sort();
    return std::move(subtitles_);
  }

  // Of another format.
  Result<Subtitles> read(const std::vector<TimedLines>& cues) {
    begun_ = true;
    for (const TimedLines& cue : cues) {
      for (const std::string& line : cue.lines) {
        lines_.push_back({.text = line});
      }
      cue_ = {.start_s = cue.start_s, .end_s = std::max(cue.start_s, cue.end_s), .text = {}};
      end_cue();
    }
    if (cues.empty()) {
      return fail(ErrorCode::InvalidInput, "wanted subtitles, found no text with times");
    }
    sort();
    return std::move(subtitles_);
  }

 private:
  struct Line {
    std::string_view text;
    bool apart = false;  // behind a blank line, in WebVTT
  };

  std::optional<std::string_view> next_line() {
    if (rest_.empty()) {
      return std::nullopt;
    }
    ++number_;
    const size_t end = std::min(rest_.find_first_of("\r\n"), rest_.size());
    const std::string_view line = rest_.substr(0, end);
    const size_t taken = rest_.substr(end).starts_with("\r\n") ? end + 2 : end + 1;
    rest_.remove_prefix(std::min(taken, rest_.size()));
    return line;
  }

  [[nodiscard]] std::unexpected<Error> wrong(std::string_view wanted,
                                             std::string_view found) const {
    constexpr size_t kMostBytes = 60;
    return fail(ErrorCode::InvalidInput,
                fmt::format("line {}: wanted {}, found '{}'", number_, wanted,
                            replace_invalid_utf8(found.substr(0, kMostBytes))));
  }

  void begin_cue(const CueTimes& times) {
    // The number or name of a cue stands above its times.
    if (!lines_.empty() && last_line_ + 1 == number_ &&
        (is_ascii_digits(lines_.back().text) || lines_.back().apart)) {
      lines_.pop_back();
    }
    end_cue();
    begun_ = true;
    cue_ = {.start_s = times.start_s, .end_s = std::max(times.start_s, times.end_s), .text = {}};
    if (times.end_s < times.start_s) {
      subtitles_.warnings.push_back(fmt::format(
          "line {}: the cue ends before it begins: it is read as one of no length", number_));
    }
  }

  // What was gathered is the text of the cue.
  void end_cue() {
    std::vector<std::string> said;
    for (const Line& line : std::exchange(lines_, {})) {
      // WebVTT's cues end with a blank line; what follows is the name of the next, or nothing.
      if (line.apart || !begun_) {
        break;
      }
      said.push_back(said_of(line.text));
    }
    leave_out_rolled(said);
    if (how_ != NoteReading::Inline) {
      take_descriptions(said);
    }
    for (std::string& line : said) {
      const size_t dash = dash_length(line);
      const bool another = dash > 0 && !cue_.text.empty() && !ends_sentence(cue_.text);
      line.erase(0, dash);
      if (!line.empty()) {
        cue_.text += (cue_.text.empty() ? "" : another ? "\n\n" : "\n") + line;
      }
    }
    if (!cue_.text.empty()) {
      subtitles_.cues.push_back(std::move(cue_));
    }
    cue_ = {};
  }

  // Rolling captions show the line before once more, above the new one.
  void leave_out_rolled(std::vector<std::string>& said) {
    constexpr double kAtOnce_s = 0.05;
    std::erase(said, std::string());
    const bool at_once = std::abs(cue_.start_s - last_end_s_) <= kAtOnce_s;
    const std::string shown = said.empty() ? std::string() : said.back();
    const bool rolled = at_once && !said.empty() && said.front() == last_shown_ &&
                        (said.size() > 1 || cue_.end_s - cue_.start_s <= kAtOnce_s);
    if (rolled) {
      said.erase(said.begin());
    }
    last_end_s_ = cue_.end_s;
    last_shown_ = shown;
  }

  void sort() {
    auto& cues = subtitles_.cues;
    const auto out_of_order = std::ranges::is_sorted_until(cues, {}, &SubtitleCue::start_s);
    if (out_of_order != cues.end()) {
      subtitles_.warnings.push_back(
          fmt::format("its cues stand out of order, the first at {}: they are read by their times",
                      cue_time(out_of_order->start_s)));
      std::ranges::stable_sort(cues, {}, &SubtitleCue::start_s);
    }
  }

  NoteReading how_;
  std::string_view rest_;
  size_t number_ = 0;  // of the line
  bool webvtt_ = false;
  bool begun_ = false;         // a cue was
  bool behind_blank_ = false;  // the line stands behind a blank one
  SubtitleCue cue_;
  std::vector<Line> lines_;
  size_t last_line_ = 0;  // the number of the last of them
  std::string last_shown_;
  double last_end_s_ = -1;
  Subtitles subtitles_;
};

}  // namespace

SubtitleSign look_for_subtitles(std::string_view text, bool whole) {
  constexpr size_t kMostLineBytes = 400;
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  } else if (!whole && kByteOrderMark.starts_with(text)) {
    return SubtitleSign::NeedsMore;
  }
  if (text.size() < kWebVtt.size() && kWebVtt.starts_with(text) && !text.empty()) {
    return whole ? SubtitleSign::No : SubtitleSign::NeedsMore;
  }
  if (text.starts_with(kWebVtt)) {
    const std::string_view behind = text.substr(kWebVtt.size());
    return behind.empty()              ? (whole ? SubtitleSign::Yes : SubtitleSign::NeedsMore)
           : is_ascii_space(behind[0]) ? SubtitleSign::Yes
                                       : SubtitleSign::No;
  }
  if (!whole && may_be_other_subtitles(text)) {
    return SubtitleSign::NeedsMore;
  }
  const auto format = other_subtitle_format(text);
  if (format && *format != SubtitleFormat::SubViewer) {
    return SubtitleSign::Yes;
  }
  bool number = false;
  for (;;) {
    const size_t begin = text.find_first_not_of(kAsciiSpace);
    if (begin == std::string_view::npos) {
      return whole ? SubtitleSign::No : SubtitleSign::NeedsMore;
    }
    text.remove_prefix(begin);
    const size_t end = text.find_first_of("\r\n");
    const std::string_view line = trimmed(text.substr(0, end));
    if (end == std::string_view::npos && !whole) {
      const bool can_be =
          line.size() < kMostLineBytes && is_ascii_digit(line[0]) &&
          line.find_first_not_of("0123456789:,.->+ \t\v\f") == std::string_view::npos;
      return can_be ? SubtitleSign::NeedsMore
                    : (times_of(line) ? SubtitleSign::NeedsMore : SubtitleSign::No);
    }
    if (times_of(line) || (!number && format)) {
      return SubtitleSign::Yes;
    }
    if (number || !is_ascii_digits(line) || end == std::string_view::npos) {
      return SubtitleSign::No;
    }
    number = true;
    text.remove_prefix(end);
  }
}

Result<Subtitles> read_subtitles(std::string_view text, NoteReading how) {
  const std::string valid = replace_invalid_utf8(text);
  const auto format = other_subtitle_format(valid);
  return format ? SubtitleReader({}, how).read(read_timed_lines(valid, *format))
                : SubtitleReader(valid, how).read();
}

Document document_of(const Subtitles& subtitles) {
  // A pause of a scene, and one of a sentence.
  constexpr double kScene_s = 3;
  constexpr double kSentence_s = 0.5;
  std::string text;
  double end_s = 0;
  for (const SubtitleCue& cue : subtitles.cues) {
    const double pause_s = cue.start_s - end_s;
    const bool capital = is_ascii_upper(cue.text[0]);
    const bool parted = (ends_sentence(text) && pause_s >= kScene_s) ||
                        (!ends_sentence(text) && capital && pause_s >= kSentence_s);
    text += (text.empty() ? "" : parted ? "\n\n" : "\n") + cue.text;
    end_s = std::max(end_s, cue.end_s);
  }
  Document document;
  document.warnings = subtitles.warnings;
  if (!text.empty()) {
    document.chapters.push_back({.title = {}, .text = std::move(text)});
  }
  return document;
}

std::string cue_time(double seconds) {
  const auto ms = static_cast<long long>(std::llround(seconds * 1000));
  return fmt::format("{}:{:02}:{:02}.{:03}", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60,
                     ms % 1000);
}

}  // namespace mynah
