#include "speech/word_times.h"

#include <algorithm>
#include <cmath>

#include "base/ascii.h"
#include "speech/writer_parts.h"

namespace mynah {
namespace {

constexpr double kLeastWord_s = 0.05;
constexpr std::string_view kSentenceEnds = ".。!！?？";

bool is_one_of(std::string_view text, std::string_view set) {
  return set.find(text) != std::string_view::npos;
}

double length(const HeardWord& word) {
  return word.end_s - word.start_s;
}

double centiseconds(double seconds) {
  return std::round(seconds * 100.0) / 100.0;
}

void append(HeardWord& word, HeardWord& taken) {
  word.text += taken.text;
  word.tokens.insert(word.tokens.end(), taken.tokens.begin(), taken.tokens.end());
  taken.text.clear();
  taken.tokens.clear();
}

// How little a word looks like one that was said (openai/whisper transcribe.py
// word_anomaly_score).
double anomaly(const Word& word) {
  const double seconds = word.end_s - word.start_s;
  double score = word.probability < 0.15F ? 1.0 : 0.0;
  if (seconds < 0.133) {
    score += (0.133 - seconds) * 15;
  }
  if (seconds > 2.0) {
    score += seconds - 2.0;
  }
  return score;
}

// Letters, by which words share their time.
double weight(const Word& word) {
  return static_cast<double>(character_count(trimmed(word.text, " "))) + 1;
}

// The time from `start_s` to the last word's end, among all of them.
void share_out(std::span<Word> words, double start_s) {
  const double end_s = words.back().end_s;
  double left = 0;
  for (const Word& word : words) {
    left += weight(word);
  }
  for (Word& word : words) {
    word.start_s = start_s;
    word.end_s = &word == &words.back()
                     ? end_s
                     : centiseconds(start_s + (end_s - start_s) * weight(word) / left);
    left -= weight(word);
    start_s = word.end_s;
  }
}

// Words of no length, and one behind them, whose time they share where it begins with them; else
// they last until it begins, or a while.
void lengthen(std::span<Word> words) {
  constexpr double kWhile_s = 0.3;
  const double start_s = words.front().start_s;
  if (words.back().start_s - start_s < kLeastWord_s) {
    share_out(words, start_s);
    return;
  }
  const std::span<Word> before = words.first(words.size() - 1);
  before.back().end_s =
      std::min(words.back().start_s, start_s + kWhile_s * static_cast<double>(before.size()));
  share_out(before, start_s);
}

// The words from `first` on, which end the segment and have no length: they share the time of the
// one before, where that touches them, or the moment before them, or behind.
void lengthen_last(Segment& segment, size_t first, double least_s) {
  constexpr double kMoment_s = 0.1;
  const std::span<Word> words = segment.words;
  const double at_s = words[first].start_s;
  if (first > 0 && words[first - 1].end_s >= at_s && words[first - 1].start_s < at_s) {
    share_out(words.subspan(first - 1), words[first - 1].start_s);
    return;
  }
  const double earliest_s = first > 0 ? words[first - 1].end_s : least_s;
  const double start_s = std::max(earliest_s, centiseconds(at_s - kMoment_s));
  if (start_s < at_s) {
    words.back().end_s = at_s;
  } else {
    words.back().end_s = centiseconds(at_s + kMoment_s);
  }
  share_out(words.subspan(first), std::min(start_s, at_s));
  segment.start_s = std::min(segment.start_s, words.front().start_s);
  segment.end_s = std::max(segment.end_s, words.back().end_s);
}

const Segment* next_with_words(std::span<const Segment> segments) {
  const auto found =
      std::ranges::find_if(segments, [](const Segment& s) { return !s.words.empty(); });
  return found == segments.end() ? nullptr : &*found;
}

}  // namespace

void merge_punctuation(std::vector<HeardWord>& words) {
  if (words.empty()) {
    return;
  }
  // From the back: what opens belongs to the word after it.
  size_t following = words.size() - 1;
  for (size_t i = following; i-- > 0;) {
    HeardWord& mark = words[i];
    if (mark.text.starts_with(' ') && is_one_of(trimmed(mark.text, " "), kPrependPunctuation)) {
      append(mark, words[following]);
      std::swap(mark.text, words[following].text);
      std::swap(mark.tokens, words[following].tokens);
    } else {
      following = i;
    }
  }
  // From the front: what closes belongs to the word before it.
  size_t previous = 0;
  for (size_t i = 1; i < words.size(); ++i) {
    if (!words[previous].text.ends_with(' ') && is_one_of(words[i].text, kAppendPunctuation)) {
      append(words[previous], words[i]);
    } else {
      previous = i;
    }
  }
  std::erase_if(words, [](const HeardWord& w) { return w.tokens.empty(); });
}

double shorten_sentence_ends(std::span<HeardWord> words) {
  std::vector<double> lengths;
  for (const HeardWord& word : words) {
    if (length(word) != 0) {
      lengths.push_back(length(word));
    }
  }
  if (lengths.empty()) {
    return 0;
  }
  std::ranges::sort(lengths);
  const size_t half = lengths.size() / 2;
  const double median =
      lengths.size() % 2 == 1 ? lengths[half] : (lengths[half - 1] + lengths[half]) / 2;
  const double usual = std::min(0.7, median);
  for (size_t i = 1; i < words.size(); ++i) {
    if (length(words[i]) <= 2 * usual) {
      continue;
    }
    if (is_one_of(words[i].text, kSentenceEnds)) {
      words[i].end_s = words[i].start_s + 2 * usual;
    } else if (is_one_of(words[i - 1].text, kSentenceEnds)) {
      words[i].start_s = words[i].end_s - 2 * usual;
    }
  }
  return usual;
}

void set_words(Segment& segment, std::span<const HeardWord> timings, double offset_s,
               double median_s, double last_speech_s) {
  std::vector<Word>& words = segment.words;
  words.clear();
  for (const HeardWord& timing : timings) {
    if (!timing.text.empty()) {
      words.push_back({.text = timing.text,
                       .start_s = centiseconds(offset_s + timing.start_s),
                       .end_s = centiseconds(offset_s + timing.end_s),
                       .probability = timing.probability});
    }
  }
  if (words.empty()) {
    return;
  }
  // The first words after a pause are not longer than twice the median.
  const double longest = 2 * median_s;
  Word& first = words.front();
  const bool two = words.size() > 1;
  if (first.end_s - last_speech_s > 4 * median_s &&
      (first.end_s - first.start_s > longest ||
       (two && words[1].end_s - first.start_s > 2 * longest))) {
    if (two && words[1].end_s - words[1].start_s > longest) {
      const double boundary = std::max(words[1].end_s / 2, words[1].end_s - longest);
      first.end_s = words[1].start_s = boundary;
    }
    first.start_s = std::max(0.0, first.end_s - longest);
  }
  // The timestamp's start where the first word is too long, else the word's.
  if (segment.start_s < first.end_s && segment.start_s - 0.5 > first.start_s) {
    first.start_s = std::max(0.0, std::min(first.end_s - median_s, segment.start_s));
  } else {
    segment.start_s = first.start_s;
  }
  Word& last = words.back();
  if (segment.end_s > last.start_s && segment.end_s + 0.5 < last.end_s) {
    last.end_s = std::max(last.start_s + median_s, segment.end_s);
  } else {
    segment.end_s = last.end_s;
  }
}

double share_out_words(std::span<Segment> segments, std::vector<HeardWord> words, double offset_s,
                       double last_speech_s) {
  const bool have_theirs = words.empty();
  const double median_s = shorten_sentence_ends(words);
  merge_punctuation(words);
  size_t next = 0;
  for (Segment& segment : segments) {
    // A word belongs to the segment in which it begins.
    const size_t first = next;
    for (size_t tokens = 0; next < words.size() && tokens < segment.tokens.size(); ++next) {
      tokens += words[next].tokens.size();
    }
    if (!have_theirs) {
      set_words(segment, std::span(words).subspan(first, next - first), offset_s, median_s,
                last_speech_s);
    }
    if (!segment.words.empty()) {
      last_speech_s = segment.end_s;
    }
  }
  return last_speech_s;
}

void give_words_length(std::span<Segment> segments, double least_s) {
  for (Segment& segment : segments) {
    const std::span<Word> words = segment.words;
    for (size_t first = 0; first < words.size();) {
      size_t end = first + 1;
      while (end < words.size() && words[end - 1].end_s <= words[first].start_s) {
        ++end;
      }
      // Words of no length, and the one behind them, if there is one.
      if (words[end - 1].end_s <= words[first].start_s) {
        lengthen_last(segment, first, least_s);
      } else if (end - first > 1) {
        lengthen(words.subspan(first, end - first));
      }
      first = end;
    }
    least_s = std::max(least_s, segment.end_s);
  }
}

bool is_anomalous(const Segment& segment) {
  constexpr size_t kFirstWords = 8;
  double score = 0;
  size_t counted = 0;
  for (const Word& word : segment.words) {
    if (counted == kFirstWords) {
      break;
    }
    if (!is_one_of(word.text, kPrependPunctuation) && !is_one_of(word.text, kAppendPunctuation)) {
      score += anomaly(word);
      ++counted;
    }
  }
  return !segment.words.empty() && (score >= 3 || score + 0.01 >= static_cast<double>(counted));
}

double drop_hallucinations(std::vector<Segment>& segments, const WindowExtent& window,
                           double threshold_s) {
  const Segment* const first = next_with_words(segments);
  if (first != nullptr && is_anomalous(*first) && first->start_s - window.start_s > threshold_s) {
    // Silence first: hear again from where the doubtful text begins.
    const double from_s = first->start_s;
    segments.clear();
    return from_s;
  }
  double last_end_s = window.last_speech_s;
  for (size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    if (segment.words.empty()) {
      continue;
    }
    if (is_anomalous(segment)) {
      const Segment* const next = next_with_words(std::span(segments).subspan(i + 1));
      const double next_start_s = next != nullptr ? next->words.front().start_s : window.end_s;
      const bool silence_before = segment.start_s - last_end_s > threshold_s ||
                                  segment.start_s < threshold_s ||
                                  segment.start_s - window.start_s < 2.0;
      const bool silence_after = next_start_s - segment.end_s > threshold_s ||
                                 (next != nullptr && is_anomalous(*next)) ||
                                 window.end_s - segment.end_s < 2.0;
      if (silence_before && silence_after) {
        const double from_s = window.recording_end_s - segment.end_s < threshold_s
                                  ? window.recording_end_s
                                  : std::max(window.start_s + 1, segment.start_s);
        segments.resize(i);
        return from_s;
      }
    }
    last_end_s = segment.end_s;
  }
  return -1;
}

}  // namespace mynah
