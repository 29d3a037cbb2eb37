// TalkPrinter: what happens in a conversation, as lines for people, or as JSON.
#pragma once

#include <string>
#include <string_view>

#include "cli/command/verb.h"
#include "talk/loop/talk_event.h"
#include "talk/organs/organs.h"

namespace mynah::cli {

// What becomes of a tool, in a line for people.
[[nodiscard]] std::string tool_line(const talk::ToolNews& news);

class TalkPrinter {
 public:
  struct Options {
    bool timings = false;          // for people, how long each reply took
    bool sound_on_output = false;  // standard output is taken: words go to standard error
  };

  TalkPrinter(Context& context, const Options& options) : context_(context), options_(options) {}

  // Who converses, before all else: where each computes, and whether words leave the machine.
  void print_organs(const talk::OrganFacts& ear, const talk::OrganFacts& mind,
                    const talk::OrganFacts& mouth);

  void print(const talk::TalkEvent& event);

  // What happens to the microphone, the loudspeaker or this machine: an event "device" whose `news`
  // is that kind, a line for people.
  void print_device(std::string_view kind, const std::string& text);

  // Whether an organ failed.
  [[nodiscard]] bool any_fault() const { return any_fault_; }

  // Whether somebody was heard to say something.
  [[nodiscard]] bool any_words() const { return any_words_; }

 private:
  void print_json(const talk::TalkEvent& event);

  // A line for people.
  void print_line(const std::string& line);

  Context& context_;
  Options options_;
  bool any_fault_ = false;
  bool any_words_ = false;
};

}  // namespace mynah::cli
