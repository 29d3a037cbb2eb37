// WerReport: the scores of many clips, as a table for the terminal and as a page that plays each
// clip beside its differences.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "text/word_error.h"

namespace mynah {

// One recording's transcript scored against its reference.
struct ScoredClip {
  std::string name;        // as the table of references calls it
  std::string audio_path;  // what the page's player opens, from the page; empty: no player
  std::string language;    // code
  std::string reference;   // as given, not normalised
  std::string hypothesis;  // likewise
  bool by_character = false;
  Alignment alignment;  // of the normalised texts
};

// Scores one clip by its language's rules (TextScorer).
[[nodiscard]] ScoredClip score_clip(std::string name, std::string audio_path, std::string language,
                                    std::string reference, std::string hypothesis);

class WerReport {
 public:
  void add(ScoredClip clip);

  // In the order in which they were added.
  [[nodiscard]] const std::vector<ScoredClip>& clips() const { return clips_; }

  // Errors over all clips of one unit; rate() is total errors over total length.
  [[nodiscard]] ErrorCounts words() const;
  [[nodiscard]] ErrorCounts characters() const;
  // Totals of each language code.
  [[nodiscard]] std::map<std::string, ErrorCounts> by_language() const;

 private:
  std::vector<ScoredClip> clips_;
};

// A line a clip with its counts and rate, then the totals. Plain text, ends with a newline.
[[nodiscard]] std::string write_table(const WerReport& report);

// One HTML page that needs nothing else but the clips: a sortable table, for each clip a player and
// the aligned texts with errors coloured. `title` is shown and may hold anything.
[[nodiscard]] std::string write_html(const WerReport& report, std::string_view title);

}  // namespace mynah
