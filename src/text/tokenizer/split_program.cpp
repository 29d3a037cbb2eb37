#include "text/tokenizer/split_program.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// A repetition's bounds; none: without end.
struct Repetition {
  uint32_t least = 1;
  std::optional<uint32_t> most = 1;
};

constexpr uint32_t kMostRepetitions = 1000;
constexpr uint32_t kLastCodePoint = 0x10FFFF;

// Compiles each part once it is known where it goes on, so that a part is read as often as it is
// repeated.
class PatternReader {
 public:
  PatternReader(std::string_view pattern, SplitProgram& program)
      : pattern_(pattern), program_(program) {}

  // The program of the whole pattern, before `next`.
  Result<uint32_t> read(uint32_t next) {
    MYNAH_TRY(const uint32_t start, alternatives(next));
    if (at_ != pattern_.size()) {
      return complain("an end");
    }
    return start;
  }

 private:
  std::unexpected<Error> complain(std::string_view wanted) const {
    return fail(ErrorCode::InvalidInput,
                fmt::format("pattern {}, byte {}: wanted {}", pattern_, at_, wanted));
  }

  bool take(std::string_view text) {
    if (!pattern_.substr(at_).starts_with(text)) {
      return false;
    }
    at_ += text.size();
    return true;
  }

  uint32_t emit(SplitStep step, uint32_t first, uint32_t second = 0) {
    program_.instructions.push_back({.step = step, .first = first, .second = second});
    return static_cast<uint32_t>(program_.instructions.size() - 1);
  }

  Result<uint32_t> alternatives(uint32_t next) {
    MYNAH_TRY(const uint32_t first, sequence(next));
    if (!take("|")) {
      return first;
    }
    MYNAH_TRY(const uint32_t others, alternatives(next));
    return emit(SplitStep::Fork, first, others);
  }

  // Where a sequence goes on is known once what follows is compiled: its atoms are passed over
  // first and compiled from the last to the first.
  Result<uint32_t> sequence(uint32_t next) {
    std::vector<size_t> atoms;
    while (at_ < pattern_.size() && pattern_[at_] != '|' && pattern_[at_] != ')') {
      atoms.push_back(at_);
      MYNAH_TRY_STATUS(pass_over_quantified());
    }
    const size_t end = at_;
    for (auto atom = atoms.rbegin(); atom != atoms.rend(); ++atom) {
      at_ = *atom;
      MYNAH_TRY(next, quantified(next));
    }
    at_ = end;
    return next;
  }

  Status pass_over_quantified() {
    const size_t instructions = program_.instructions.size();
    const size_t sets = program_.sets.size();
    MYNAH_TRY_STATUS(atom(0));
    MYNAH_TRY_STATUS(repetition());
    program_.instructions.resize(instructions);
    program_.sets.resize(sets);
    return {};
  }

  Result<uint32_t> quantified(uint32_t next) {
    const size_t begin = at_;
    MYNAH_TRY_STATUS(pass_over_quantified());
    const size_t end = at_;
    at_ = begin;
    MYNAH_TRY_STATUS(atom(0));
    MYNAH_TRY(const Repetition times, repetition());
    const auto once = [&](uint32_t before) {
      at_ = begin;
      return atom(before);
    };
    if (!times.most) {
      const uint32_t fork = emit(SplitStep::Fork, 0, next);
      MYNAH_TRY(program_.instructions[fork].first, once(fork));
      next = fork;
    } else {
      const uint32_t after = next;
      for (uint32_t i = times.least; i < *times.most; ++i) {
        MYNAH_TRY(const uint32_t one, once(next));
        next = emit(SplitStep::Fork, one, after);
      }
    }
    for (uint32_t i = 0; i < times.least; ++i) {
      MYNAH_TRY(next, once(next));
    }
    at_ = end;
    return next;
  }

  Result<uint32_t> number() {
    uint32_t value = 0;
    const auto* const end = pattern_.data() + pattern_.size();
    const auto [rest, error] = std::from_chars(pattern_.data() + at_, end, value);
    if (error != std::errc() || value > kMostRepetitions) {
      return complain("a number of repetitions up to 1000");
    }
    at_ = static_cast<size_t>(rest - pattern_.data());
    return value;
  }

  Result<Repetition> repetition() {
    if (take("?")) {
      return Repetition{.least = 0};
    }
    if (take("*")) {
      return Repetition{.least = 0, .most = std::nullopt};
    }
    if (take("+")) {
      return Repetition{.most = std::nullopt};
    }
    if (!take("{")) {
      return Repetition{};
    }
    Repetition times;
    MYNAH_TRY(times.least, number());
    times.most = times.least;
    if (take(",")) {
      MYNAH_TRY(times.most, number());
    }
    if (!take("}") || *times.most < times.least) {
      return complain("the end of a repetition {m,n}");
    }
    return times;
  }

