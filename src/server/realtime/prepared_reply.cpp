// Replies of a Dialogue that are begun before the turn is over that they answer.
#include <chrono>
#include <utility>

#include "server/realtime/dialogue.h"
#include "talk/turns/short_words.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

// Whether both are the same but for marks and capitals in what was said last.
bool ask_the_same(const Json& messages, const Json& others) {
  if (messages.size() != others.size() || messages.empty()) {
    return false;
  }
  const size_t last = messages.size() - 1;
  for (size_t i = 0; i < last; ++i) {
    if (messages[i] != others[i]) {
      return false;
    }
  }
  const Json& question = messages[last];
  const Json& other = others[last];
  return question["role"] == "user" && other["role"] == "user" &&
         talk::says_the_same(question["content"].get<std::string>(),
                             other["content"].get<std::string>());
}

}  // namespace

void Dialogue::on_provisional(const HeardItem& item, const Recognizer& recognizer) {
  const bool may_be_last = turns_.empty() && unheard_.empty() && !active_in_conversation();
  if (item.text.empty() || !may_be_last || !check_response(Json::object())) {
    forget_prepared();
    return;
  }
  prepare_reply(item, language_of(item, recognizer));
}

void Dialogue::prepare_reply(const HeardItem& item, const std::string& language) {
  Active active{.response_id = teller_.new_id("resp"), .told = {}, .asked = Json::object()};
  auto reply = reply_for(active.asked, active);
  const Json said = heard_item(item.id, item.text);
  if (!reply || !reply->asked || !take_messages(active, language, &said, *reply)) {
    forget_prepared();
    return;
  }
  const Json& messages = reply->asked->chat.messages;
  if (prepared_ && prepared_->language == language && ask_the_same(prepared_->messages, messages)) {
    return;
  }
  forget_prepared();
  reply->hold = std::make_shared<ReplyHold>();
  Prepared prepared{.response_id = active.response_id,
                    .wish = reply->wish,
                    .writer = writer(),
                    .fields = settings_.writing_for(active.asked),
                    .messages = messages,
                    .language = language,
                    .hold = reply->hold};
  if (around_.give(*std::move(reply), prepared.stop)) {
    prepared_ = std::move(prepared);
  }
}

void Dialogue::forget_prepared() {
  if (prepared_) {
    prepared_->stop.request_stop();
    prepared_.reset();
  }
}

std::shared_ptr<ReplyHold> Dialogue::take_prepared(Active& active, const Reply& reply) {
  if (!prepared_ || !reply.asked || !active.unheard.empty()) {
    return nullptr;
  }
  Reply asked = reply;
  const std::string language = language_for(active);
  const bool is_same = take_messages(active, language, nullptr, asked).has_value() &&
                       prepared_->wish == asked.wish && prepared_->writer == writer() &&
                       prepared_->fields == settings_.writing_for(active.asked) &&
                       prepared_->language == language &&
                       ask_the_same(prepared_->messages, asked.asked->chat.messages);
  if (!is_same) {
    forget_prepared();
    return nullptr;
  }
  Prepared prepared = *std::exchange(prepared_, std::nullopt);
  active.response_id = std::move(prepared.response_id);
  active.stop = std::move(prepared.stop);
  active.prepared_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                           std::chrono::steady_clock::now() - prepared.begun)
                           .count();
  return std::move(prepared.hold);
}

}  // namespace mynah::server
