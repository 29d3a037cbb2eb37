// Says which texts fit which constraint, for schema_oracle.py: reads a case a line,
//   {"kind": "schema", "source": ..., "options": {...}, "texts": [...]}
// and writes a line for each: {"error": ...} or {"fits": [true, ...]}.
#include <iostream>

#include <nlohmann/json.hpp>

#include "byte_vocabulary.h"
#include "constraint_cases.h"

namespace mynah::grammar {
namespace {

nlohmann::json answer(const nlohmann::ordered_json& one) {
  const auto constraint = compiled(source_of(one), byte_vocabulary());
  if (!constraint) {
    return {{"error", constraint.error().message}};
  }
  nlohmann::json fits = nlohmann::json::array();
  for (const auto& text : one.at("texts")) {
    fits.push_back(accepts(*constraint, text.get<std::string>()).has_value());
  }
  return {{"fits", fits}};
}

}  // namespace
}  // namespace mynah::grammar

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << mynah::grammar::answer(nlohmann::ordered_json::parse(line)).dump() << std::endl;
  }
}
