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

ExprId Grammar::include(const Grammar& other) {
  const auto rules = static_cast<RuleId>(rules_.size());
  const auto exprs = static_cast<ExprId>(exprs_.size());
  const auto parts = static_cast<int32_t>(parts_.size());
  const auto sets = static_cast<int32_t>(sets_.size());
  const auto bytes = static_cast<int32_t>(bytes_.size());
  for (const Rule& rule : other.rules_) {
    rules_.push_back({.name = rule.name, .expr = rule.expr < 0 ? -1 : rule.expr + exprs});
  }
  for (Expr expr : other.exprs_) {
    switch (expr.kind) {
      case Kind::Literal:
        expr.first += bytes;
        break;
      case Kind::Characters:
        expr.first += sets;
        break;
      case Kind::Rule:
        expr.first += rules;
        break;
      default:
        expr.first += parts;
        break;
    }
    exprs_.push_back(expr);
  }
  for (const ExprId part : other.parts_) {
    parts_.push_back(part + exprs);
  }
  sets_.insert(sets_.end(), other.sets_.begin(), other.sets_.end());
  bytes_ += other.bytes_;
  return rule(rules);
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
