// Subtitle files; and raw cues with their lines: what openai/whisper utils.py SubtitlesWriter does,
// and the same for segments without word times.
#include <algorithm>

#include <fmt/format.h>

#include "speech/writer_parts.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {

namespace {

// A pause inside a cue that is longer than this begins a new one (utils.py iterate_subtitles).
constexpr double kLongPause_s = 3.0;
constexpr size_t kUnlimited = 1000;  // utils.py's line width where none is given

// A word placed on a line; text has the line's end before it where it begins one.
struct PlacedWord {
  std::string text;
  double start_s = 0;
  double end_s = 0;
  std::string speaker;
};

size_t trimmed_length(std::string_view text) {
  return character_count(one_line(text));
}

// Puts words on lines and lines in cues.
class Layout {
 public:
  Layout(const WriterOptions& options, double start_s)
      : width_(static_cast<size_t>(options.max_line_width.value_or(kUnlimited))),
        most_lines_(options.max_line_count),
        keep_segments_(!options.max_line_count || !options.max_line_width),
        last_start_s_(start_s) {}

  // The next word follows without a pause, whatever its time says.
  void join_at(double start_s) { last_start_s_ = start_s; }

  void add(const Word& word, bool first_of_segment, const std::string& speaker) {
    const bool pause = !keep_segments_ && word.start_s - last_start_s_ > kLongPause_s;
    const bool room = line_length_ + character_count(word.text) <= width_;
    const bool segment_ends =
        first_of_segment && !cue_.empty() && (keep_segments_ || cue_.back().speaker != speaker);
    PlacedWord placed{
        .text = word.text, .start_s = word.start_s, .end_s = word.end_s, .speaker = speaker};
    if (line_length_ > 0 && room && !pause && !segment_ends) {
      line_length_ += character_count(word.text);
    } else {
      placed.text = one_line(word.text);
      line_length_ = character_count(placed.text);
      const bool full = !cue_.empty() && most_lines_ && (pause || lines_ >= *most_lines_);
      if (full || segment_ends) {
        cues_.push_back(std::move(cue_));
        cue_.clear();
        lines_ = 1;
      } else if (!cue_.empty()) {
        ++lines_;
        placed.text = "\n" + placed.text;
      }
    }
    last_start_s_ = word.start_s;
    cue_.push_back(std::move(placed));
  }

  std::vector<std::vector<PlacedWord>> finish() {
    if (!cue_.empty()) {
      cues_.push_back(std::move(cue_));
    }
    return std::move(cues_);
  }

 private:
  size_t width_;
  std::optional<int> most_lines_;
  bool keep_segments_;
  double last_start_s_;
  size_t line_length_ = 0;
  int lines_ = 1;
  std::vector<PlacedWord> cue_;
  std::vector<std::vector<PlacedWord>> cues_;
};

std::string join(const std::vector<PlacedWord>& words, size_t underlined) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    if (i != underlined) {
      text += word;
      continue;
    }
    const size_t begin = std::min(word.find_first_not_of(" \n"), word.size());
    text += word.substr(0, begin) + "<u>" + word.substr(begin) + "</u>";
  }
  return text;
}

void add_highlighted(const std::vector<PlacedWord>& words, std::vector<Cue>& cues) {
  const std::string plain = join(words, words.size());
  double last = words.front().start_s;
  for (size_t i = 0; i < words.size(); ++i) {
    if (to_milliseconds(last) != to_milliseconds(words[i].start_s)) {
      cues.push_back({last, words[i].start_s, plain, words.front().speaker});
    }
    // A word that took no time has no cue; the others' show it, too.
    if (words.size() == 1 || to_milliseconds(words[i].start_s) < to_milliseconds(words[i].end_s)) {
      cues.push_back({words[i].start_s, words[i].end_s, join(words, i), words.front().speaker});
    }
    last = words[i].end_s;
  }
}

// Pieces of at most `width` characters, as a reader counts them: letters keep their marks.
std::vector<std::string> cut_run(std::string_view run, size_t width) {
  const size_t spaces = std::min(run.find_first_not_of(' '), run.size());
  const std::u32string spaced = separate_graphemes(to_code_points(run.substr(spaces)));
  std::vector<std::string> pieces = {std::string(run.substr(0, spaces))};
  size_t held = 0;
  for (size_t begin = 0; begin < spaced.size();) {
    const size_t end = std::min(spaced.find(U' ', begin), spaced.size());
    if (held == width) {
      pieces.emplace_back();
      held = 0;
    }
    for (size_t i = begin; i < end; ++i) {
      append_utf8(pieces.back(), spaced[i]);
    }
    ++held;
    begin = end + 1;
  }
  return pieces;
}

// The segment's text as words of its own: at spaces, and where a run is wider than a line (a
// language without spaces) between code points. Times are shared out by length.
std::vector<Word> words_by_length(const Segment& segment, size_t width) {
  const std::string text = one_line(segment.text);
  std::vector<Word> words;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t after_spaces = std::min(rest.find_first_not_of(' '), rest.size());
    const size_t end = std::min(rest.find(' ', after_spaces), rest.size());
    const std::string_view run = rest.substr(0, end);
    if (trimmed_length(run) > width) {
      for (std::string& piece : cut_run(run, width)) {
        words.push_back({.text = std::move(piece)});
      }
    } else {
      words.push_back({.text = std::string(run)});
    }
    rest.remove_prefix(end);
  }
  const double total = static_cast<double>(std::max<size_t>(1, character_count(text)));
  const double duration = segment.end_s - segment.start_s;
  size_t done = 0;
  for (Word& word : words) {
    word.start_s = segment.start_s + duration * static_cast<double>(done) / total;
    done += character_count(word.text);
    word.end_s = segment.start_s + duration * static_cast<double>(done) / total;
  }
  if (!words.empty() && segment.text.starts_with(' ')) {
    words.front().text.insert(0, 1, ' ');  // it may stand behind another segment's last
  }
  return words;
}

