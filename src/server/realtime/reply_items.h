// ReplyItems: a response of Realtime as items, in events and in the conversation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "server/realtime/conversation.h"
#include "server/realtime/teller.h"

namespace mynah::server {

// One thread at a time; that of its response.
class ReplyItems {
 public:
  struct Wish {
    std::string response_id;
    bool sound = true;            // messages are spoken; else they are text alone
    bool in_conversation = true;  // else nothing is kept of them
  };

  ReplyItems(Teller& teller, Conversation& conversation, Wish wish)
      : teller_(teller), conversation_(conversation), wish_(std::move(wish)) {}

  // A message begins, unless one is under way.
  void begin_message();
  // More of its text, with the words of it that were spoken so far, if it is.
  void tell_text(std::string_view delta, const std::vector<SaidWord>& words = {});
  // More of its sound.
  void tell_sound(std::string_view bytes);

  // A function's call begins; it is told to its end before anything else.
  void begin_call(const std::string& call_id, const std::string& name);
  void tell_arguments(std::string_view delta);

  // The item under way ends. `whole`: nothing of it is missing.
  void end(bool whole);

  // Those that ended.
  [[nodiscard]] const nlohmann::ordered_json& output() const { return output_; }

  // Of the message under way, or of the last one.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  using Json = nlohmann::ordered_json;

  enum class Kind : uint8_t { None, Message, Call };

  void begin_item(Kind kind, Json item);
  // What events of the item under way say of it.
  [[nodiscard]] Json place() const;
  [[nodiscard]] Json part_place() const;
  // Its part, as the item has it and as its events do.
  [[nodiscard]] Json content() const;
  [[nodiscard]] Json told_part() const;
  void end_parts();

  Teller& teller_;
  Conversation& conversation_;
  Wish wish_;
  Kind kind_ = Kind::None;
  Json item_;
  Json before_;       // the id of the item before it
  std::string text_;  // of a message, or a call's arguments
  std::vector<SaidWord> words_;
  Json output_ = nlohmann::ordered_json::array();
};

}  // namespace mynah::server
