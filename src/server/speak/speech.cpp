#include "server/speak/speech.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/http/errors.h"
#include "server/http/events.h"
#include "server/speak/speak_sound.h"
#include "store/base64.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

// The answer's body: begun with the first sound, so that what goes wrong before is told as an
// error.
class StreamedSound final : public SoundTaker {
 public:
  StreamedSound(Exchange& exchange, Response head, bool events)
      : exchange_(exchange), head_(std::move(head)), events_(events) {}

  Status write(std::span<const std::byte> bytes) override {
    // A header without sound would be an answer already.
    if (!begun_ && !has_sound_) {
      held_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return {};
    }
    return send(bytes);
  }

  void on_first_sound(std::chrono::duration<double> took) override {
    const std::chrono::duration<double, std::milli> took_ms = took;
    head_.headers.set("Server-Timing", fmt::format("first-sound;dur={:.2f}", took_ms.count()));
  }

  Status on_clause(const SpokenClause& /*clause*/) override {
    has_sound_ = true;
    const std::string held = std::exchange(held_, {});
    return held.empty() ? Status() : send(std::as_bytes(std::span(held)));
  }

  // All of it was written. `characters`: of the text.
  void end(size_t characters, size_t tokens) {
    if (events_) {
      const Json done = {{"type", "speech.audio.done"},
                         {"usage",
                          {{"input_tokens", characters},
                           {"output_tokens", tokens},
                           {"total_tokens", characters + tokens}}}};
      static_cast<void>(exchange_.write(event(done.dump())));  // it may have left
    }
    exchange_.end();
  }

  void fail_with(const Error& error, const std::string& field) {
    if (!begun_) {
      exchange_.answer(openai_error(error, field));
    } else if (events_) {
      static_cast<void>(
          exchange_.write(event(openai_error_text(error, field))));  // it may have left
      exchange_.end();
    } else {
      exchange_.break_off();
    }
  }

 private:
  Status send(std::span<const std::byte> bytes) {
    if (!std::exchange(begun_, true)) {
      exchange_.begin(std::move(head_));
    }
    if (!events_) {
      return exchange_.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    return exchange_.write(
        event(Json{{"type", "speech.audio.delta"}, {"audio", base64(bytes)}}.dump()));
  }

  Exchange& exchange_;
  Response head_;
  bool events_;
  bool has_sound_ = false;
  bool begun_ = false;
  std::string held_;
};

}  // namespace

void answer_speech(const SpeechRequest& request, const Speaking& speaking,
                   const std::string& media_program, Exchange& exchange) {
  const bool events = request.delivery == SoundDelivery::Events;
  Response head = events ? event_stream() : Response{.type = sound_type(request), .body = {}};
  name_speaking(request, speaking, head);
  if (request.delivery == SoundDelivery::Whole) {
    WholeSound sound;
    const auto spoken = speak_sound(request, speaking, media_program, sound, exchange);
    head.body = sound.take_bytes();
    exchange.answer(spoken ? std::move(head)
                           : openai_error(spoken.error(), refused_field(request, spoken.error())));
    return;
  }
  StreamedSound sound(exchange, std::move(head), events);
  const auto spoken = speak_sound(request, speaking, media_program, sound, exchange);
  if (!spoken) {
    sound.fail_with(spoken.error(), refused_field(request, spoken.error()));
    return;
  }
  constexpr double kTokens_per_s = 20;  // as OpenAI's speech models are charged, roughly
  sound.end(request.input.size(), static_cast<size_t>(*spoken * kTokens_per_s));
}

void answer_speech(Service& service, const SpeechRequest& request, const std::string& media_program,
                   Exchange& exchange) {
  const auto speaking = service.speaking(asked_of(request));
  if (!speaking) {
    exchange.answer(speaking_error(speaking.error()));
    return;
  }
  answer_speech(request, *speaking, media_program, exchange);
}

Handler speech(Service& service, std::string media_program) {
  return [&service, media_program = std::move(media_program)](Exchange& exchange) {
    const auto request = parse_speech(exchange.json());
    if (!request) {
      exchange.answer(openai_error(request.error().error, request.error().field));
      return;
    }
    answer_speech(service, *request, media_program, exchange);
  };
}

}  // namespace mynah::server