std::string escaped_for_vtt(std::string text) {
  text = replace_all(std::move(text), "&", "&amp;");
  text = replace_all(std::move(text), "<", "&lt;");
  // What highlighting put there is markup.
  text = replace_all(std::move(text), "&lt;u>", "<u>");
  return replace_all(std::move(text), "&lt;/u>", "</u>");
}

// No cue ends before it begins, nor stays on the screen when the next one comes: players show both,
// one above the other, or only the first.
void part_overlaps(std::vector<Cue>& cues) {
  for (size_t i = 0; i < cues.size(); ++i) {
    if (i + 1 < cues.size() && cues[i + 1].start_s > cues[i].start_s) {
      cues[i].end_s = std::min(cues[i].end_s, cues[i + 1].start_s);
    }
    cues[i].end_s = std::max(cues[i].end_s, cues[i].start_s);
  }
}

std::vector<Cue> verbatim_cues(const Transcript& transcript) {
  std::vector<Cue> cues;
  cues.reserve(transcript.segments.size());
  for (const Segment& segment : transcript.segments) {
    cues.push_back({segment.start_s, segment.end_s, segment.text, segment.speaker});
  }
  part_overlaps(cues);
  return cues;
}

// Cues are segments, laid out as the options say.
std::vector<Cue> raw_cues(const Transcript& transcript, const WriterOptions& options) {
  const bool any_words = std::ranges::any_of(
      transcript.segments, [](const Segment& segment) { return !segment.words.empty(); });
  std::vector<Cue> cues;
  const bool plain = !options.max_line_width && !options.max_line_count;
  if (plain && !any_words) {
    for (const Segment& segment : transcript.segments) {
      if (!is_blank(segment.text)) {
        cues.push_back({segment.start_s, segment.end_s, one_line(segment.text), segment.speaker});
      }
    }
  } else {
    Layout layout(options, transcript.segments.empty() ? 0 : transcript.segments[0].start_s);
    const auto width = static_cast<size_t>(options.max_line_width.value_or(kUnlimited));
    for (const Segment& segment : transcript.segments) {
      const std::vector<Word> words =
          segment.words.empty() ? words_by_length(segment, width) : segment.words;
      bool first = true;
      for (const Word& word : words) {
        if (!is_blank(word.text)) {
          if (segment.words.empty() && !first) {
            layout.join_at(word.start_s);  // shared-out times know no pauses
          }
          layout.add(word, first, segment.speaker);
          first = false;
        }
      }
    }
    for (const auto& words : layout.finish()) {
      if (options.highlight_words && any_words) {
        add_highlighted(words, cues);
      } else {
        cues.push_back({words.front().start_s, words.back().end_s, join(words, words.size()),
                        words.front().speaker});
      }
    }
  }
  part_overlaps(cues);
  return cues;
}

}  // namespace

std::vector<Cue> subtitle_cues(const Transcript& transcript, const WriterOptions& options) {
  std::vector<Cue> cues = options.cues == CueShape::Readable ? readable_cues(transcript, options)
                                                             : raw_cues(transcript, options);
  for (Cue& cue : cues) {
    // An arrow in the text would be read as a line of times.
    cue.text = replace_all(std::move(cue.text), "-->", "->");
  }
  return cues;
}

std::string write_srt(const Transcript& transcript, const WriterOptions& options) {
  const bool whisper_cpp = options.style == TranscriptStyle::WhisperCpp;
  const std::vector<Cue> cues =
      whisper_cpp ? verbatim_cues(transcript) : subtitle_cues(transcript, options);
  std::string text;
  for (size_t i = 0; i < cues.size(); ++i) {
    std::string prefix = speaker_prefix(cues[i].speaker);
    prefix += prefix.empty() || whisper_cpp ? "" : " ";  // whisper.cpp's text begins with one
    text += fmt::format("{}\n{} --> {}\n{}{}\n\n", options.first_cue + static_cast<int64_t>(i),
                        clock_time(cues[i].start_s, ',', Hours::Always),
                        clock_time(cues[i].end_s, ',', Hours::Always), prefix, cues[i].text);
  }
  return text;
}

std::string write_vtt(const Transcript& transcript, const WriterOptions& options) {
  std::string text = "WEBVTT\n\n";
  if (options.style == TranscriptStyle::WhisperCpp) {
    for (const Cue& cue : verbatim_cues(transcript)) {
      const std::string voice = cue.speaker.empty() ? "" : "<v Speaker" + cue.speaker + ">";
      text += fmt::format("{} --> {}\n{}{}\n\n", clock_time(cue.start_s, '.', Hours::Always),
                          clock_time(cue.end_s, '.', Hours::Always), voice, cue.text);
    }
    return text;
  }
  for (const Cue& cue : subtitle_cues(transcript, options)) {
    const std::string voice = cue.speaker.empty() ? "" : "<v Speaker " + cue.speaker + ">";
    text += fmt::format("{} --> {}\n{}{}\n\n", clock_time(cue.start_s, '.', Hours::WhereNeeded),
                        clock_time(cue.end_s, '.', Hours::WhereNeeded), voice,
                        escaped_for_vtt(cue.text));
  }
  return text;
}

}  // namespace mynah
