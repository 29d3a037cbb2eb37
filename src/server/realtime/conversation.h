// Conversation: the items of a client of Realtime, in their order.
#pragma once

#include <cstddef>
#include <expected>
#include <list>
#include <string>

#include <nlohmann/json.hpp>

#include "server/http/field_error.h"

namespace mynah::server {

// What a client sends as an item, as it is kept: with an id, an object and a status. `new_id`: for
// one that has none. InvalidInput and Unsupported for what is none, or of a kind that is not kept.
[[nodiscard]] std::expected<nlohmann::ordered_json, FieldError> kept_item(
    const nlohmann::ordered_json& item, const std::string& new_id);

// All text of a message; "": it has none, or is none.
[[nodiscard]] std::string text_of_item(const nlohmann::ordered_json& item);

// One thread at a time. The oldest go where there are too many.
class Conversation {
 public:
  using Json = nlohmann::ordered_json;

  // Behind the item `previous` ("": the last; "root": before all). The id of the one that is before
  // it then; "": none. NotFound: there is no `previous`; InvalidInput: its id is another's.
  Result<std::string> add(Json item, const std::string& previous);
  Status erase(const std::string& id);
  // Null: there is none.
  [[nodiscard]] const Json* find(const std::string& id) const;
  // In place of the item that has its id, where there still is one.
  void replace(Json item);

  [[nodiscard]] const Json* last() const { return items_.empty() ? nullptr : &items_.back().item; }

 private:
  struct Entry {
    Json item;
    std::string id;
    size_t bytes = 0;
  };

  [[nodiscard]] std::list<Entry>::const_iterator at(const std::string& id) const;
  void forget_oldest();

  std::list<Entry> items_;
  size_t bytes_ = 0;
};

}  // namespace mynah::server
