#include "text/grammar/json_schema.h"

#include <algorithm>

#include <fmt/format.h>

#include "formats/json.h"
#include "text/grammar/regex.h"
#include "text/grammar/schema_grammar.h"
#include "text/grammar/schema_values.h"
#include "text/grammar/string_formats.h"

namespace mynah::grammar {
namespace {

// Rules of one schema, ways to choose from the anyOf of one value, and schemas of a oneOf that are
// compared with each other, at most.
constexpr size_t kMostSchemaRules = 20'000;
constexpr size_t kMostWays = 1000;
constexpr size_t kMostCompared = 200;

// Levels of properties in which schemas of a oneOf are told apart.
constexpr int kComparedDepth = 3;

}  // namespace

Result<Grammar> SchemaGrammar::build() && {
  wanted_.push_back({.rule = grammar_.add_rule("root"),
                     .schemas = {.places = {{.schema = &document_, .path = "#"}}}});
  for (; !wanted_.empty(); wanted_.pop_front()) {
    MYNAH_TRY(const ExprId expr, expression(wanted_.front().schemas));
    grammar_.define(wanted_.front().rule, expr);
  }
  return std::move(grammar_);
}

Result<ExprId> SchemaGrammar::value(Conjunction schemas) {
  std::set<const Json*> sources;
  for (SchemaPlace& place : schemas.places) {
    MYNAH_TRY(place, reader_.resolved(std::move(place)));
    sources.insert(place.schema);
  }
  const auto [known, is_new] = known_.try_emplace({sources, schemas.settled}, 0);
  if (is_new) {
    if (grammar_.rules().size() >= kMostSchemaRules) {
      return refuse_schema(
          schemas.places.front().path,
          fmt::format("wanted a schema of at most {} rules, found more", kMostSchemaRules));
    }
    known->second = grammar_.add_rule(schemas.places.front().path);
    wanted_.push_back({.rule = known->second, .schemas = std::move(schemas)});
  }
  return grammar_.rule(known->second);
}

ExprId SchemaGrammar::rule_of(ExprId expr) {
  const RuleId rule = grammar_.add_rule("part");
  grammar_.define(rule, expr);
  return grammar_.rule(rule);
}

Result<ExprId> SchemaGrammar::expression(const Conjunction& schemas) {
  MYNAH_TRY(const SchemaFacts facts, reader_.facts(schemas));
  if (!facts.alternatives.empty()) {
    return alternatives(schemas, facts);
  }
  if (facts.values) {
    return constants(facts);
  }
  const JsonTypes types = facts.written_types();
  std::vector<ExprId> parts;
  if (types.has(JsonType::Object)) {
    MYNAH_TRY(const ExprId part, object(facts));
    parts.push_back(part);
  }
  if (types.has(JsonType::Array)) {
    MYNAH_TRY(const ExprId part, array(facts));
    parts.push_back(part);
  }
  if (types.has(JsonType::String)) {
    MYNAH_TRY(const ExprId part, string(facts));
    parts.push_back(part);
  }
  const bool is_bounded = facts.numbers.low || facts.numbers.high;
  if (types.has(JsonTypes::numbers())) {
    parts.push_back(is_bounded ? rules_.number(facts.numbers) : rules_.number());
  } else if (types.has(JsonType::Integer)) {
    parts.push_back(is_bounded ? rules_.integer(facts.numbers) : rules_.integer());
  }
  if (types.has(JsonType::Boolean)) {
    parts.push_back(grammar_.literal("true"));
    parts.push_back(grammar_.literal("false"));
  }
  if (types.has(JsonType::Null)) {
    parts.push_back(grammar_.literal("null"));
  }
  return grammar_.choice(parts);
}

// One schema of each anyOf and oneOf, in all combinations.
Result<ExprId> SchemaGrammar::alternatives(const Conjunction& schemas, const SchemaFacts& facts) {
  size_t ways = 1;
  for (const Alternatives& one : facts.alternatives) {
    ways *= one.places.size();
    if (ways > kMostWays) {
      return refuse_schema(one.path,
                           fmt::format("wanted at most {} ways to choose, found more", kMostWays));
    }
    if (one.is_one_of && !options_.one_of_is_any_of) {
      MYNAH_TRY_STATUS(refuse_overlap(schemas, one));
    }
  }
  std::vector<ExprId> parts;
  for (size_t way = 0; way < ways; ++way) {
    Conjunction chosen = schemas;
    size_t rest = way;
    for (const Alternatives& one : facts.alternatives) {
      chosen.places.push_back(one.places[rest % one.places.size()]);
      chosen.settled.insert(one.owner);
      rest /= one.places.size();
    }
    MYNAH_TRY(const ExprId part, value(std::move(chosen)));
    parts.push_back(part);
  }
  return grammar_.choice(parts);
}

Status SchemaGrammar::refuse_overlap(const Conjunction& schemas,
                                     const Alternatives& alternatives) const {
  const auto with = [&](const SchemaPlace& place) {
    std::vector<SchemaPlace> places = schemas.places;
    places.push_back(place);
    return places;
  };
  const auto& places = alternatives.places;
  if (places.size() > kMostCompared) {
    return refuse_schema(alternatives.path, fmt::format("wanted at most {} schemas, found {}",
                                                        kMostCompared, places.size()));
  }
  for (size_t second = 1; second < places.size(); ++second) {
    for (size_t first = 0; first < second; ++first) {
      MYNAH_TRY(const bool is_disjoint,
                reader_.are_disjoint(with(places[first]), with(places[second]), kComparedDepth));
      if (!is_disjoint) {
        return refuse_schema(alternatives.path,
                             fmt::format("a value might fit number {} and number {}, where oneOf "
                                         "wants one alone: make it anyOf, or give both a required "
                                         "property with another const",
                                         first, second));
      }
    }
  }
  return {};
}

Result<ExprId> SchemaGrammar::constants(const SchemaFacts& facts) {
  if (facts.pattern || facts.format || facts.numbers.low || facts.numbers.high ||
      !facts.length.is_free() || !facts.item_count.is_free() || !facts.member_count.is_free() ||
      !facts.members.empty() || !facts.items.empty()) {
    return refuse_schema(facts.path, "enum or const beside keywords other than type");
  }
  std::vector<ExprId> parts;
  for (const Json& one : *facts.values) {
    if (facts.types.has(JsonTypes::of(one))) {
      parts.push_back(rules_.constant(one));
    }
  }
  return grammar_.choice(parts);
}

Result<ExprId> SchemaGrammar::string(const SchemaFacts& facts) {
  if (facts.length.are_empty()) {
    return grammar_.choice({});
  }
  if (!facts.pattern && !facts.format) {
    return rules_.string(facts.length.min, facts.length.max);
  }
  if ((facts.pattern && facts.format) || !facts.length.is_free()) {
    return refuse_schema(facts.path,
                         "two of pattern, format and minLength or maxLength for one string: write "
                         "them as one pattern");
  }
  const std::optional<std::string> expression =
      facts.pattern ? facts.pattern : format_expression(*facts.format);
  if (!expression) {
    return refuse_schema(facts.path, fmt::format("format \"{}\" is not among those supported: {}",
                                                 *facts.format, format_names()));
  }
  auto inner = parse_regex(grammar_, *expression, facts.pattern ? RegexFit::Part : RegexFit::Whole,
                           [this](Grammar&, const CodePoints& set) { return rules_.spelled(set); });
  if (!inner) {
    return std::unexpected(
        std::move(inner).error().while_doing(fmt::format("schema {}/pattern", facts.path)));
  }
  return rules_.quoted(*inner);
}

Result<Grammar> grammar_of_json_schema(const nlohmann::ordered_json& schema,
                                       const SchemaOptions& options) {
  return SchemaGrammar(schema, options).build();
}

Result<Grammar> parse_json_schema(std::string_view schema, const SchemaOptions& options) {
  MYNAH_TRY(const nlohmann::ordered_json read, parse_ordered_json(schema, "schema"));
  return grammar_of_json_schema(read, options);
}

Grammar grammar_of_json_object() {
  Grammar grammar;
  JsonRules rules(grammar);
  const RuleId root = grammar.add_rule("root");
  grammar.define(root, rules.object());
  return grammar;
}

}  // namespace mynah::grammar