  Result<uint32_t> atom(uint32_t next) {
    if (take("(?!\\S)")) {
      return emit(SplitStep::BeforeGap, next);
    }
    if (take("$")) {
      return emit(SplitStep::AtEnd, next);
    }
    const bool any_case = take("(?i:");
    if (any_case || take("(?:")) {
      const bool outer = std::exchange(any_case_, any_case_ || any_case);
      const auto inner = alternatives(next);
      any_case_ = outer;
      if (inner && !take(")")) {
        return complain("the end of a group");
      }
      return inner;
    }
    CodePointSet set;
    if (take("[")) {
      MYNAH_TRY_STATUS(brackets(set));
    } else {
      MYNAH_TRY_STATUS(item(set));
    }
    const auto known = std::ranges::find(program_.sets, set);
    const auto index = static_cast<uint32_t>(known - program_.sets.begin());
    if (known == program_.sets.end()) {
      program_.sets.push_back(std::move(set));
    }
    return emit(SplitStep::Set, index, next);
  }

  Status brackets(CodePointSet& set) {
    const bool negated = take("^");
    while (!take("]")) {
      MYNAH_TRY_STATUS(item(set));
    }
    if (negated) {
      set.negate();
    }
    return {};
  }

  // A code point, a range of them, or what stands for a set.
  Status item(CodePointSet& set) {
    if (take("\\s")) {
      set.add_white_space();
      return {};
    }
    if (take("\\S")) {
      set.add_white_space();
      set.negate();
      return {};
    }
    if (take("\\p{")) {
      const size_t end = std::min(pattern_.find('}', at_), pattern_.size());
      const std::string_view name = pattern_.substr(at_, end - at_);
      if (end == pattern_.size() || !set.add_category(name)) {
        return complain("a general category and }");
      }
      at_ = end + 1;
      return {};
    }
    MYNAH_TRY(const char32_t first, code_point());
    char32_t last = first;
    if (pattern_.substr(at_).starts_with("-") && !pattern_.substr(at_).starts_with("-]")) {
      ++at_;
      MYNAH_TRY(last, code_point());
    }
    if (last < first) {
      return complain("a range that rises");
    }
    set.add(first, last);
    const char32_t small = first | 0x20;
    if (any_case_ && small >= U'a' && small <= U'z') {
      set.add(small, small);
      set.add(small ^ 0x20, small ^ 0x20);
    }
    return {};
  }

  Result<char32_t> code_point() {
    if (take("\\x{")) {
      uint32_t value = 0;
      const auto* const end = pattern_.data() + pattern_.size();
      const auto [rest, error] = std::from_chars(pattern_.data() + at_, end, value, 16);
      at_ = static_cast<size_t>(rest - pattern_.data());
      if (error != std::errc() || value > kLastCodePoint || !take("}")) {
        return complain("a code point in base 16 and }");
      }
      return static_cast<char32_t>(value);
    }
    if (take("\\")) {
      constexpr std::string_view kLetters = "nrt";
      constexpr std::string_view kControls = "\n\r\t";
      const char letter = at_ < pattern_.size() ? pattern_[at_] : 'a';
      if (const size_t control = kLetters.find(letter); control != std::string_view::npos) {
        ++at_;
        return static_cast<char32_t>(kControls[control]);
      }
      if (is_ascii_alnum(static_cast<unsigned char>(letter))) {
        return complain("n, r, t or a sign behind \\");
      }
    }
    const Utf8Step step = next_code_point(pattern_.substr(at_));
    if (!step.valid) {
      return complain("a code point");
    }
    at_ += step.bytes;
    return step.code_point;
  }

  std::string_view pattern_;
  SplitProgram& program_;
  size_t at_ = 0;
  bool any_case_ = false;
};

}  // namespace

Result<SplitProgram> read_split_pattern(std::string_view pattern, std::string_view skip) {
  SplitProgram program;
  program.instructions = {{.step = SplitStep::Match}, {.step = SplitStep::Skip}};
  MYNAH_TRY(program.start, PatternReader(pattern, program).read(0));
  if (!skip.empty()) {
    MYNAH_TRY(const uint32_t skipped, PatternReader(skip, program).read(1));
    program.instructions.push_back(
        {.step = SplitStep::Fork, .first = program.start, .second = skipped});
    program.start = static_cast<uint32_t>(program.instructions.size() - 1);
  }
  return program;
}

}  // namespace mynah
