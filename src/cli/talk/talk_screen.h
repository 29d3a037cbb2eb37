// TalkScreen: a terminal as a whole, while somebody talks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace mynah::cli {

// What is shown of a conversation.
struct TalkView {
  struct Line {
    std::string who;  // "you", "mynah"; empty: a note
    std::string text;
  };

  std::vector<Line> lines;  // the last ones are shown
  std::string draft;        // what is heard of the turn so far
  std::string saying;       // what was played so far of the reply under way
  std::string doing;        // "listening"
  double level_db = -100;   // the microphone's loudest sample of late, full scale is 0
  std::string devices;
  std::string figures;
  std::string keys;
};

// The view as the terminal's whole content, row by row: what was said above, then what is going on,
// of which a line that is wider than the terminal has two rows where there is room. Control
// characters in its texts are left out.
[[nodiscard]] std::string painted(const TalkView& view, int rows, int columns);

// A line of the conversation for a terminal as it scrolls.
[[nodiscard]] std::string plain_line(const TalkView::Line& line);

// While it lives the terminal shows nothing else and gives single keys. It is as it was afterwards,
// also where the program crashes or a second signal ends it; what only SIGKILL ends cannot mend it.
class TalkScreen {
 public:
  // Both ends are descriptors of a terminal; Environment where they are none.
  static Result<std::unique_ptr<TalkScreen>> open(int in, int out);

  ~TalkScreen();
  TalkScreen(const TalkScreen&) = delete;
  TalkScreen& operator=(const TalkScreen&) = delete;

  // Shows it in the size that the terminal has now, anew where that is another. False: the terminal
  // is gone.
  bool show(const TalkView& view);

  // A key that was pressed meanwhile: a character, Escape (27), Ctrl-C (3). Those that send several
  // characters are passed over. None: there was none.
  std::optional<char> key();

 private:
  TalkScreen(int in, int out) : in_(in), out_(out) {}

  int in_;
  int out_;
  std::string shown_;
};

}  // namespace mynah::cli
