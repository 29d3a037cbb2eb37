// Subtitles that can be read: how much stands on the screen, and how long. The limits are those
// that broadcasters agree on (BBC Subtitle Guidelines; Netflix Timed Text Style Guide: two lines of
// 42 characters, five sixths of a second to seven seconds, 17 to 21 characters a second), and which
// of the ways to cut a text within them is the best is a shortest path, each cue a step.
#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "speech/cue_atoms.h"
#include "speech/writer_parts.h"
#include "text/utf8.h"

namespace mynah {

namespace {

constexpr int64_t kShortest_ms = 700;
constexpr int64_t kLongest_ms = 7000;
constexpr int64_t kPleasant_ms = 1200;  // shorter ones are read, but flicker
constexpr int64_t kColumnsASecond = 21;
constexpr int kLineColumns = 42;
constexpr int kLines = 2;
// A pause this long always ends a cue: what was said before it would stand there as if it went on.
constexpr int64_t kLongPause_ms = 2000;
constexpr int64_t kPause_ms = 400;  // longer than between words of one breath

// What a cue costs, in units of "one cue more": weights that were tried on real transcripts.
constexpr double kCostOfCue = 3;
constexpr double kCostOfTooShort = 200;      // and as much again where it has no time at all
constexpr double kCostOfFlicker = 4;         // at kShortest_ms; none at kPleasant_ms
constexpr double kCostOfMissingSecond = 30;  // of those that reading takes
constexpr double kCostInClause = 10;         // a cue that ends within a clause
constexpr double kCostBehindClause = 3;
constexpr double kCostBehindSegment = 1;    // where the recogniser saw an end
constexpr double kCostBehindShortWord = 3;  // articles and prepositions belong to what follows
constexpr double kCostOfSentenceInside = 4;
constexpr double kCostOfPauseSecond = 10;  // inside a cue, of what is above kPause_ms

struct Limits {
  size_t width = kLineColumns;
  size_t lines = kLines;
  size_t characters = std::numeric_limits<size_t>::max();  // of all lines
  int64_t end_ms = std::numeric_limits<int64_t>::max();    // of the recording
};

int64_t reading_ms(size_t columns) {
  return (static_cast<int64_t>(columns) * 1000 + kColumnsASecond - 1) / kColumnsASecond;
}

// Chooses where cues end.
class CueCuts {
 public:
  CueCuts(std::span<const CueAtom> atoms, const std::vector<Segment>& segments,
          const Limits& limits)
      : atoms_(atoms), segments_(segments), limits_(limits) {}

  // One past the last atom of each cue.
  [[nodiscard]] std::vector<size_t> choose() const {
    std::vector<double> best(atoms_.size() + 1, std::numeric_limits<double>::infinity());
    std::vector<size_t> from(atoms_.size() + 1, 0);
    best[0] = 0;
    for (size_t first = 0; first < atoms_.size(); ++first) {
      extend(first, [&](size_t end, double cost) {
        if (best[first] + cost < best[end]) {
          best[end] = best[first] + cost;
          from[end] = first;
        }
      });
    }
    std::vector<size_t> ends;
    for (size_t end = atoms_.size(); end > 0; end = from[end]) {
      ends.push_back(end);
    }
    std::ranges::reverse(ends);
    return ends;
  }

 private:
  // Every cue that may begin with this atom, and what it costs. One atom always may.
  template <class Offer>
  void extend(size_t first, const Offer& offer) const {
    const std::string prefix = speaker_prefix(segments_[atoms_[first].segment].speaker);
    size_t line = prefix.empty() ? 0 : column_count(prefix) + 1;
    size_t lines = 1;
    size_t columns = line;  // in all
    size_t characters = 0;
    double inside = 0;
    for (size_t i = first; i < atoms_.size(); ++i) {
      const CueAtom& atom = atoms_[i];
      if (i > first) {
        const size_t space = atom.spaced ? 1 : 0;
        inside += cost_inside(i);
        characters += space;
        columns += space;
        line += space;
      }
      if (line > 0 && line + atom.columns > limits_.width) {
        ++lines;
        line = 0;
      }
      line += atom.columns;
      columns += atom.columns;
      characters += character_count(atom.text);
      const bool fits = lines <= limits_.lines && characters <= limits_.characters &&
                        atom.end_ms - atoms_[first].start_ms <= kLongest_ms;
      if (i > first && (!fits || must_end_before(i))) {
        return;
      }
      offer(i + 1, kCostOfCue + inside + cost_of_time(first, i + 1, columns) + cost_of_end(i));
    }
  }

  [[nodiscard]] bool must_end_before(size_t i) const {
    return pause_before(i) >= kLongPause_ms ||
           segments_[atoms_[i].segment].speaker != segments_[atoms_[i - 1].segment].speaker;
  }

  [[nodiscard]] int64_t pause_before(size_t i) const {
    return atoms_[i].start_ms - atoms_[i - 1].end_ms;
  }

