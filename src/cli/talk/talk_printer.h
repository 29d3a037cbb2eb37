// TalkPrinter: what happens in a conversation, as lines for people, or as JSON.
#pragma once

#include <string>

#include "cli/command/verb.h"
#include "talk/loop/talk_event.h"
#include "talk/organs/organs.h"

namespace mynah::cli {

// What becomes of a tool, in a line for people.
[[nodiscard]] std::string tool_line(const talk::ToolNews& news);

class TalkPrinter {
 public:
  // `timings`: for people, how long each reply took.
  TalkPrinter(Context& context, bool timings) : context_(context), timings_(timings) {}

  // Who converses, before all else: where each computes, and whether words leave the machine.
  void print_organs(const talk::OrganFacts& ear, const talk::OrganFacts& mind,
                    const talk::OrganFacts& mouth);

  void print(const talk::TalkEvent& event);

  // Whether an organ failed.
  [[nodiscard]] bool any_fault() const { return any_fault_; }

 private:
  void print_json(const talk::TalkEvent& event);

  Context& context_;
  bool timings_;
  bool any_fault_ = false;
};

}  // namespace mynah::cli
