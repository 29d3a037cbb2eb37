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

void ReplyItems::act(std::function<void()> action) {
  held_back_.push_back(std::move(action));
  if (wish_.hold != nullptr && wish_.hold->is_held()) {
    return;
  }
  for (const auto& one : std::exchange(held_back_, {})) {
    one();
  }
}

void ReplyItems::tell(std::string type, Json fields) {
  act([this, type = std::move(type), fields = std::move(fields)]() mutable {
    teller_.tell(type, std::move(fields));
  });
}

Status ReplyItems::wait_until_wanted(const std::stop_token& stop) {
  if (wish_.hold == nullptr) {
    return {};
  }
  if (!wish_.hold->wait(stop)) {
    return fail(ErrorCode::Cancelled, "the reply is not wanted");
  }
  act([] {});
  return {};
}

void ReplyItems::begin_item(Kind kind, Json item) {
  kind_ = kind;
  item_ = std::move(item);
  text_.clear();
  words_.clear();
  tell("response.output_item.added",
       {{"response_id", wish_.response_id}, {"output_index", output_.size()}, {"item", item_}});
  if (wish_.in_conversation) {
    act([this, added = item_] {
      const auto before = conversation_.add(added, {});
      before_ = before && !before->empty() ? Json(*before) : Json();
      teller_.tell("conversation.item.added", {{"previous_item_id", before_}, {"item", added}});
    });
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
  tell("response.content_part.added", std::move(part));
}

void ReplyItems::tell_text(std::string_view delta, const std::vector<SaidWord>& words) {
  text_ += delta;
  words_ = words;
  if (wish_.in_conversation && wish_.sound) {
    Json said = item_;
    said["content"].push_back(content());
    act([this, said = std::move(said), words] { conversation_.put_said(said, words); });
  }
  Json fields = part_place();
  fields["delta"] = delta;
  tell(fmt::format("response.{}.delta", wish_.sound ? "output_audio_transcript" : "output_text"),
       std::move(fields));
}

void ReplyItems::tell_sound(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kSoundPiece);
    bytes.remove_prefix(piece.size());
    Json fields = part_place();
    fields["delta"] = base64(std::as_bytes(std::span(piece)));
    tell("response.output_audio.delta", std::move(fields));
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
  tell("response.function_call_arguments.delta", std::move(fields));
}

void ReplyItems::end_parts() {
  if (kind_ == Kind::Call) {
    Json done = place();
    done["call_id"] = item_["call_id"];
    done["name"] = item_["name"];
    done["arguments"] = text_;
    tell("response.function_call_arguments.done", std::move(done));
    return;
  }
  if (wish_.sound) {
    tell("response.output_audio.done", part_place());
  }
  Json text = part_place();
  text[wish_.sound ? "transcript" : "text"] = text_;
  tell(fmt::format("response.{}.done", wish_.sound ? "output_audio_transcript" : "output_text"),
       std::move(text));
  Json part = part_place();
  part["part"] = told_part();
  tell("response.content_part.done", std::move(part));
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
  tell("response.output_item.done",
       {{"response_id", wish_.response_id}, {"output_index", output_.size()}, {"item", item_}});
  if (wish_.in_conversation) {
    act([this, done = item_, words = words_] {
      conversation_.put_said(done, words);
      teller_.tell("conversation.item.done", {{"previous_item_id", before_}, {"item", done}});
    });
  }
  output_.push_back(std::move(item_));
  item_ = nullptr;
  kind_ = Kind::None;
}

}  // namespace mynah::server