  [[nodiscard]] double cost_inside(size_t i) const {
    const int64_t pause = pause_before(i);
    return (atoms_[i - 1].ends == TextEnd::Sentence ? kCostOfSentenceInside : 0) +
           (pause > kPause_ms ? kCostOfPauseSecond * static_cast<double>(pause - kPause_ms) / 1000
                              : 0);
  }

  [[nodiscard]] double cost_of_time(size_t first, size_t end, size_t columns) const {
    const int64_t next = end < atoms_.size() ? atoms_[end].start_ms : limits_.end_ms;
    const int64_t room = std::min(kLongest_ms, next - atoms_[first].start_ms);
    double cost = 0;
    if (room < kShortest_ms) {
      cost += kCostOfTooShort * (2 - static_cast<double>(room) / kShortest_ms);
    } else if (room < kPleasant_ms) {
      cost +=
          kCostOfFlicker * static_cast<double>(kPleasant_ms - room) / (kPleasant_ms - kShortest_ms);
    }
    const int64_t missing = reading_ms(columns) - room;
    return missing > 0 ? cost + kCostOfMissingSecond * static_cast<double>(missing) / 1000 : cost;
  }

  // Of a cue whose last atom this is.
  [[nodiscard]] double cost_of_end(size_t i) const {
    if (i + 1 == atoms_.size() || atoms_[i].ends == TextEnd::Sentence || must_end_before(i + 1)) {
      return 0;
    }
    double cost = kCostInClause;
    if (atoms_[i].segment != atoms_[i + 1].segment) {
      cost = kCostBehindSegment;
    } else if (atoms_[i].ends == TextEnd::Clause) {
      cost = kCostBehindClause;
    } else if (atoms_[i].columns <= 3) {
      cost += kCostBehindShortWord;
    }
    const auto pause = static_cast<double>(std::max<int64_t>(0, pause_before(i + 1)));
    return cost / (1 + pause / kPause_ms);
  }

