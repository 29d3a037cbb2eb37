// What an answer is to keep to, as a user or a client said it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/grammar/grammar.h"

namespace mynah::grammar {

// How JSON is to be written and read.
struct SchemaOptions {
  // OpenAI's rules for `strict`: every object says additionalProperties: false and requires all of
  // its properties. What does not is refused with its path.
  bool strict = false;
  // Whether an object that lists properties and says nothing of others may have others, as JSON
  // Schema has it. Off, since a model would make some up; what is written fits the schema either
  // way.
  bool open_objects = false;
  // Takes oneOf for anyOf also where two of its schemas may fit one text; else that is refused.
  bool one_of_is_any_of = false;

  bool operator==(const SchemaOptions&) const = default;
};

struct ConstraintSource {
  enum class Kind : uint8_t {
    JsonSchema,  // text: the schema, its properties in the order in which they are to be written
    JsonObject,  // any JSON object: OpenAI's json_object, ollama's "json"
    Gbnf,        // text: a grammar as llama.cpp reads them
    Regex,       // text: fits the whole answer
    Choices      // choices: one of them is the whole answer
  };

  Kind kind = Kind::JsonObject;
  std::string text;
  std::vector<std::string> choices;
  SchemaOptions schema;  // of JsonSchema

  bool operator==(const ConstraintSource&) const = default;
};

// A hash of all of it, the same within one process.
[[nodiscard]] size_t hash_of(const ConstraintSource& source);

// Reads it. Errors name what cannot be followed and where: a path in a schema, a line of a grammar,
// a place in an expression.
[[nodiscard]] Result<Grammar> grammar_of(const ConstraintSource& source);

}  // namespace mynah::grammar
