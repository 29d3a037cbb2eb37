#include "server/http/passed_over.h"

#include <algorithm>
#include <string_view>

namespace mynah::server {
namespace {

constexpr size_t kMostNamed = 20;

class PassedOver {
 public:
  // A field that came. Libraries write a list as "name[]", a member as "name[member]".
  void look_at(std::string_view name, FieldTable own, FieldTable more) {
    const std::string_view plain = name.substr(0, name.find('['));
    const Field* field = find(own, plain);
    field = field == nullptr ? find(more, plain) : field;
    const bool known = plain == kKeepAlive.name || (field != nullptr && !field->ignored);
    std::string told = header_item(plain);
    if (!known && names_.size() < kMostNamed && std::ranges::find(names_, told) == names_.end()) {
      names_.push_back(std::move(told));
    }
  }

  void look_at(const FormValues::Fields& fields, FieldTable own, FieldTable more) {
    for (const auto& [name, value] : fields) {
      if (!value.empty()) {
        look_at(name, own, more);
      }
    }
  }

  [[nodiscard]] std::vector<std::string> names() && { return std::move(names_); }

 private:
  static const Field* find(FieldTable table, std::string_view name) {
    const auto found = std::ranges::find(table, name, &Field::name);
    return found == table.end() ? nullptr : &*found;
  }

  std::vector<std::string> names_;
};

}  // namespace

std::string header_item(std::string_view text) {
  constexpr size_t kLongest = 64;
  std::string item(text.substr(0, kLongest));
  std::ranges::replace_if(item, [](char c) { return c <= ' ' || c > '~' || c == ','; }, '?');
  return item;
}

std::vector<std::string> passed_over_fields(const Route& route, const Exchange& exchange) {
  if (route.fields.empty() && route.query.empty()) {
    return {};
  }
  const FieldTable in_query = route.in_query ? route.fields : FieldTable();
  const FieldTable in_body = route.in_query ? FieldTable() : route.fields;
  PassedOver fields;
  fields.look_at(exchange.head().query, in_query, route.query);
  fields.look_at(exchange.body().fields, in_body, {});
  if (!in_body.empty() && exchange.json().object.is_object()) {
    for (const auto& [name, value] : exchange.json().object.items()) {
      if (!value.is_null()) {
        fields.look_at(name, in_body, {});
      }
    }
  }
  return std::move(fields).names();
}

}  // namespace mynah::server
