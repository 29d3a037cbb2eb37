// What plain text with inline marks and SSML both become: stretches of text under one voice, rate
// and volume, and pauses between them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "text/spoken/spoken_text.h"

namespace mynah {

// Bytes [begin, end).
struct ByteRange {
  size_t begin = 0;
  size_t end = 0;

  bool operator==(const ByteRange&) const = default;
};

// Where text came from that lost its marks on the way: runs that were copied, or stand for a run of
// another length ("&amp;").
class SourceMap {
 public:
  // The next `length` bytes of the text came from there.
  void add(size_t length, ByteRange source);

  // The source of a stretch of the text: from its first byte's to its last byte's.
  [[nodiscard]] ByteRange source_of(ByteRange text) const;

 private:
  struct Run {
    size_t text_begin = 0;
    size_t text_end = 0;
    ByteRange source;
  };

  [[nodiscard]] ByteRange byte_source(size_t at) const;

  std::vector<Run> runs_;
};

struct SpeakPart {
  enum class Kind : unsigned char { Text, Pause };

  Kind kind = Kind::Text;
  std::string text;             // whole sentences, or part of one where voice or rate changes
  std::vector<TextMark> marks;  // of `text`
  SourceMap source;             // from `text` to the document
  double pause_s = 0.0;
  std::string voice;     // empty: the speaker's own
  std::string language;  // BCP 47; empty: the speaker's own
  double rate = 1.0;     // 0.25 to 4; 2 is twice as fast
  double volume = 1.0;   // factor of the amplitude, 0 to 4
  bool ends_paragraph = false;
};

struct SpeakScript {
  std::vector<SpeakPart> parts;
  std::vector<std::string> warnings;  // what was ignored, each thing once
};

inline constexpr double kLeastRate = 0.25;
inline constexpr double kMostRate = 4.0;
inline constexpr double kMostVolume = 4.0;
inline constexpr double kLongestPause_s = 60.0;

// The marks of a stretch of text, such as a sentence, from its begin on; a mark that lies in it
// only in part is cut.
[[nodiscard]] std::vector<TextMark> marks_within(std::span<const TextMark> marks, ByteRange text);

}  // namespace mynah
