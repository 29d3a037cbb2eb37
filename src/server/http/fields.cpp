#include "server/http/fields.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "base/check.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

std::string range_of(const Field& field) {
  return fmt::format("{} from {} to {}",
                     field.type == FieldType::Whole ? "a whole number" : "a number", field.least,
                     field.most);
}

// "mp3, opus or aac".
std::string in_words(const std::vector<std::string_view>& choices) {
  const std::span all(choices);
  return fmt::format("{} or {}", fmt::join(all.first(all.size() - 1), ", "), choices.back());
}

bool is_number(const Field& field, const Json& value) {
  if (!value.is_number()) {
    return false;
  }
  const double number = value.get<double>();
  return number >= field.least && number <= field.most &&
         (field.type != FieldType::Whole || number == std::floor(number));
}

bool among(const std::vector<std::string_view>& choices, std::string_view text) {
  return std::ranges::find(choices, text) != choices.end();
}

bool is_texts(const Json& value) {
  return value.is_array() &&
         std::ranges::all_of(value, [](const Json& one) { return one.is_string(); });
}

// What was wanted of a value; "": just that.
std::string wanted_of(const Field& field, const Json& value) {
  switch (field.type) {
    case FieldType::Number:
    case FieldType::Whole:
      return is_number(field, value) ? "" : range_of(field);
    case FieldType::Flag:
      return value.is_boolean() ? "" : "true or false";
    case FieldType::Texts:
      return is_texts(value) ? "" : "a list of texts";
    case FieldType::Text:
    case FieldType::Voice:
      if (!value.is_string()) {
        return "text";
      }
      if (!field.choices.empty() && !value.get_ref<const std::string&>().empty()) {
        const auto choices = choices_of(field);
        return among(choices, value.get_ref<const std::string&>()) ? "" : in_words(choices);
      }
      return "";
    case FieldType::Any:
    case FieldType::File:
      break;
  }
  return "";
}

// A form's text as the value that its field has; null: none.
Result<Json> value_of(const Field& field, const FormValues& form) {
  switch (field.type) {
    case FieldType::Number:
    case FieldType::Whole: {
      MYNAH_TRY(const auto number, form.number(field.name, field.least, field.most));
      return number ? Json(*number) : Json();
    }
    case FieldType::Flag: {
      MYNAH_TRY(const auto flag, form.flag(field.name));
      return flag ? Json(*flag) : Json();
    }
    case FieldType::Texts: {
      const auto texts = form.list(field.name);
      return texts.empty() ? Json() : Json(texts);
    }
    default: {
      std::string text = form.text(field.name);
      return text.empty() ? Json() : Json(std::move(text));
    }
  }
}

bool is_blank(const Json& value) {
  return value.is_string() && trimmed(value.get_ref<const std::string&>(), " \t\r\n").empty();
}

}  // namespace

std::string shortened(const nlohmann::ordered_json& value) {
  constexpr size_t kMost = 80;
  std::string text = json_text(value);
  if (text.size() > kMost) {
    text.resize(kMost);
    text += "...";
  }
  return text;
}

std::unexpected<FieldError> wrong_field(std::string_view field, std::string message) {
  return std::unexpected(FieldError{.field = std::string(field),
                                    .error = {ErrorCode::InvalidInput, std::move(message)}});
}

std::vector<std::string_view> choices_of(const Field& field) {
  return split_words(field.choices);
}

std::expected<FieldValues, FieldError> FieldValues::of_json(FieldTable table,
                                                            const SentJson& sent) {
  const Json& object = sent.object;
  if (!object.is_object()) {
    std::vector<std::string_view> names;
    for (const Field& field : table) {
      if (field.wanted) {
        names.push_back(field.name);
      }
    }
    const std::string fault =
        trimmed(sent.text, " \t\r\n").empty() ? "none" : json_fault(sent.text);
    return wrong_field(
        "", fmt::format("wanted a JSON object{}{}{}{}", names.empty() ? "" : " with ",
                        fmt::join(names, " and "), fault.empty() ? "" : ", found ", fault));
  }
  FieldValues values(table);
  for (const Field& field : table) {
    const auto found = object.find(std::string(field.name));
    if (found == object.end() || found->is_null()) {
      continue;
    }
    const bool named =
        field.type == FieldType::Voice && found->is_object() && found->contains("id");
    const Json& value = named ? found->at("id") : *found;
    if (const std::string wanted = wanted_of(field, value); !wanted.empty()) {
      return wrong_field(field.name, fmt::format("{}: wanted {}, found {}", field.name, wanted,
                                                 shortened(*found)));
    }
    values.values_[std::string(field.name)] = value;
  }
  return std::move(values).checked();
}

std::expected<FieldValues, FieldError> FieldValues::of_form(FieldTable table,
                                                            const FormValues::Fields& fields) {
  const FormValues form(fields);
  FieldValues values(table);
  for (const Field& field : table) {
    if (field.type == FieldType::File) {
      continue;
    }
    auto value = value_of(field, form);
    if (!value) {
      return std::unexpected(
          FieldError{.field = std::string(field.name), .error = std::move(value).error()});
    }
    if (value->is_null()) {
      continue;
    }
    if (const std::string wanted = wanted_of(field, *value); !wanted.empty()) {
      return wrong_field(field.name, fmt::format("{}: wanted {}, found '{}'", field.name, wanted,
                                                 form.text(field.name)));
    }
    values.values_[std::string(field.name)] = *std::move(value);
  }
  return std::move(values).checked();
}

std::expected<FieldValues, FieldError> FieldValues::checked() && {
  for (const Field& field : table_) {
    const Json* const value = field.type == FieldType::File ? nullptr : find(field.name);
    if (field.wanted && field.type != FieldType::File && (value == nullptr || is_blank(*value))) {
      return wrong_field(field.name, fmt::format("{}: wanted a text, found none", field.name));
    }
  }
  return std::move(*this);
}

const Json* FieldValues::find(std::string_view name) const {
  MYNAH_CHECK(std::ranges::find(table_, name, &Field::name) != table_.end(),
              "a field that is read stands in its table");
  const auto found = values_.find(std::string(name));
  return found == values_.end() ? nullptr : &*found;
}

std::string FieldValues::text(std::string_view name) const {
  const Json* const value = find(name);
  return value == nullptr ? std::string() : value->get<std::string>();
}

double FieldValues::number(std::string_view name, double initial) const {
  const Json* const value = find(name);
  return value == nullptr ? initial : value->get<double>();
}

bool FieldValues::flag(std::string_view name, bool initial) const {
  const Json* const value = find(name);
  return value == nullptr ? initial : value->get<bool>();
}

std::vector<std::string> FieldValues::texts(std::string_view name) const {
  const Json* const value = find(name);
  return value == nullptr ? std::vector<std::string>() : value->get<std::vector<std::string>>();
}

}  // namespace mynah::server
