#include "text/tokenizer/splitter.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace mynah {
namespace {

constexpr size_t kMostStates = 10000;

// SplitThreads of the program by priority: where each goes on.
using SplitThreads = std::vector<uint32_t>;

// What threads come to before one code point, or before the end.
struct Step {
  SplitThreads next;
  bool matches = false;
  bool skips = false;
};

// Follows the threads up to what takes a code point of a class.
class Stepper {
 public:
  Stepper(const SplitProgram& program, const CodePointClasses& classes, size_t white_space)
      : program_(program), classes_(classes), white_space_(white_space) {}

  // of_class is classes.size() for the end of the text.
  Step step(const SplitThreads& threads, size_t of_class) {
    Step result;
    seen_.assign(program_.instructions.size(), false);
    for (const uint32_t thread : threads) {
      if (!follow(thread, of_class, result)) {
        break;
      }
    }
    return result;
  }

 private:
  // False where a match was met: what has a lower priority counts no more.
  bool follow(uint32_t thread, size_t of_class, Step& result) {
    std::vector<uint32_t> stack = {thread};
    while (!stack.empty()) {
      const uint32_t at = stack.back();
      stack.pop_back();
      if (seen_[at]) {
        continue;
      }
      seen_[at] = true;
      const SplitInstruction& instruction = program_.instructions[at];
      const bool is_end = of_class == classes_.size();
      switch (instruction.step) {
        case SplitStep::Set:
          if (!is_end && classes_.is_in(of_class, instruction.first) &&
              std::ranges::find(result.next, instruction.second) == result.next.end()) {
            result.next.push_back(instruction.second);
          }
          break;
        case SplitStep::Fork:
          stack.push_back(instruction.second);
          stack.push_back(instruction.first);
          break;
        case SplitStep::BeforeGap:
          if (is_end || classes_.is_in(of_class, white_space_)) {
            stack.push_back(instruction.first);
          }
          break;
        case SplitStep::AtEnd:
          if (is_end) {
            stack.push_back(instruction.first);
          }
          break;
        case SplitStep::Match:
          result.matches = true;
          return false;
        case SplitStep::Skip:
          result.skips = true;
          return false;
      }
    }
    return true;
  }

  const SplitProgram& program_;
  const CodePointClasses& classes_;
  size_t white_space_;
  std::vector<bool> seen_;
};

}  // namespace

Splitter::Splitter(const SplitProgram& program) : classes_(program.sets) {}

Result<Splitter> Splitter::create(std::string_view pattern, std::string_view skip) {
  MYNAH_TRY(SplitProgram program, read_split_pattern(pattern, skip));
  CodePointSet white_space;
  white_space.add_white_space();
  program.sets.push_back(white_space);
  Splitter splitter(program);
  Stepper stepper(program, splitter.classes_, program.sets.size() - 1);
  std::map<SplitThreads, uint16_t> known;
  std::vector<SplitThreads> states;
  const auto state_of = [&](SplitThreads threads) {
    if (threads.empty()) {
      return kNowhere;
    }
    const auto [found, is_new] =
        known.try_emplace(std::move(threads), static_cast<uint16_t>(states.size()));
    if (is_new) {
      states.push_back(found->first);
    }
    return found->second;
  };
  state_of({program.start});
  for (size_t state = 0; state < states.size(); ++state) {
    for (size_t of_class = 0; of_class <= splitter.classes_.size(); ++of_class) {
      Step step = stepper.step(states[state], of_class);
      splitter.transitions_.push_back(
          {.next = state_of(std::move(step.next)), .matches = step.matches, .skips = step.skips});
    }
    if (states.size() > kMostStates) {
      return fail(
          ErrorCode::InvalidInput,
          fmt::format("pattern {}: wanted at most {} states, found more", pattern, kMostStates));
    }
  }
  return splitter;
}

}  // namespace mynah
