// Conversation: the items of a client of Realtime, in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "server/http/field_error.h"

namespace mynah::server {

// What a client sends as an item, as it is kept: with an id, an object and a status. `new_id`: for
// one that has none. InvalidInput and Unsupported for what is none, or of a kind that is not kept.
[[nodiscard]] std::expected<nlohmann::ordered_json, FieldError> kept_item(
    const nlohmann::ordered_json& item, const std::string& new_id);

// All text of a message; "": it has none, or is none.
[[nodiscard]] std::string text_of_item(const nlohmann::ordered_json& item);

// A word of an item that is spoken.
struct SaidWord {
  size_t end = 0;         // byte of the item's text
  int64_t middle_ms = 0;  // of the item's sound: whoever heard so much of it heard the word
};

// Thread-safe: what a reply says is put down by the thread that says it. The oldest go where there
// are too many.
class Conversation {
 public:
  using Json = nlohmann::ordered_json;

  // Behind the item `previous` ("": the last; "root": before all). The id of the one that is before
  // it then; "": none. NotFound: there is no `previous`; InvalidInput: its id is another's.
  Result<std::string> add(Json item, const std::string& previous);
  Status erase(const std::string& id);
  // None: there is none of that id.
  [[nodiscard]] std::optional<Json> find(const std::string& id) const;
  // In place of the item that has its id, where there still is one.
  void replace(Json item);

  // The same of an item that is spoken, with all words that were so far; what was truncated stays
  // so.
  void put_said(Json item, const std::vector<SaidWord>& words);
  // Of that item no more was heard than so much of its sound: its text ends with the last word that
  // was; all goes where nobody knows its words. NotFound: there is no item of an assistant's of
  // that id.
  Status truncate(const std::string& id, int64_t heard_ms);

  // "": there is none.
  [[nodiscard]] std::string last_id() const;
  [[nodiscard]] std::vector<Json> items() const;

 private:
  struct Entry {
    Json item;
    std::string id;
    size_t bytes = 0;
    std::vector<SaidWord> words{};
    std::optional<int64_t> heard_ms{};  // it was truncated there
  };

  // All want the lock.
  [[nodiscard]] std::list<Entry>::const_iterator at(const std::string& id) const;
  [[nodiscard]] std::list<Entry>::iterator at(const std::string& id);
  void put(Entry& entry, Json item);
  static void cut(Json& item, const std::vector<SaidWord>& words, int64_t heard_ms);
  void forget_oldest();

  mutable std::mutex mutex_;
  std::list<Entry> items_;
  size_t bytes_ = 0;
};

}  // namespace mynah::server
