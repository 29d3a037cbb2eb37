// `mynah schema`: whether texts keep to a schema as answers would have to, and whether the schema
// can be followed at all.
#pragma once

#include <string>
#include <vector>

#include "cli/command/verb.h"
#include "text/grammar/constraint_source.h"

namespace mynah::cli {

class SchemaCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  std::vector<std::string> words_;
  std::vector<std::string> checked_;
  grammar::ConstraintSource::Kind kind_ = grammar::ConstraintSource::Kind::JsonSchema;
  grammar::SchemaOptions schema_;
};

}  // namespace mynah::cli
