#include "server/realtime/reply.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "server/chat/write_replies.h"
#include "server/realtime/reply_items.h"
#include "server/realtime/reply_speech.h"

namespace mynah::server {
namespace {

// Of a reply that is prepared so much is written beforehand where nothing of it is spoken.
constexpr size_t kMostHeldBack = 64;

// What a model writes, as items that are told and spoken.
class WrittenItems final : public ReplyTaker {
 public:
  // `speech`: null: its messages are text alone.
  WrittenItems(ReplyItems& items, ReplySpeech* speech, const std::stop_token& stop)
      : items_(items), speech_(speech), stop_(stop) {}

  Status on_delta(int /*number*/, const ChatDelta& delta) override {
    MYNAH_TRY_STATUS(take_text(delta.said.content));
    for (const CallDelta& call : delta.said.calls) {
      MYNAH_TRY_STATUS(take_call(call));
    }
    return items_.held_back() < kMostHeldBack ? Status() : items_.wait_until_wanted(stop_);
  }

  Status on_end(int /*number*/, const ChatReply& reply) override {
    MYNAH_TRY_STATUS(end_message());
    items_.end(reply.end != ReplyEnd::Length && reply.end != ReplyEnd::NoContext);
    return {};
  }

 private:
  Status take_text(std::string_view text) {
    if (!in_message_) {
      text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    }
    if (text.empty()) {
      return {};
    }
    in_message_ = true;
    if (speech_ != nullptr) {
      return speech_->push(text);
    }
    items_.begin_message();
    items_.tell_text(text);
    return {};
  }

  Status take_call(const CallDelta& call) {
    if (call_ != call.index) {
      MYNAH_TRY_STATUS(end_message());
      call_ = call.index;
      items_.begin_call(call.id, call.name);
    }
    if (!call.arguments.empty()) {
      items_.tell_arguments(call.arguments);
    }
    return {};
  }

  Status end_message() {
    return std::exchange(in_message_, false) && speech_ != nullptr ? speech_->finish() : Status();
  }

  ReplyItems& items_;
  ReplySpeech* speech_;
  const std::stop_token& stop_;
  bool in_message_ = false;
  std::optional<size_t> call_;  // its index in the reply
};

Status write_reply(const ReplyWays& ways, const CompletionRequest& asked, ReplyTaker& taker,
                   Replied& replied, const std::stop_token& stop) {
  const auto turn = ways.turns.begin(RequestWork::Does::Write);
  const RequestScope scope(turn->work());
  const auto write = [&]() -> Status {
    const auto writing = ways.service.chats().writing(asked.model, UnknownName::MeansDefault);
    if (!writing) {
      replied.code = writing_error(writing.error()).code;
      return std::unexpected(writing.error());
    }
    const auto written =
        write_replies(asked, *writing, taker, {.owner = ways.turns.owner(), .stop = stop});
    if (!written) {
      replied.code = written.error().code;
      return std::unexpected(written.error().error);
    }
    const ChatReply& reply = written->front().reply;
    replied.spent = reply.spent;
    replied.notes = reply.notes;
    replied.cut = reply.end == ReplyEnd::Length || reply.end == ReplyEnd::NoContext;
    return {};
  };
  Status status = write();
  turn->end(status);
  return status;
}

Status say_given(const std::string& text, ReplyItems& items, ReplySpeech* speech) {
  items.begin_message();
  if (speech != nullptr) {
    MYNAH_TRY_STATUS(speech->push(text));
    MYNAH_TRY_STATUS(speech->finish());
  } else {
    items.tell_text(text);
  }
  items.end(true);
  return {};
}

}  // namespace

Replied give_reply(const ReplyWays& ways, Reply reply, const std::stop_token& stop) {
  Replied replied{.response_id = reply.response_id};
  ReplyItems items(ways.teller, ways.conversation,
                   {.response_id = reply.response_id,
                    .sound = reply.wish.sound,
                    .in_conversation = reply.in_conversation,
                    .hold = reply.hold});
  ReplySpeech speech(ways.service, ways.turns, items,
                     {.wish = reply.wish,
                      .kind = reply.asked ? TextKind::Markdown : TextKind::Plain,
                      .language = reply.language},
                     stop);
  ReplySpeech* const voice = reply.wish.sound ? &speech : nullptr;
  replied.status = voice == nullptr ? Status() : speech.open();
  if (replied.status && reply.asked) {
    WrittenItems written(items, voice, stop);
    replied.status = write_reply(ways, *reply.asked, written, replied, stop);
  } else if (replied.status) {
    replied.status = say_given(reply.text, items, voice);
  }
  speech.end(replied.status);
  items.end(false);  // what was broken off
  if (reply.hold != nullptr) {
    // What fails before it is wanted is asked for once more then.
    replied.unwanted = (!replied.status || !items.wait_until_wanted(stop)) && reply.hold->give_up();
    if (!replied.unwanted) {
      static_cast<void>(items.wait_until_wanted(stop));  // it is: what was held back is told
    }
  }
  replied.output = items.output();
  replied.sound_ms = speech.ms();
  replied.unplayed_ms = speech.unplayed_ms();
  if (const auto note = speech.note()) {
    replied.notes.push_back(*note);
  }
  return replied;
}

}  // namespace mynah::server
