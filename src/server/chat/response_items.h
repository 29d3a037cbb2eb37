// ResponseItems: a reply as the Responses API tells it: items of an output, and events of each.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "chat/chat_request.h"

namespace mynah::server {

class ResponseItems {
 public:
  // `tell`: each event, without its number. `id`: what items' ids end in.
  using Tell = std::function<Status(nlohmann::ordered_json event)>;

  ResponseItems(std::string id, Tell tell) : id_(std::move(id)), tell_(std::move(tell)) {}

  Status take(const ReplyDelta& said);
  // Nothing more comes.
  Status finish();

  // Those that are whole.
  [[nodiscard]] const nlohmann::ordered_json& items() const { return items_; }

 private:
  enum class Kind : uint8_t { None, Thought, Text, Call };

  [[nodiscard]] size_t index() const { return items_.size(); }

  // What events of the item under way say of it.
  [[nodiscard]] nlohmann::ordered_json event(const char* type) const;
  // The item under way, with what was written of it.
  [[nodiscard]] nlohmann::ordered_json item(const char* status) const;
  [[nodiscard]] nlohmann::ordered_json part(const std::string& text) const;

  Status begin(Kind kind);
  Status end();
  Status write(const std::string& text);
  Status write_call(const CallDelta& call);

  std::string id_;
  Tell tell_;
  nlohmann::ordered_json items_ = nlohmann::ordered_json::array();
  Kind kind_ = Kind::None;
  size_t call_ = 0;   // its index in the reply
  std::string text_;  // of the item under way; a call's arguments
  std::string call_id_;
  std::string name_;
};

}  // namespace mynah::server