  std::span<const CueAtom> atoms_;
  const std::vector<Segment>& segments_;
  const Limits& limits_;
};

// Breaks a cue into lines: two that are alike in length, better behind a clause than within one;
// where it takes more, each is filled.
void break_lines(std::span<CueAtom> cue, size_t prefix, const Limits& limits) {
  std::vector<size_t> lengths = {prefix};  // of the text up to each atom, on one line
  for (size_t i = 0; i < cue.size(); ++i) {
    lengths.push_back(lengths.back() + (i > 0 && cue[i].spaced ? 1 : 0) + cue[i].columns);
  }
  if (lengths.back() <= limits.width) {
    return;
  }
  constexpr double kBehindClause = 15;  // columns of difference that a clause's end makes up for
  constexpr double kBehindShortWord = 6;
  double least = std::numeric_limits<double>::infinity();
  size_t best = 0;
  for (size_t i = 1; i < cue.size() && limits.lines >= 2; ++i) {
    const size_t upper = lengths[i];
    const size_t lower = lengths.back() - lengths[i] - (cue[i].spaced ? 1 : 0);
    if (upper > limits.width || lower > limits.width) {
      continue;
    }
    double cost = std::abs(static_cast<double>(upper) - static_cast<double>(lower));
    cost -= cue[i - 1].ends != TextEnd::Word ? kBehindClause : 0;
    cost += cue[i - 1].ends == TextEnd::Word && cue[i - 1].columns <= 3 ? kBehindShortWord : 0;
    if (cost < least) {
      least = cost;
      best = i;
    }
  }
  if (best > 0) {
    cue[best].opens_line = true;
    return;
  }
  size_t line = prefix;
  for (size_t i = 0; i < cue.size(); ++i) {
    const size_t space = i > 0 && cue[i].spaced ? 1 : 0;
    cue[i].opens_line = i > 0 && line + space + cue[i].columns > limits.width;
    line = cue[i].opens_line ? cue[i].columns : line + space + cue[i].columns;
  }
}

// The text on its lines, atoms from `marked` to `end_marked` underlined.
std::string text_of(std::span<const CueAtom> cue, size_t marked, size_t end_marked) {
  std::string text;
  for (size_t i = 0; i < cue.size(); ++i) {
    text += i == 0 ? "" : cue[i].opens_line ? "\n" : cue[i].spaced ? " " : "";
    text += i == marked && marked < end_marked ? "<u>" : "";
    text += cue[i].text;
    text += i + 1 == end_marked && marked < end_marked ? "</u>" : "";
  }
  return text;
}

Cue cue_of(int64_t start_ms, int64_t end_ms, std::string text) {
  return {.start_s = static_cast<double>(start_ms) / 1000,
          .end_s = static_cast<double>(end_ms) / 1000,
          .text = std::move(text)};
}

// A cue for each word, that word underlined, and one without a mark where nothing is said. Words
// that begin together are underlined together.
void add_highlighted(std::span<const CueAtom> atoms, int64_t start_ms, int64_t end_ms,
                     std::vector<Cue>& cues) {
  int64_t shown_ms = start_ms;
  for (size_t i = 0; i < atoms.size();) {
    size_t end = i + 1;
    while (end < atoms.size() && atoms[end].start_ms <= std::max(shown_ms, atoms[i].start_ms)) {
      ++end;
    }
    const int64_t next_ms = end < atoms.size() ? std::min(end_ms, atoms[end].start_ms) : end_ms;
    const int64_t from_ms = std::clamp(atoms[i].start_ms, shown_ms, next_ms);
    if (from_ms > shown_ms) {
      cues.push_back(cue_of(shown_ms, from_ms, text_of(atoms, 0, 0)));
      shown_ms = from_ms;
    }
    const int64_t said_ms = std::min(atoms[end - 1].end_ms, next_ms);
    const int64_t to_ms = said_ms > from_ms ? said_ms : next_ms;
    if (to_ms > from_ms) {
      cues.push_back(cue_of(from_ms, to_ms, text_of(atoms, i, end)));
      shown_ms = to_ms;
    }
    i = end;
  }
  if (end_ms > shown_ms) {
    cues.push_back(cue_of(shown_ms, end_ms, text_of(atoms, 0, 0)));
  }
}

Limits limits_of(const Transcript& transcript, const WriterOptions& options) {
  Limits limits;
  limits.width = static_cast<size_t>(options.max_line_width.value_or(kLineColumns));
  limits.lines = static_cast<size_t>(options.max_line_count.value_or(kLines));
  if (options.max_cue_characters > 0) {
    limits.characters = static_cast<size_t>(options.max_cue_characters);
  }
  if (transcript.duration_s > 0) {
    limits.end_ms = to_milliseconds(options.start_s + transcript.duration_s);
  }
  return limits;
}

// Whether somebody begins to speak well before another one has ended.
bool speak_together(const std::vector<Segment>& segments) {
  constexpr double kTogether_s = 0.3;
  return std::ranges::adjacent_find(segments, [](const Segment& before, const Segment& segment) {
           return segment.speaker != before.speaker && segment.start_s < before.end_s - kTogether_s;
         }) != segments.end();
}

// Cues one behind the other.
std::vector<Cue> lay_out(const Transcript& transcript, const WriterOptions& options) {
  Limits limits = limits_of(transcript, options);
  std::vector<CueAtom> atoms = cue_atoms(transcript.segments, limits.width);
  if (!atoms.empty()) {
    limits.end_ms = std::max(limits.end_ms, atoms.back().end_ms);
  }
  std::vector<Cue> cues;
  const std::vector<size_t> ends = CueCuts(atoms, transcript.segments, limits).choose();
  int64_t shown_ms = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    const size_t first = i == 0 ? 0 : ends[i - 1];
    const std::span<CueAtom> cue(&atoms[first], ends[i] - first);
    const Segment& segment = transcript.segments[cue.front().segment];
    const std::string prefix = speaker_prefix(segment.speaker);
    const size_t prefix_columns = prefix.empty() ? 0 : column_count(prefix) + 1;
    break_lines(cue, prefix_columns, limits);
    size_t columns = prefix_columns;
    for (const CueAtom& atom : cue) {
      columns += atom.columns + (atom.spaced ? 1 : 0);
    }
    const int64_t start_ms = std::max(shown_ms, cue.front().start_ms);
    const int64_t next_ms = ends[i] < atoms.size() ? atoms[ends[i]].start_ms : limits.end_ms;
    const int64_t wanted_ms =
        std::max({cue.back().end_ms, start_ms + kShortest_ms, start_ms + reading_ms(columns)});
    // Words that nobody had time to say still stand for a moment.
    const int64_t end_ms =
        std::max(start_ms + 1, std::min({wanted_ms, start_ms + kLongest_ms, next_ms}));
    shown_ms = end_ms;
    const size_t had = cues.size();
    if (options.highlight_words && cue.front().timed) {
      add_highlighted(cue, start_ms, end_ms, cues);
    } else {
      cues.push_back(cue_of(start_ms, end_ms, text_of(cue, 0, 0)));
    }
    for (size_t made = had; made < cues.size(); ++made) {
      cues[made].speaker = segment.speaker;
    }
  }
  return cues;
}

}  // namespace

std::vector<Cue> readable_cues(const Transcript& transcript, const WriterOptions& options) {
  if (!speak_together(transcript.segments)) {
    return lay_out(transcript, options);
  }
  // Each speaker's cues stand while he speaks, at the same time as another's.
  std::map<std::string, Transcript> speakers;
  for (const Segment& segment : transcript.segments) {
    Transcript& its = speakers[segment.speaker];
    its.duration_s = transcript.duration_s;
    its.segments.push_back(segment);
  }
  std::vector<Cue> cues;
  for (const auto& [speaker, its] : speakers) {
    std::vector<Cue> both;
    std::ranges::merge(cues, lay_out(its, options), std::back_inserter(both), {}, &Cue::start_s,
                       &Cue::start_s);
    cues = std::move(both);
  }
  return cues;
}

}  // namespace mynah
