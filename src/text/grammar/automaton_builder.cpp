#include "text/grammar/automaton_builder.h"

#include <algorithm>

#include <fmt/format.h>

#include "text/grammar/utf8_ranges.h"

namespace mynah::grammar {
namespace {

// States of a rule that is written where it is called: white space, a digit, an escape. Tokens
// that leave a rule have to be tried in every place that calls it, so small ones are worth it.
constexpr int64_t kInlineStates = 64;
// States of a repeat that is written out, and of a part of one that is halved: a JSON string of
// 500 characters, and parts longer than any token.
constexpr int64_t kRepeatStates = 16384;
constexpr int64_t kPartStates = 4096;

// States of a set with code points of more than a byte, about.
constexpr int64_t kWideSetStates = 8;

}  // namespace

StateId AutomatonBuilder::add_state() {
  if (accepts_.size() >= kMostStates) {
    too_big_ = true;
    return 0;
  }
  accepts_.push_back(0);
  return static_cast<StateId>(accepts_.size() - 1);
}

void AutomatonBuilder::add_edge(const Edge& edge) {
  if (edges_.size() >= 4 * kMostStates) {
    too_big_ = true;
    return;
  }
  edges_.push_back(edge);
}

void AutomatonBuilder::add_empty(StateId from, StateId to) {
  if (from != to) {
    add_edge({.from = from, .target = to, .empty = true});
  }
}

void AutomatonBuilder::add_byte(StateId from, uint8_t first, uint8_t last, StateId to) {
  add_edge({.from = from, .target = to, .first = first, .last = last});
}

void AutomatonBuilder::add_call(StateId from, StateId start, StateId to) {
  if (is_rule_end(to)) {
    add_empty(from, start);
  } else {
    add_edge({.from = from, .target = to, .start = start});
  }
}

Status AutomatonBuilder::build() {
  const size_t rules = grammar_.rules().size();
  too_big_ = 2 * rules > kMostStates;
  if (!too_big_) {
    accepts_.resize(rules, 0);
    accepts_.resize(2 * rules, 1);
  }
  // Those before are known by then, the others are looked into.
  for (size_t rule = 0; rule < rules; ++rule) {
    is_inline_.push_back(left_of(kInlineStates, grammar_.rules()[rule].expr, Calls::Refuse) >= 0);
  }
  for (size_t rule = 0; rule < rules && !too_big_; ++rule) {
    add(grammar_.rules()[rule].expr, static_cast<StateId>(rule),
        static_cast<StateId>(rules + rule));
  }
  if (too_big_) {
    return fail(ErrorCode::Unsupported,
                fmt::format("wanted a grammar of at most {} states, found more: make repeats "
                            "shorter or lists of choices smaller",
                            kMostStates));
  }
  return {};
}

void AutomatonBuilder::add(ExprId id, StateId from, StateId to) {
  if (too_big_) {
    return;
  }
  const Grammar::Expr& expr = grammar_.expr(id);
  switch (expr.kind) {
    case Grammar::Kind::Literal:
      return add_literal(grammar_.bytes(expr), from, to);
    case Grammar::Kind::Characters:
      return add_characters(grammar_.set(expr), from, to);
    case Grammar::Kind::Sequence:
      return add_sequence(grammar_.parts(expr), from, to);
    case Grammar::Kind::Choice:
      return add_choice(grammar_.parts(expr), from, to);
    case Grammar::Kind::Repeat:
      return add_repeat(expr, from, to);
    case Grammar::Kind::Rule:
      return add_rule(expr.first, from, to);
  }
}

void AutomatonBuilder::add_literal(std::string_view bytes, StateId from, StateId to) {
  if (bytes.empty()) {
    return add_empty(from, to);
  }
  for (size_t i = 0; i < bytes.size() && !too_big_; ++i) {
    const StateId next = i + 1 == bytes.size() ? to : add_state();
    const auto byte = static_cast<uint8_t>(bytes[i]);
    add_byte(from, byte, byte, next);
    from = next;
  }
}

// What continues alike is one state.
void AutomatonBuilder::add_characters(const CodePoints& set, StateId from, StateId to) {
  std::map<std::pair<ByteRange, StateId>, StateId> before;
  for (const Utf8Ranges& ranges : utf8_ranges(set)) {
    StateId next = to;
    for (size_t i = ranges.span().size() - 1; i > 0; --i) {
      const ByteRange range = ranges.bytes[i];
      const auto [place, is_new] = before.try_emplace({range, next}, 0);
      if (is_new) {
        place->second = add_state();
        add_byte(place->second, range.first, range.last, next);
      }
      next = place->second;
    }
    add_byte(from, ranges.bytes[0].first, ranges.bytes[0].last, next);
  }
}

void AutomatonBuilder::add_sequence(std::span<const ExprId> parts, StateId from, StateId to) {
  if (parts.empty()) {
    return add_empty(from, to);
  }
  for (size_t i = 0; i < parts.size() && !too_big_; ++i) {
    const StateId next = i + 1 == parts.size() ? to : add_state();
    add(parts[i], from, next);
    from = next;
  }
}

// Literals share their beginnings, so that a long list has few readings at once.
void AutomatonBuilder::add_choice(std::span<const ExprId> parts, StateId from, StateId to) {
  std::vector<std::string_view> literals;
  for (const ExprId part : parts) {
    const Grammar::Expr& expr = grammar_.expr(part);
    if (expr.kind == Grammar::Kind::Literal) {
      literals.push_back(grammar_.bytes(expr));
    } else {
      add(part, from, to);
    }
  }
  std::ranges::sort(literals);
  const auto [repeated, end] = std::ranges::unique(literals);
  literals.erase(repeated, end);
  std::vector<StateId> path = {from};  // behind each byte of the literal before, but its last
  std::string_view before;
  for (const std::string_view literal : literals) {
    if (literal.empty()) {
      add_empty(from, to);
      continue;
    }
    const auto shared =
        static_cast<size_t>(std::ranges::mismatch(before, literal).in2 - literal.begin());
    path.resize(std::min({shared + 1, path.size(), literal.size()}));
    while (path.size() < literal.size() && !too_big_) {
      const auto byte = static_cast<uint8_t>(literal[path.size() - 1]);
      path.push_back(add_state());
      add_byte(path[path.size() - 2], byte, byte, path.back());
    }
    const auto byte = static_cast<uint8_t>(literal.back());
    add_byte(path.back(), byte, byte, to);
    before = literal;
  }
}

void AutomatonBuilder::add_repeat(const Grammar::Expr& expr, StateId from, StateId to) {
  const ExprId part = grammar_.parts(expr).front();
  if (expr.min > 0) {
    const StateId next = expr.max == expr.min ? to : add_state();
    add_times(part, {expr.min, false}, from, next);
    from = next;
  }
  if (expr.max == kUnbounded) {
    const StateId loop = add_state();
    add_empty(from, loop);
    add(part, loop, loop);
    add_empty(loop, to);
  } else if (expr.max > expr.min || expr.max == 0) {
    add_times(part, {expr.max - expr.min, true}, from, to);
  }
}

void AutomatonBuilder::add_times(ExprId part, Times times, StateId from, StateId to) {
  if (times.count > 1 && !fits(part, times.count, kRepeatStates)) {
    add_call(from, times_rule(part, times), to);
  } else {
    write_out(part, times, from, to);
  }
}

void AutomatonBuilder::write_out(ExprId part, Times times, StateId from, StateId to) {
  if (times.at_most || times.count == 0) {
    add_empty(from, to);
  }
  for (int32_t i = 1; i <= times.count && !too_big_; ++i) {
    const StateId next = i == times.count ? to : add_state();
    add(part, from, next);
    if (times.at_most && next != to) {
      add_empty(next, to);
    }
    from = next;
  }
}

// X{n} = X{n/2} X{n-n/2}, and X{0,n} = X{m} X{0,n-m} | X{0,m-1} with m about the half of n: as many
// readings at once as n has bits.
StateId AutomatonBuilder::times_rule(ExprId part, Times times) {
  const auto [known, is_new] = times_rules_.try_emplace({part, times}, 0);
  if (!is_new) {
    return known->second;
  }
  const StateId start = add_state();
  const StateId end = add_state();
  if (too_big_) {
    return 0;
  }
  known->second = start;
  accepts_[static_cast<size_t>(end)] = 1;
  if (times.count <= 1 || fits(part, times.count, kPartStates)) {
    write_out(part, times, start, end);
    return start;
  }
  const int32_t half = (times.count + 1) / 2;
  const StateId middle = add_state();
  add_call(start, times_rule(part, {half, false}), middle);
  add_call(middle, times_rule(part, {times.count - half, times.at_most}), end);
  if (times.at_most) {
    add_call(start, times_rule(part, {half - 1, true}), end);
  }
  return start;
}

void AutomatonBuilder::add_rule(RuleId rule, StateId from, StateId to) {
  if (!is_rule_end(to) && is_inline_[static_cast<size_t>(rule)]) {
    add(grammar_.rules()[static_cast<size_t>(rule)].expr, from, to);
  } else {
    add_call(from, rule, to);
  }
}

bool AutomatonBuilder::fits(ExprId part, int64_t times, int64_t budget) const {
  return left_of(budget / std::max<int64_t>(times, 1), part, Calls::Cost) >= 0;
}

int64_t AutomatonBuilder::left_of(int64_t budget, ExprId id, Calls calls) const {
  const Grammar::Expr& expr = grammar_.expr(id);
  --budget;
  switch (expr.kind) {
    case Grammar::Kind::Literal:
      return budget - expr.count;
    case Grammar::Kind::Characters: {
      const auto ranges = grammar_.set(expr).ranges();
      const bool is_wide = !ranges.empty() && ranges.back().last > 0x7F;
      return budget - (is_wide ? kWideSetStates + static_cast<int64_t>(ranges.size()) : 0);
    }
    case Grammar::Kind::Sequence:
    case Grammar::Kind::Choice:
      for (const ExprId part : grammar_.parts(expr)) {
        if (budget < 0) {
          break;
        }
        budget = left_of(budget, part, calls);
      }
      return budget;
    case Grammar::Kind::Repeat: {
      const int64_t times = std::max({expr.min, expr.max, 1});
      if (times > budget) {
        return -1;
      }
      const int64_t share = budget / times;
      const int64_t rest = left_of(share, grammar_.parts(expr).front(), calls);
      return rest < 0 ? -1 : budget - (times * (share - rest));
    }
    case Grammar::Kind::Rule: {
      const auto rule = static_cast<size_t>(expr.first);
      if (rule < is_inline_.size() && !is_inline_[rule]) {
        return calls == Calls::Cost ? budget : -1;
      }
      return budget < 0 ? budget : left_of(budget, grammar_.rules()[rule].expr, calls);
    }
  }
  return -1;
}

}  // namespace mynah::grammar
