// LineEditor: lines that somebody writes at a terminal, with a history.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/chat/interrupts.h"

namespace mynah::cli {

class LineEditor {
 public:
  // What may go on behind the beginning of a line, for Tab.
  struct Completion {
    std::string rest;                  // where there is one way alone
    std::vector<std::string> choices;  // where there are several: they are listed
  };

  using Complete = std::function<Completion(std::string_view beginning)>;

  // `history`: the file that lines are kept in, readable by the user alone; "": nowhere.
  LineEditor(std::string history, Interrupts& interrupts, Complete complete);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  struct Line {
    std::string text;
    bool interrupted = false;  // Ctrl-C: what was written of it is thrown away
  };

  // The next line, without its end; none: the end (Ctrl-D). What is pasted, where the terminal says
  // so (bracketed paste), is part of one line, with the ends of lines in it.
  std::optional<Line> read(const std::string& prompt);

  // Puts a text into the history, of one line or several; "" is none.
  void keep(const std::string& text);

  // One key, without Enter; none: the end, or Ctrl-C.
  std::optional<char> read_key(const std::string& question);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mynah::cli
