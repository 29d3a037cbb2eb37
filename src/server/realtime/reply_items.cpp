#include "server/realtime/reply_items.h"

#include <span>
#include <utility>

#include <fmt/format.h>

#include "store/base64.h"

namespace mynah::server {
namespace {

// Bytes of sound in an event: a client that interrupts has little left to play.
constexpr size_t kSoundPiece = 24'000;

}  // namespace

ReplyItems::Json ReplyItems::place() const {
  return {{"response_id", wish_.response_id},
          {"item_id", item_["id"]},
          {"output_index", output_.size()}};
}

ReplyItems::Json ReplyItems::part_place() const {
  Json fields = place();
  fields["content_index"] = 0;
  return fields;
}

ReplyItems::Json ReplyItems::content() const {
  const bool beta = teller_.beta();
  return wish_.sound ? Json{{"type", beta ? "audio" : "output_audio"}, {"transcript", text_}}
                     : Json{{"type", beta ? "text" : "output_text"}, {"text", text_}};
}

ReplyItems::Json ReplyItems::told_part() const {
  return wish_.sound ? Json{{"type", "audio"}, {"transcript", text_}}
                     : Json{{"type", "text"}, {"text", text_}};
}

void ReplyItems::begin_item(Kind kind, Json item) {
  kind_ = kind;
  item_ = std::move(item);
  text_.clear();
  words_.clear();
  before_ = nullptr;
  teller_.tell(
      "response.output_item.added",
      {{"response_id", wish_.response_id}, {"output_index", output_.size()}, {"item", item_}});
  if (wish_.in_conversation) {
    if (const auto before = conversation_.add(item_, {}); before && !before->empty()) {
      before_ = *before;
    }
    teller_.tell("conversation.item.added", {{"previous_item_id", before_}, {"item", item_}});
  }
}

void ReplyItems::begin_message() {
  if (kind_ == Kind::Message) {
    return;
  }
  end(true);
  begin_item(Kind::Message, {{"id", teller_.new_id("item")},
                             {"object", "realtime.item"},
                             {"type", "message"},
                             {"status", "in_progress"},
                             {"role", "assistant"},
                             {"content", Json::array()}});
  Json part = part_place();
  part["part"] = told_part();
  teller_.tell("response.content_part.added", std::move(part));
}

void ReplyItems::tell_text(std::string_view delta, const std::vector<SaidWord>& words) {
  text_ += delta;
  words_ = words;
  if (wish_.in_conversation && wish_.sound) {
    Json said = item_;
    said["content"].push_back(content());
    conversation_.put_said(std::move(said), words_);
  }
  Json fields = part_place();
  fields["delta"] = delta;
  teller_.tell(
      fmt::format("response.{}.delta", wish_.sound ? "output_audio_transcript" : "output_text"),
      std::move(fields));
}

void ReplyItems::tell_sound(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kSoundPiece);
    bytes.remove_prefix(piece.size());
    Json fields = part_place();
    fields["delta"] = base64(std::as_bytes(std::span(piece)));
    teller_.tell("response.output_audio.delta", std::move(fields));
  }
}

void ReplyItems::begin_call(const std::string& call_id, const std::string& name) {
  end(true);
  begin_item(Kind::Call, {{"id", teller_.new_id("item")},
                          {"object", "realtime.item"},
                          {"type", "function_call"},
                          {"status", "in_progress"},
                          {"call_id", call_id},
                          {"name", name},
                          {"arguments", ""}});
}

void ReplyItems::tell_arguments(std::string_view delta) {
  text_ += delta;
  Json fields = place();
  fields["call_id"] = item_["call_id"];
  fields["delta"] = delta;
  teller_.tell("response.function_call_arguments.delta", std::move(fields));
}

void ReplyItems::end_parts() {
  if (kind_ == Kind::Call) {
    Json done = place();
    done["call_id"] = item_["call_id"];
    done["name"] = item_["name"];
    done["arguments"] = text_;
    teller_.tell("response.function_call_arguments.done", std::move(done));
    return;
  }
  if (wish_.sound) {
    teller_.tell("response.output_audio.done", part_place());
  }
  Json text = part_place();
  text[wish_.sound ? "transcript" : "text"] = text_;
  teller_.tell(
      fmt::format("response.{}.done", wish_.sound ? "output_audio_transcript" : "output_text"),
      std::move(text));
  Json part = part_place();
  part["part"] = told_part();
  teller_.tell("response.content_part.done", std::move(part));
}

void ReplyItems::end(bool whole) {
  if (kind_ == Kind::None) {
    return;
  }
  end_parts();
  item_["status"] = whole ? "completed" : "incomplete";
  if (kind_ == Kind::Call) {
    item_["arguments"] = text_;
  } else {
    item_["content"].push_back(content());
  }
  teller_.tell(
      "response.output_item.done",
      {{"response_id", wish_.response_id}, {"output_index", output_.size()}, {"item", item_}});
  if (wish_.in_conversation) {
    conversation_.put_said(item_, words_);
    teller_.tell("conversation.item.done", {{"previous_item_id", before_}, {"item", item_}});
  }
  output_.push_back(std::move(item_));
  item_ = nullptr;
  kind_ = Kind::None;
}

}  // namespace mynah::server
