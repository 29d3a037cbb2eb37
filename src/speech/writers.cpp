#include "speech/writers.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/ascii.h"
#include "speech/writer_parts.h"
#include "text/utf8.h"

namespace mynah {

namespace {

struct FormatName {
  std::string_view name;
  TranscriptFormat format;
  std::string_view extension;
};

constexpr std::array<FormatName, 10> kFormats = {{
    {"txt", TranscriptFormat::Txt, "txt"},
    {"srt", TranscriptFormat::Srt, "srt"},
    {"vtt", TranscriptFormat::Vtt, "vtt"},
    {"json", TranscriptFormat::Json, "json"},
    {"json-full", TranscriptFormat::JsonFull, "json"},
    {"tsv", TranscriptFormat::Tsv, "tsv"},
    {"csv", TranscriptFormat::Csv, "csv"},
    {"lrc", TranscriptFormat::Lrc, "lrc"},
    {"aud", TranscriptFormat::Aud, "aud"},
    {"wts", TranscriptFormat::Wts, "wts"},
}};

std::string write_txt(const Transcript& transcript, const WriterOptions& options) {
  std::string text;
  for (const Segment& segment : transcript.segments) {
    if (options.style == TranscriptStyle::WhisperCpp) {
      text += speaker_prefix(segment.speaker) + segment.text + "\n";
    } else if (!is_blank(segment.text)) {
      text += named_line(segment) + "\n";
    }
  }
  return text;
}

bool any_speakers(const Transcript& transcript) {
  return std::ranges::any_of(transcript.segments,
                             [](const Segment& segment) { return !segment.speaker.empty(); });
}

// Milliseconds, tab-separated: openai/whisper utils.py WriteTSV; where speakers are known a column
// of them, as in write_csv.
std::string write_tsv(const Transcript& transcript) {
  const bool speakers = any_speakers(transcript);
  std::string text = speakers ? "start\tend\tspeaker\ttext\n" : "start\tend\ttext\n";
  for (const Segment& segment : transcript.segments) {
    text += fmt::format("{}\t{}\t{}{}{}\n", to_milliseconds(segment.start_s),
                        to_milliseconds(segment.end_s), segment.speaker, speakers ? "\t" : "",
                        replace_all(one_line(segment.text), "\t", " "));
  }
  return text;
}

// Milliseconds, RFC 4180 quotes: whisper.cpp's -ocsv.
std::string write_csv(const Transcript& transcript, const WriterOptions& options) {
  const bool speakers = any_speakers(transcript);
  std::string text = speakers ? "start,end,speaker,text\n" : "start,end,text\n";
  for (const Segment& segment : transcript.segments) {
    text += fmt::format("{},{},", to_milliseconds(segment.start_s), to_milliseconds(segment.end_s));
    if (speakers) {
      text += segment.speaker + ",";
    }
    const bool verbatim = options.style == TranscriptStyle::WhisperCpp;
    text +=
        '"' + replace_all(verbatim ? segment.text : one_line(segment.text), "\"", "\"\"") + "\"\n";
  }
  return text;
}

// Lyrics: a time of minutes, seconds and hundredths before each line.
std::string write_lrc(const Transcript& transcript, const WriterOptions& options) {
  std::string text = "[by:mynah]\n";
  for (const Segment& segment : transcript.segments) {
    const int64_t ms = to_milliseconds(segment.start_s);
    const bool verbatim = options.style == TranscriptStyle::WhisperCpp;
    text += fmt::format(
        "[{:02}:{:02}.{:02}]{}\n", ms / 60'000, ms / 1000 % 60, ms % 1000 / 10,
        verbatim ? speaker_prefix(segment.speaker) + segment.text : named_line(segment));
  }
  return text;
}

// A label track: seconds, tab-separated, as Audacity imports it.
std::string write_aud(const Transcript& transcript) {
  std::string text;
  for (const Segment& segment : transcript.segments) {
    text += fmt::format("{:.3f}\t{:.3f}\t{}\n", segment.start_s, segment.end_s,
                        replace_all(named_line(segment), "\t", " "));
  }
  return text;
}

}  // namespace

std::string timestamp_text(const TimestampToken& timestamp, TranscriptStyle style) {
  constexpr double kStep_s = 0.02;
  if (style == TranscriptStyle::OpenAi) {
    return fmt::format("<|{:.2f}|>", timestamp.position * kStep_s);
  }
  return timestamp.position == 0 ? "[_BEG_]" : fmt::format("[_TT_{}]", timestamp.position);
}

std::string text_with_timestamps(const Segment& segment, TranscriptStyle style) {
  std::string text = segment.text;
  const bool opens =
      segment.opening && (style == TranscriptStyle::OpenAi || segment.opening->position == 0);
  if (opens) {
    text.insert(0, timestamp_text(*segment.opening, style));
  }
  if (segment.closing) {
    text += timestamp_text(*segment.closing, style);
  }
  return text;
}

std::optional<TranscriptFormat> parse_transcript_format(std::string_view name) {
  const auto found = std::ranges::find(kFormats, name, &FormatName::name);
  return found == kFormats.end() ? std::nullopt : std::optional(found->format);
}

std::string_view extension(TranscriptFormat format) {
  return std::ranges::find(kFormats, format, &FormatName::format)->extension;
}

const std::vector<std::string>& transcript_format_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    std::ranges::transform(kFormats, std::back_inserter(list),
                           [](const FormatName& row) { return std::string(row.name); });
    return list;
  }();
  return names;
}

