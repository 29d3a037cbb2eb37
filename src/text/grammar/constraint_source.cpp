#include "text/grammar/constraint_source.h"

#include <functional>

#include "text/grammar/gbnf.h"
#include "text/grammar/json_schema.h"
#include "text/grammar/regex.h"

namespace mynah::grammar {

size_t hash_of(const ConstraintSource& source) {
  const std::hash<std::string> hash_text;
  // Boost's hash_combine, with the golden ratio's bits.
  const auto mix = [](size_t seed, size_t value) {
    return seed ^ (value + 0x9E3779B97F4A7C15U + (seed << 6U) + (seed >> 2U));
  };
  size_t hash = mix(static_cast<size_t>(source.kind), hash_text(source.text));
  for (const std::string& choice : source.choices) {
    hash = mix(hash, hash_text(choice));
  }
  const SchemaOptions& schema = source.schema;
  return mix(hash, (schema.strict ? 1U : 0U) | (schema.open_objects ? 2U : 0U) |
                       (schema.one_of_is_any_of ? 4U : 0U));
}

Result<Grammar> grammar_of(const ConstraintSource& source) {
  switch (source.kind) {
    case ConstraintSource::Kind::JsonSchema:
      return parse_json_schema(source.text, source.schema);
    case ConstraintSource::Kind::JsonObject:
      return grammar_of_json_object();
    case ConstraintSource::Kind::Gbnf:
      return parse_gbnf(source.text);
    case ConstraintSource::Kind::Regex:
      return grammar_of_regex(source.text);
    case ConstraintSource::Kind::Choices:
      return grammar_of_choices(source.choices);
  }
  return fail(ErrorCode::InvalidInput, "this kind of constraint is not known");
}

}  // namespace mynah::grammar
