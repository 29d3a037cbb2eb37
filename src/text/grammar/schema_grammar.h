// How a JSON schema becomes a grammar: internal to json_schema.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/grammar/constraint_source.h"
#include "text/grammar/json_rules.h"
#include "text/grammar/schema_facts.h"

namespace mynah::grammar {

class SchemaGrammar {
 public:
  // Requires a document that lives longer.
  SchemaGrammar(const Json& document, const SchemaOptions& options)
      : document_(document), options_(options), reader_(document, options.strict) {}

  [[nodiscard]] Result<Grammar> build() &&;

 private:
  // A rule that is still to be defined.
  struct Wanted {
    RuleId rule = 0;
    Conjunction schemas;
  };

  // The rule of a conjunction: each has one, so that recursion ends.
  [[nodiscard]] Result<ExprId> value(Conjunction schemas);

  [[nodiscard]] Result<ExprId> expression(const Conjunction& schemas);
  [[nodiscard]] Result<ExprId> alternatives(const Conjunction& schemas, const SchemaFacts& facts);
  [[nodiscard]] Status refuse_overlap(const Conjunction& schemas,
                                      const Alternatives& alternatives) const;
  [[nodiscard]] Result<ExprId> constants(const SchemaFacts& facts);
  [[nodiscard]] Result<ExprId> string(const SchemaFacts& facts);
  [[nodiscard]] Result<ExprId> array(const SchemaFacts& facts);
  // Of the items from `index` on, behind one that was written, to the end.
  [[nodiscard]] Result<ExprId> item(const SchemaFacts& facts, size_t index);

  // A property that is written.
  struct Property {
    ExprId member = 0;
    bool is_required = false;
  };

  [[nodiscard]] Result<ExprId> object(const SchemaFacts& facts);
  [[nodiscard]] Result<std::vector<Property>> properties(const SchemaFacts& facts,
                                                         std::vector<std::string>& names);
  // Members beside those of these names; nothing where there are none.
  [[nodiscard]] Result<std::optional<ExprId>> other_member(const SchemaFacts& facts,
                                                           const std::vector<std::string>& names);
  [[nodiscard]] ExprId members(const std::vector<Property>& properties,
                               std::optional<ExprId> other);

  [[nodiscard]] ExprId rule_of(ExprId expr);

  const Json& document_;
  SchemaOptions options_;
  SchemaReader reader_;
  Grammar grammar_;
  JsonRules rules_{grammar_};
  std::deque<Wanted> wanted_;
  std::map<std::pair<std::set<const Json*>, std::set<const Json*>>, RuleId> known_;
};

}  // namespace mynah::grammar
