#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "chat/call_ids.h"
#include "store/event_stream.h"
#include "talk/organs/chat_chunks.h"
#include "talk/organs/chat_question.h"
#include "talk/organs/remote_organs.h"

namespace mynah::talk {

namespace {

using MindClock = std::chrono::steady_clock;

// A server that loads its model first, and reads a long conversation on a processor.
constexpr std::chrono::milliseconds kMindPatience{120'000};
// Of one event, and of an answer that is no stream.
constexpr size_t kMostEvent = size_t{4} << 20;
constexpr size_t kMostNamedModels = 5;  // names that an error lists

double ms_between(MindClock::time_point from, MindClock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

// One reply as it comes.
class Written {
 public:
  Written(ChatObserver& observer, uint64_t id_seed) : observer_(observer), chunks_(id_seed) {}

  // Refuses what is neither events nor JSON.
  Status take_head(const HttpResponse& head) {
    const std::string type = ascii_lower(head.header("content-type"));
    are_events_ = type.starts_with("text/event-stream");
    if (!are_events_ && !type.starts_with("application/json")) {
      return fail(ErrorCode::Environment,
                  fmt::format("wanted a reply as events or JSON, found '{}': is this the address "
                              "of OpenAI's API?",
                              type.substr(0, type.find(';'))));
    }
    return {};
  }

  Status take(std::span<const std::byte> piece) {
    const std::string_view text(reinterpret_cast<const char*>(piece.data()), piece.size());
    if (!are_events_) {
      if (whole_.size() + text.size() > kMostEvent) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("wanted a reply of {} bytes at most, found more", kMostEvent));
      }
      whole_ += text;
      return waits_too_long();
    }
    MYNAH_TRY_STATUS(events_.push(text, [this](const ServerEvent& event) -> Status {
      return chunks_.is_done() ? Status() : push(event.data);
    }));
    return waits_too_long();
  }

  // Tells the rest. `ended`: how the exchange did.
  Status end(const Status& ended) {
    Status read = ended;
    if (read && !are_events_ && !whole_.empty()) {
      read = push(whole_);
    }
    if (told_) {
      // What was held back is part of what was written, however it ended.
      told_ = tell(chunks_.finish());
    }
    MYNAH_TRY_STATUS(told_);
    MYNAH_TRY_STATUS(read);
    if (!chunks_.has_ended() && !chunks_.is_done()) {
      return fail(ErrorCode::Io, "the answer ended before the reply did");
    }
    return {};
  }

  // Whether the reply is there, whatever became of the connection.
  [[nodiscard]] bool is_done() const { return chunks_.is_done(); }

  // What the observer said to what it was told.
  [[nodiscard]] const Status& told() const { return told_; }

  [[nodiscard]] const std::string& model() const { return chunks_.model(); }

  [[nodiscard]] ChatReply reply() const {
    ChatReply reply = chunks_.reply();
    const auto now = MindClock::now();
    const auto first = first_.value_or(now);
    reply.spent.prompt_ms = ms_between(asked_, first);
    reply.spent.written_ms = ms_between(first, now);
    return reply;
  }

 private:
  Status push(std::string_view data) {
    MYNAH_TRY(const ChatDelta delta, chunks_.push(data));
    if (!delta.empty()) {
      last_ = MindClock::now();
      first_ = first_.value_or(last_);
    }
    return told_ = tell(delta);
  }

  Status tell(const ChatDelta& delta) {
    return delta.empty() ? Status() : observer_.on_delta(delta);
  }

  // Of a server that gives signs of life and nothing else.
  [[nodiscard]] Status waits_too_long() const {
    return MindClock::now() - last_ > kMindPatience
               ? Status(fail(ErrorCode::Io, "the reply does not go on"))
               : Status();
  }

  ChatObserver& observer_;
  ChatChunks chunks_;
  EventStream events_{kMostEvent};
  bool are_events_ = false;
  std::string whole_;
  Status told_;
  const MindClock::time_point asked_ = MindClock::now();
  MindClock::time_point last_ = asked_;  // that something came of the reply
  std::optional<MindClock::time_point> first_;
};

class RemoteMind final : public Mind {
 public:
  explicit RemoteMind(std::unique_ptr<ServiceClient> client) : client_(std::move(client)) {}

