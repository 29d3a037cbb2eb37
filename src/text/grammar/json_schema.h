// JSON Schema as a grammar of the JSON texts that fit it.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "text/grammar/constraint_source.h"
#include "text/grammar/grammar.h"

namespace mynah::grammar {

// Reads a schema (drafts 4 to 2020-12 where they agree): type, properties, required,
// additionalProperties, items, prefixItems, minItems, maxItems, minLength, maxLength, pattern,
// format, minimum, maximum and their exclusive forms, enum, const, anyOf, oneOf, allOf, $ref within
// the schema, $defs, definitions, and annotations. Every text that the grammar takes fits the
// schema. What it cannot promise that of is refused as Unsupported with its path
// ("#/properties/name/not"), what is no schema as InvalidInput.
//
// Texts are written as json.dumps does or more narrowly: properties in their order in the schema,
// then others; behind brackets, commas and colons and before closing brackets a blank, or a line
// break with at most 32 blanks, or nothing, and none before and behind the whole; whole numbers of
// at most 20 digits, fractions of 24, exponents of 3. A schema without a type whose keywords speak
// of one type is read as having it.
[[nodiscard]] Result<Grammar> grammar_of_json_schema(const nlohmann::ordered_json& schema,
                                                     const SchemaOptions& options = {});

// The same of a schema's text; refused where it is no JSON or has more than kMaxJsonDepth levels.
[[nodiscard]] Result<Grammar> parse_json_schema(std::string_view schema,
                                                const SchemaOptions& options = {});

// Any JSON object.
[[nodiscard]] Grammar grammar_of_json_object();

}  // namespace mynah::grammar
