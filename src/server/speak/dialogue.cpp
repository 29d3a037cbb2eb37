#include "server/speak/dialogue.h"

#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "server/http/errors.h"
#include "server/speak/speech.h"

namespace mynah::server {
namespace {

// The turns as one text with marks, and the model that has all of their voices.
Result<Speaking> tagged(Service& service, DialogueRequest& request) {
  std::map<std::string, std::string> voices;  // what stands for each that was asked for
  std::optional<Speaking> all;
  for (const DialogueRequest::Turn& turn : request.turns) {
    if (!voices.contains(turn.voice)) {
      SpeakingAsk asked = asked_of(request.speech);
      asked.voice = turn.voice;
      MYNAH_TRY(Speaking one, service.speaking(asked));
      if (all && one.name != all->name) {
        return fail(ErrorCode::Unsupported,
                    fmt::format("turns: wanted voices of one model, found {} of {} and one of {}",
                                turn.voice, one.name, all->name));
      }
      voices[turn.voice] = one.voice;
      if (!all) {
        all.emplace(std::move(one));
      }
    }
    if (!request.speech.input.empty()) {
      request.speech.input +=
          request.pause_s > 0 ? fmt::format(" [pause:{:.3f}s] ", request.pause_s) : " ";
    }
    request.speech.input += fmt::format("[voice:{}] {}", voices[turn.voice], turn.text);
  }
  return *std::move(all);  // there is one turn at least
}

}  // namespace

Handler dialogue(Service& service, std::string media_program) {
  return [&service, media_program = std::move(media_program)](Exchange& exchange) {
    auto request = parse_dialogue(exchange.json());
    if (!request) {
      exchange.answer(openai_error(request.error().error, request.error().field));
      return;
    }
    const auto speaking = tagged(service, *request);
    if (!speaking) {
      exchange.answer(openai_error(speaking.error(), "turns"));
      return;
    }
    answer_speech(request->speech, *speaking, media_program, exchange);
  };
}

}  // namespace mynah::server
