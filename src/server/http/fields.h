// Fields of requests: a table of each request, by which it is read, and by which it is described
// (openapi.json).
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "server/http/field_error.h"
#include "server/http/form.h"
#include "server/http/json_text.h"

namespace mynah::server {

enum class FieldType : uint8_t {
  Text,
  Number,
  Whole,  // a number without a fraction
  Flag,   // true or false
  Texts,  // a list; in a form "name" or "name[]", as often as there are texts
  Voice,  // a name, or an object with an id
  Any,    // what the request reads by itself
  File    // a part of a form
};

struct Field {
  std::string_view name;
  FieldType type = FieldType::Text;
  std::string_view help;          // one line
  std::string_view choices = {};  // "mp3 opus aac": of a text; empty: any
  double least = 0;               // of numbers
  double most = 0;
  bool wanted = false;   // else it may be missing
  bool ignored = false;  // understood, and does nothing here
};

using FieldTable = std::span<const Field>;

// What came with a request, read by its table: a getter's name must stand there. What is null, or
// in a form empty, is not there. Fields that no table has are passed over, as OpenAI does, and
// named (passed_over.h).
class FieldValues {
 public:
  // InvalidInput, with the field: what is no object, is not of its field's type, out of its range,
  // or missing though it is wanted.
  [[nodiscard]] static std::expected<FieldValues, FieldError> of_json(FieldTable table,
                                                                      const SentJson& sent);
  // The same of a form's fields, or of a query's.
  [[nodiscard]] static std::expected<FieldValues, FieldError> of_form(
      FieldTable table, const FormValues::Fields& fields);

  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }

  // Of texts and voices; "": there is none.
  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] double number(std::string_view name, double initial) const;
  [[nodiscard]] bool flag(std::string_view name, bool initial) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;
  // Of type Any, as it came; null: there is none.
  [[nodiscard]] const nlohmann::ordered_json* find(std::string_view name) const;

 private:
  explicit FieldValues(FieldTable table) : table_(table) {}

  // Itself, where nothing that is wanted is missing.
  [[nodiscard]] std::expected<FieldValues, FieldError> checked() &&;

  FieldTable table_;
  nlohmann::ordered_json values_ = nlohmann::ordered_json::object();
};

// A field's choices one by one.
[[nodiscard]] std::vector<std::string_view> choices_of(const Field& field);

// A value in a message about it.
[[nodiscard]] std::string shortened(const nlohmann::ordered_json& value);

// A field that is wrong.
[[nodiscard]] std::unexpected<FieldError> wrong_field(std::string_view field, std::string message);

}  // namespace mynah::server