int64_t to_milliseconds(double seconds) {
  return seconds > 0 ? static_cast<int64_t>(std::llround(seconds * 1000)) : 0;
}

std::string clock_time(double seconds, char decimal_mark, Hours hours) {
  const int64_t ms = to_milliseconds(seconds);
  const std::string rest =
      fmt::format("{:02}:{:02}{}{:03}", ms / 60'000 % 60, ms / 1000 % 60, decimal_mark, ms % 1000);
  const int64_t hour = ms / 3'600'000;
  return hours == Hours::Always || hour > 0 ? fmt::format("{:02}:{}", hour, rest) : rest;
}

std::string one_line(std::string_view text) {
  std::string result(trimmed(text));
  std::ranges::replace_if(result, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return replace_invalid_utf8(result);
}

bool is_blank(std::string_view text) {
  return trimmed(text).empty();
}

size_t character_count(std::string_view text) {
  size_t count = 0;
  while (!text.empty()) {
    text.remove_prefix(next_code_point(text).bytes);
    ++count;
  }
  return count;
}

std::string replace_all(std::string text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

std::string speaker_prefix(std::string_view speaker) {
  return speaker.empty() ? "" : fmt::format("(speaker {})", speaker);
}

std::string named_line(const Segment& segment) {
  const std::string prefix = speaker_prefix(segment.speaker);
  return prefix.empty() ? one_line(segment.text) : prefix + " " + one_line(segment.text);
}

std::string write_transcript(const Transcript& transcript, TranscriptFormat format,
                             const WriterOptions& options) {
  const bool whisper_cpp = options.style == TranscriptStyle::WhisperCpp;
  switch (format) {
    case TranscriptFormat::Txt:
      return write_txt(transcript, options);
    case TranscriptFormat::Srt:
      return write_srt(transcript, options);
    case TranscriptFormat::Vtt:
      return write_vtt(transcript, options);
    case TranscriptFormat::Json:
    case TranscriptFormat::JsonFull:
      return whisper_cpp
                 ? write_whisper_cpp_json(transcript, format == TranscriptFormat::JsonFull, options)
                 : transcript_json_line(transcript, options) + "\n";
    case TranscriptFormat::Tsv:
      return write_tsv(transcript);
    case TranscriptFormat::Csv:
      return write_csv(transcript, options);
    case TranscriptFormat::Lrc:
      return write_lrc(transcript, options);
    case TranscriptFormat::Aud:
      return write_aud(transcript);
    case TranscriptFormat::Wts:
      return write_karaoke(transcript, options);
  }
  return {};
}

}  // namespace mynah
