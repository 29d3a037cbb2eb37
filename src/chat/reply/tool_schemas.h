// What tools' schemas say of their parameters, for formats that write values without their types.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "chat/reply/reply.h"

namespace mynah {

class ToolSchemas {
 public:
  explicit ToolSchemas(const std::vector<ReplyTool>& tools);

  [[nodiscard]] bool empty() const { return tools_.empty(); }

  [[nodiscard]] bool has(std::string_view name) const;

  // Whether a parameter's value is a string whatever it looks like.
  [[nodiscard]] bool is_text(std::string_view tool, std::string_view parameter) const;

  // A value as JSON: what JSON (or Python's True, False and None) of a type that the schema takes
  // stands there, else a string. Of a parameter that no schema knows every type is taken.
  [[nodiscard]] std::string value_as_json(std::string_view tool, std::string_view parameter,
                                          std::string_view text) const;

  // The name of the parameter that is given first, second ...: `required` tells the order. Empty
  // where it does not.
  [[nodiscard]] std::string positional(std::string_view tool, size_t index) const;

 private:
  struct Tool {
    std::string name;
    nlohmann::json schema;
  };

  [[nodiscard]] const Tool* find(std::string_view name) const;
  [[nodiscard]] unsigned types_of(std::string_view tool, std::string_view parameter) const;

  std::vector<Tool> tools_;
};

// Text as the inside of a JSON string. A text's parts, each whole code points, give the same.
[[nodiscard]] std::string json_escaped(std::string_view text);

// The same in quotes.
[[nodiscard]] std::string json_quoted(std::string_view text);

}  // namespace mynah
