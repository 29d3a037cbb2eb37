// ReplyItems: a response of Realtime as items, in events and in the conversation.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "server/realtime/conversation.h"
#include "server/realtime/reply_hold.h"
#include "server/realtime/teller.h"

namespace mynah::server {

// One thread at a time; that of its response. Where that is held nothing is told or kept until it
// is wanted, and then all of it from this thread, in order.
class ReplyItems {
 public:
  struct Wish {
    std::string response_id;
    bool sound = true;                  // messages are spoken; else they are text alone
    bool in_conversation = true;        // else nothing is kept of them
    std::shared_ptr<ReplyHold> hold{};  // null: it is wanted
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

  // Waits until the response is wanted, and tells what was held back. Cancelled once stop is
  // requested before.
  [[nodiscard]] Status wait_until_wanted(const std::stop_token& stop);

  // How many events are held back, more or less.
  [[nodiscard]] size_t held_back() const { return held_back_.size(); }

  // Those that ended.
  [[nodiscard]] const nlohmann::ordered_json& output() const { return output_; }

  // Of the message under way, or of the last one.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  using Json = nlohmann::ordered_json;

  enum class Kind : uint8_t { None, Message, Call };

  // Does it, or once the response is wanted.
  void act(std::function<void()> action);
  void tell(std::string type, Json fields);
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
  Json before_;       // the id of the item before it, as it was told
  std::string text_;  // of a message, or a call's arguments
  std::vector<SaidWord> words_;
  Json output_ = nlohmann::ordered_json::array();
  std::vector<std::function<void()>> held_back_;
};

}  // namespace mynah::server
