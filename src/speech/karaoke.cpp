// A shell script that makes a karaoke video: what whisper.cpp's -owts is for. The words are an
// Advanced SubStation Alpha subtitle with \k times, which ffmpeg draws itself, so that no font has
// to be named and nothing has to be escaped twice.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "speech/writer_parts.h"

namespace mynah {

namespace {

std::string shell_quoted(std::string text) {
  return "'" + replace_all(std::move(text), "'", "'\\''") + "'";
}

// Braces begin overrides and a backslash an escape: drawn as look-alikes that mean nothing.
std::string ass_escaped(std::string_view text) {
  std::string result = replace_all(std::string(text), "\n", " ");
  result = replace_all(std::move(result), "{", "(");
  result = replace_all(std::move(result), "}", ")");
  return replace_all(std::move(result), "\\", "/");
}

// "0:00:01.23"
std::string ass_time(double seconds) {
  const int64_t cs = to_milliseconds(seconds) / 10;
  return fmt::format("{}:{:02}:{:02}.{:02}", cs / 360'000, cs / 6000 % 60, cs / 100 % 60, cs % 100);
}

std::string dialogue(const Segment& segment) {
  std::string text = fmt::format("Dialogue: 0,{},{},Words,,0,0,0,,", ass_time(segment.start_s),
                                 ass_time(segment.end_s));
  text += ass_escaped(speaker_prefix(segment.speaker));
  if (segment.words.empty()) {
    return text + ass_escaped(segment.text) + "\n";
  }
  double done = segment.start_s;
  for (const Word& word : segment.words) {
    // \k lasts until the next word begins to be sung: the pause before a word is its own.
    const double wait = std::max(0.0, word.start_s - done);
    const double sung = std::max(0.0, word.end_s - word.start_s);
    if (wait >= 0.005) {
      text += fmt::format("{{\\k{}}}", std::llround(wait * 100));
    }
    text += fmt::format("{{\\k{}}}{}", std::llround(sung * 100), ass_escaped(word.text));
    done = std::max(done, word.end_s);
  }
  return text + "\n";
}

}  // namespace

std::string write_karaoke(const Transcript& transcript, const WriterOptions& options) {
  std::string script = "#!/bin/sh\n# Makes a karaoke video with ffmpeg.\nset -e\n";
  script += "input=" + shell_quoted(options.file) + "\n";
  script += "subtitles=$(mktemp --suffix=.ass)\ntrap 'rm -f \"$subtitles\"' EXIT\n";
  script += "cat >\"$subtitles\" <<'END-OF-SUBTITLES'\n";
  script +=
      "[Script Info]\nScriptType: v4.00+\nPlayResX: 1200\nPlayResY: 120\n\n[V4+ Styles]\n"
      "Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, "
      "BackColour, "
      "Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, "
      "Shadow, Alignment, MarginL, MarginR, MarginV, Encoding\n"
      "Style: Words,monospace,24,&H0090EE90,&H00808080,&H00000000,&H00000000,0,0,0,0,100,100,0,0,1,"
      "0,0,5,10,10,10,1\n\n[Events]\n"
      "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n";
  for (const Segment& segment : transcript.segments) {
    script += dialogue(segment);
  }
  script += "END-OF-SUBTITLES\n";
  script += fmt::format(
      "ffmpeg -i \"$input\" -f lavfi -i color=size=1200x120:duration={:.2f}:rate=25:color=black "
      "-vf \"ass=$subtitles\" -c:v libx264 -pix_fmt yuv420p -y \"$input.mp4\"\n",
      transcript.duration_s);
  script += "echo \"The video is $input.mp4\"\n";
  return script;
}

}  // namespace mynah