  // Which model.
  Status meet(const std::stop_token& stop) {
    MYNAH_TRY(const auto models, client_->models(stop));
    if (client_->model().empty()) {
      client_->choose(choose_model(models, ServedKind::Writes));
    }
    if (!client_->model().empty()) {
      return {};
    }
    std::string names;
    for (size_t i = 0; i < std::min(models.size(), kMostNamedModels); ++i) {
      names += fmt::format("{}{}", i == 0 ? "" : ", ", models[i].id);
    }
    return fail(ErrorCode::Environment,
                fmt::format("{}: wanted a language model, found {}: name one that it has (--model)",
                            client_->address().text(),
                            names.empty() ? "no list of models" : "none but " + names));
  }

  Result<ChatReply> reply(const ChatRequest& asked, ChatObserver& observer,
                          const std::stop_token& stop) override {
    if (asked.constraint) {
      return fail(ErrorCode::Unsupported,
                  "a form of the reply is for a language model in this process");
    }
    ChatRequest request = asked;
    std::vector<ReplyNote> notes;
    while (true) {
      const std::string body = chat_question(
          request, client_->model(), [this](std::string_view f) { return client_->is_refused(f); });
      Written written(observer, call_id_seed(request));
      const ServiceClient::Question question{.route = "/chat/completions",
                                             .type = "application/json",
                                             .body = std::as_bytes(std::span(body)),
                                             .accept = "text/event-stream, application/json",
                                             .is_enough = [&] { return written.is_done(); }};
      const auto answer = ask(question, written, stop);
      if (answer && answer->head.status != kServed) {
        if (client_->learn(*answer, kOptionalChatFields) || shorten(*answer, request, notes)) {
          continue;
        }
        return client_->refusal(question, *answer);
      }
      const Status ended =
          written.end(answer || written.is_done() ? Status() : std::unexpected(answer.error()));
      if (!ended) {
        const bool is_own = !written.told() || !answer;  // it is told as it is
        return is_own ? Result<ChatReply>(std::unexpected(ended.error()))
                      : client_->fault(question, ended.error().code, ended.error().message);
      }
      client_->note_model(answer ? answer->head : HttpResponse(), written.model());
      ChatReply reply = written.reply();
      reply.notes.insert(reply.notes.begin(), notes.begin(), notes.end());
      for (const ReplyNote& note : reply.notes) {
        observer.on_note(note);
      }
      MYNAH_TRY_STATUS(observer.on_end(reply));
      return reply;
    }
  }

  [[nodiscard]] OrganFacts facts() const override { return client_->facts(); }

 private:
  // Errors of what came have the address in front, the observer's are as they are.
  Result<HttpAnswer> ask(const ServiceClient::Question& question, Written& written,
                         const std::stop_token& stop) {
    const auto as_fault = [&](Status status) -> Status {
      if (status || !written.told()) {
        return status;
      }
      return client_->fault(question, status.error().code, status.error().message);
    };
    return client_->ask(
        question, [&](const HttpResponse& head) { return as_fault(written.take_head(head)); },
        [&](std::span<const std::byte> piece) { return as_fault(written.take(piece)); }, stop);
  }

  // Leaves the oldest turns out where the server has no room for all, and the request allows it.
  static bool shorten(const HttpAnswer& answer, ChatRequest& request,
                      std::vector<ReplyNote>& notes) {
    if (request.too_long != TooLong::LeaveOut || answer.head.status / 100 != 4 ||
        !is_too_long(read_refusal(answer.text))) {
      return false;
    }
    auto fewer = without_oldest_turns(request.messages);
    if (!fewer) {
      return false;
    }
    request.messages = *std::move(fewer);
    notes = {{.code = "messages_left_out",
              .text = "the server has no room for the whole conversation: its oldest turns were "
                      "left out"}};
    return true;
  }

  std::unique_ptr<ServiceClient> client_;
};

}  // namespace

Result<std::unique_ptr<Mind>> remote_mind(Service service, const std::stop_token& stop) {
  MYNAH_TRY(auto client, ServiceClient::create(std::move(service), kMindPatience));
  auto mind = std::make_unique<RemoteMind>(std::move(client));
  MYNAH_TRY_STATUS(mind->meet(stop));
  return mind;
}

}  // namespace mynah::talk
