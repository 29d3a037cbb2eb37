#include "text/grammar/grammar.h"

#include "base/check.h"

namespace mynah::grammar {

ExprId Grammar::add(const Expr& expr) {
  exprs_.push_back(expr);
  return static_cast<ExprId>(exprs_.size() - 1);
}

ExprId Grammar::literal(std::string_view bytes) {
  const auto first = static_cast<int32_t>(bytes_.size());
  bytes_ += bytes;
  return add({.kind = Kind::Literal, .first = first, .count = static_cast<int32_t>(bytes.size())});
}

ExprId Grammar::characters(const CodePoints& set) {
  sets_.push_back(set);
  return add({.kind = Kind::Characters, .first = static_cast<int32_t>(sets_.size() - 1)});
}

ExprId Grammar::add_parts(Kind kind, std::span<const ExprId> parts) {
  const auto first = static_cast<int32_t>(parts_.size());
  parts_.insert(parts_.end(), parts.begin(), parts.end());
  return add({.kind = kind, .first = first, .count = static_cast<int32_t>(parts.size())});
}

ExprId Grammar::sequence(std::span<const ExprId> parts) {
  return parts.size() == 1 ? parts.front() : add_parts(Kind::Sequence, parts);
}

ExprId Grammar::choice(std::span<const ExprId> parts) {
  return parts.size() == 1 ? parts.front() : add_parts(Kind::Choice, parts);
}

ExprId Grammar::repeat(ExprId part, int32_t min, int32_t max) {
  MYNAH_CHECK(min >= 0 && (max == kUnbounded || max >= min), "a repeat's bounds rise");
  if (min == 1 && max == 1) {
    return part;
  }
  const ExprId id = add_parts(Kind::Repeat, std::span(&part, 1));
  exprs_.back().min = min;
  exprs_.back().max = max;
  return id;
}

ExprId Grammar::rule(RuleId id) {
  return add({.kind = Kind::Rule, .first = id});
}

RuleId Grammar::add_rule(std::string name) {
  rules_.push_back({.name = std::move(name)});
  return static_cast<RuleId>(rules_.size() - 1);
}

void Grammar::define(RuleId id, ExprId expr) {
  rules_[static_cast<size_t>(id)].expr = expr;
}

std::span<const ExprId> Grammar::parts(const Expr& expr) const {
  return std::span(parts_).subspan(static_cast<size_t>(expr.first),
                                   static_cast<size_t>(expr.count));
}

std::string_view Grammar::bytes(const Expr& expr) const {
  return std::string_view(bytes_).substr(static_cast<size_t>(expr.first),
                                         static_cast<size_t>(expr.count));
}

const CodePoints& Grammar::set(const Expr& expr) const {
  return sets_[static_cast<size_t>(expr.first)];
}

Grammar grammar_of_choices(std::span<const std::string> choices) {
  Grammar grammar;
  const RuleId root = grammar.add_rule("root");
  std::vector<ExprId> parts;
  parts.reserve(choices.size());
  for (const std::string& choice : choices) {
    parts.push_back(grammar.literal(choice));
  }
  grammar.define(root, grammar.choice(parts));
  return grammar;
}

}  // namespace mynah::grammar
