#include "server/realtime/conversation.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "server/http/json_members.h"
#include "server/http/json_text.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostItems = 1000;
constexpr size_t kMostBytes = size_t{4} << 20;
constexpr size_t kMostId = 64;

std::unexpected<FieldError> not_kept(std::string field, std::string message) {
  return std::unexpected(
      FieldError{.field = std::move(field), .error = {ErrorCode::Unsupported, std::move(message)}});
}

std::expected<void, FieldError> check_content(const Json& item) {
  const auto content = item.find("content");
  if (content == item.end() || !content->is_array()) {
    return wrong_field("item.content", "item.content: wanted an array of parts");
  }
  for (const Json& part : *content) {
    if (!part.is_object()) {
      return wrong_field("item.content", "item.content: wanted parts that are objects");
    }
    const Members members(part, "item.content.");
    MYNAH_TRY(const std::string type, members.text("type"));
    if (type == "input_audio") {
      return not_kept("item.content",
                      "item.content: sound is heard as input_audio_buffer.append sends it, not as "
                      "part of an item");
    }
    if (type == "input_image") {
      return not_kept("item.content", "item.content: there is no model here that sees images");
    }
    MYNAH_TRY_STATUS(members.text("text"));
    MYNAH_TRY_STATUS(members.text("transcript"));
  }
  return {};
}

}  // namespace

std::expected<Json, FieldError> kept_item(const Json& item, const std::string& new_id) {
  if (!item.is_object()) {
    return wrong_field("item", "item: wanted an object");
  }
  const Members members(item, "item.");
  MYNAH_TRY(const std::string given, members.text("id"));
  MYNAH_TRY(const std::string type, members.text("type"));
  if (given.size() > kMostId) {
    return wrong_field("item.id", fmt::format("item.id: wanted at most {} letters", kMostId));
  }
  constexpr std::array<std::string_view, 3> kTypes = {"message", "function_call",
                                                      "function_call_output"};
  if (std::ranges::find(kTypes, type) == kTypes.end()) {
    return not_kept("item.type",
                    "item.type: wanted message, function_call or function_call_output");
  }
  if (type == "message") {
    MYNAH_TRY(const std::string role, members.text("role"));
    if (role != "user" && role != "assistant" && role != "system") {
      return wrong_field("item.role", "item.role: wanted user, assistant or system");
    }
    MYNAH_TRY_STATUS(check_content(item));
  }
  Json kept = {{"id", given.empty() ? new_id : given},
               {"object", "realtime.item"},
               {"type", type},
               {"status", "completed"}};
  const bool is_message = type == "message";
  for (const char* const name : {"role", "content"}) {
    if (is_message) {
      kept[name] = item[name];
    }
  }
  for (const char* const name : {"call_id", "name", "arguments", "output"}) {
    // Programs send results as the objects that they are, too.
    if (!is_message && item.contains(name)) {
      kept[name] = item[name].is_string() ? item[name] : Json(json_text(item[name]));
    }
  }
  return kept;
}

std::string text_of_item(const Json& item) {
  std::string text;
  const auto content = item.find("content");
  if (content == item.end() || !content->is_array()) {
    return text;
  }
  for (const Json& part : *content) {
    for (const char* const name : {"text", "transcript"}) {
      const auto found = part.find(name);
      if (found != part.end() && found->is_string()) {
        text += (text.empty() ? "" : "\n") + found->get<std::string>();
      }
    }
  }
  return text;
}

std::list<Conversation::Entry>::const_iterator Conversation::at(const std::string& id) const {
  return std::ranges::find(items_, id, &Entry::id);
}

std::list<Conversation::Entry>::iterator Conversation::at(const std::string& id) {
  return std::ranges::find(items_, id, &Entry::id);
}

Result<std::string> Conversation::add(Json item, const std::string& previous) {
  const std::lock_guard lock(mutex_);
  std::string id = item.value("id", "");
  if (at(id) != items_.end()) {
    return fail(ErrorCode::InvalidInput, fmt::format("item.id: there is an item '{}' already", id));
  }
  auto place = items_.end();
  if (previous == "root") {
    place = items_.begin();
  } else if (!previous.empty()) {
    place = at(previous);
    if (place == items_.end()) {
      return fail(ErrorCode::NotFound,
                  fmt::format("previous_item_id: there is no item '{}'", previous));
    }
    ++place;
  }
  std::string before = place == items_.begin() ? std::string() : std::prev(place)->id;
  const size_t bytes = json_text(item).size();
  items_.insert(place, Entry{.item = std::move(item), .id = std::move(id), .bytes = bytes});
  bytes_ += bytes;
  forget_oldest();
  return before;
}

void Conversation::forget_oldest() {
  while (items_.size() > 1 && (items_.size() > kMostItems || bytes_ > kMostBytes)) {
    bytes_ -= items_.front().bytes;
    items_.pop_front();
  }
}

Status Conversation::erase(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = at(id);
  if (found == items_.end()) {
    return fail(ErrorCode::NotFound, fmt::format("item_id: there is no item '{}'", id));
  }
  bytes_ -= found->bytes;
  items_.erase(found);
  return {};
}

std::optional<Json> Conversation::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = at(id);
  return found == items_.end() ? std::nullopt : std::optional(found->item);
}

void Conversation::put(Entry& entry, Json item) {
  bytes_ -= entry.bytes;
  entry.bytes = json_text(item).size();
  bytes_ += entry.bytes;
  entry.item = std::move(item);
  forget_oldest();
}

void Conversation::replace(Json item) {
  const std::lock_guard lock(mutex_);
  if (const auto found = at(item.value("id", "")); found != items_.end()) {
    put(*found, std::move(item));
  }
}

// The text's end with the last word that was heard.
void Conversation::cut(Json& item, const std::vector<SaidWord>& words, int64_t heard_ms) {
  const auto unheard = std::ranges::upper_bound(words, heard_ms, {}, &SaidWord::middle_ms);
  if (unheard == words.end() && !words.empty()) {
    return;
  }
  const size_t end = unheard == words.begin() ? 0 : std::prev(unheard)->end;
  for (Json& part : item["content"]) {
    if (part.contains("transcript") && part["transcript"].is_string()) {
      part["transcript"] = part["transcript"].get<std::string>().substr(0, end);
    }
  }
}

void Conversation::put_said(Json item, const std::vector<SaidWord>& words) {
  const std::lock_guard lock(mutex_);
  const auto found = at(item.value("id", ""));
  if (found == items_.end()) {
    return;
  }
  if (found->heard_ms) {
    cut(item, words, *found->heard_ms);
  }
  found->words = words;
  put(*found, std::move(item));
}

Status Conversation::truncate(const std::string& id, int64_t heard_ms) {
  const std::lock_guard lock(mutex_);
  const auto found = at(id);
  if (found == items_.end() || found->item.value("role", "") != "assistant") {
    return fail(ErrorCode::NotFound,
                fmt::format("item_id: there is no item '{}' that was spoken", id));
  }
  found->heard_ms = std::min(heard_ms, found->heard_ms.value_or(heard_ms));
  Json item = found->item;
  cut(item, found->words, *found->heard_ms);
  put(*found, std::move(item));
  return {};
}

std::string Conversation::last_id() const {
  const std::lock_guard lock(mutex_);
  return items_.empty() ? std::string() : items_.back().id;
}

std::vector<Json> Conversation::items() const {
  const std::lock_guard lock(mutex_);
  std::vector<Json> all;
  all.reserve(items_.size());
  std::ranges::transform(items_, std::back_inserter(all), &Entry::item);
  return all;
}

}  // namespace mynah::server
