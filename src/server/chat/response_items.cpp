#include "server/chat/response_items.h"

#include <utility>

#include <fmt/format.h>

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Json ResponseItems::event(const char* type) const {
  return {{"type", type}, {"item_id", item("")["id"]}, {"output_index", index()}};
}

Json ResponseItems::part(const std::string& text) const {
  if (kind_ == Kind::Thought) {
    return {{"type", "reasoning_text"}, {"text", text}};
  }
  return {{"type", "output_text"},
          {"text", text},
          {"annotations", Json::array()},
          {"logprobs", Json::array()}};
}

Json ResponseItems::item(const char* status) const {
  const bool whole = std::string_view(status) == "completed";
  const Json content = whole ? Json::array({part(text_)}) : Json::array();
  const std::string end = fmt::format("{}_{}", id_, index());
  switch (kind_) {
    case Kind::Thought:
      return {{"id", "rs_" + end},
              {"type", "reasoning"},
              {"summary", Json::array()},
              {"content", content},
              {"status", status}};
    case Kind::Call:
      return {{"id", "fc_" + end},   {"type", "function_call"}, {"status", status},
              {"call_id", call_id_}, {"name", name_},           {"arguments", whole ? text_ : ""}};
    case Kind::Text:
    case Kind::None:
      break;
  }
  return {{"id", "msg_" + end},
          {"type", "message"},
          {"status", status},
          {"role", "assistant"},
          {"content", content}};
}

Status ResponseItems::begin(Kind kind) {
  MYNAH_TRY_STATUS(end());
  kind_ = kind;
  text_.clear();
  Json added = event("response.output_item.added");
  added.erase("item_id");
  added["item"] = item("in_progress");
  MYNAH_TRY_STATUS(tell_(std::move(added)));
  if (kind == Kind::Call) {
    return {};
  }
  Json begun = event("response.content_part.added");
  begun["content_index"] = 0;
  begun["part"] = part("");
  return tell_(std::move(begun));
}

Status ResponseItems::end() {
  if (kind_ == Kind::None) {
    return {};
  }
  if (kind_ == Kind::Call) {
    Json done = event("response.function_call_arguments.done");
    done["name"] = name_;
    done["arguments"] = text_;
    MYNAH_TRY_STATUS(tell_(std::move(done)));
  } else {
    Json done =
        event(kind_ == Kind::Text ? "response.output_text.done" : "response.reasoning_text.done");
    done["content_index"] = 0;
    done["text"] = text_;
    if (kind_ == Kind::Text) {
      done["logprobs"] = Json::array();
    }
    MYNAH_TRY_STATUS(tell_(std::move(done)));
    Json ended = event("response.content_part.done");
    ended["content_index"] = 0;
    ended["part"] = part(text_);
    MYNAH_TRY_STATUS(tell_(std::move(ended)));
  }
  Json whole = event("response.output_item.done");
  whole.erase("item_id");
  Json done = item("completed");
  whole["item"] = done;
  items_.push_back(std::move(done));
  kind_ = Kind::None;
  return tell_(std::move(whole));
}

Status ResponseItems::write(const std::string& text) {
  text_ += text;
  Json delta = event(kind_ == Kind::Call   ? "response.function_call_arguments.delta"
                     : kind_ == Kind::Text ? "response.output_text.delta"
                                           : "response.reasoning_text.delta");
  if (kind_ != Kind::Call) {
    delta["content_index"] = 0;
  }
  delta["delta"] = text;
  if (kind_ == Kind::Text) {
    delta["logprobs"] = Json::array();
  }
  return tell_(std::move(delta));
}

Status ResponseItems::write_call(const CallDelta& call) {
  if (kind_ != Kind::Call || call_ != call.index) {
    MYNAH_TRY_STATUS(end());
    call_ = call.index;
    call_id_ = call.id;
    name_ = call.name;
    MYNAH_TRY_STATUS(begin(Kind::Call));
  }
  return call.arguments.empty() ? Status() : write(call.arguments);
}

Status ResponseItems::take(const ReplyDelta& said) {
  for (const auto& [kind, text] :
       {std::pair(Kind::Thought, &said.reasoning), std::pair(Kind::Text, &said.content)}) {
    if (text->empty()) {
      continue;
    }
    if (kind_ != kind) {
      MYNAH_TRY_STATUS(begin(kind));
    }
    MYNAH_TRY_STATUS(write(*text));
  }
  for (const CallDelta& call : said.calls) {
    MYNAH_TRY_STATUS(write_call(call));
  }
  return {};
}

Status ResponseItems::finish() {
  // An answer of nothing is one still.
  if (items_.empty() && kind_ == Kind::None) {
    MYNAH_TRY_STATUS(begin(Kind::Text));
  }
  return end();
}

}  // namespace mynah::server
