// Constraints as the tests' files write them.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "text/grammar/constraint.h"
#include "text/grammar/constraint_source.h"

namespace mynah::grammar {

// Reads "kind", "source" (a text; a schema as it is, or {"@raw": its text}; choices as a list) and
// "options".
inline ConstraintSource source_of(const nlohmann::ordered_json& one) {
  static const std::map<std::string, ConstraintSource::Kind> kKinds = {
      {"schema", ConstraintSource::Kind::JsonSchema},
      {"object", ConstraintSource::Kind::JsonObject},
      {"gbnf", ConstraintSource::Kind::Gbnf},
      {"regex", ConstraintSource::Kind::Regex},
      {"choices", ConstraintSource::Kind::Choices}};
  ConstraintSource source;
  source.kind = kKinds.at(one.at("kind").get<std::string>());
  const auto& said = one.value("source", nlohmann::ordered_json(""));
  if (said.is_object() && said.contains("@raw")) {
    source.text = said.at("@raw").get<std::string>();
  } else if (said.is_array() && source.kind == ConstraintSource::Kind::Choices) {
    source.choices = said.get<std::vector<std::string>>();
  } else {
    source.text = said.is_string() && source.kind != ConstraintSource::Kind::JsonSchema
                      ? said.get<std::string>()
                      : said.dump();
  }
  const auto options = one.value("options", nlohmann::ordered_json::object());
  source.schema.strict = options.value("strict", false);
  source.schema.open_objects = options.value("open_objects", false);
  source.schema.one_of_is_any_of = options.value("one_of_is_any_of", false);
  return source;
}

// A text, or a list of texts with how often each comes.
inline std::string text_of(const nlohmann::ordered_json& said) {
  if (said.is_string()) {
    return said.get<std::string>();
  }
  std::string text;
  for (const auto& part : said) {
    for (int i = 0; i < part.at(1).get<int>(); ++i) {
      text += part.at(0).get<std::string>();
    }
  }
  return text;
}

inline Result<std::shared_ptr<const Constraint>> compiled(
    const ConstraintSource& source, std::shared_ptr<const TokenVocabulary> vocabulary) {
  MYNAH_TRY(const Grammar grammar, grammar_of(source));
  return Constraint::compile(grammar, std::move(vocabulary));
}

}  // namespace mynah::grammar
