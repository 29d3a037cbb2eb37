#include "server/speak/captions.h"

#include <span>
#include <utility>

#include <nlohmann/json.hpp>

#include "server/http/errors.h"
#include "server/http/json_text.h"
#include "server/speak/speak_sound.h"
#include "store/base64.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

// A line of the answer. No words' times where none were asked for.
std::string line_of(const SpeechRequest& request, std::string_view bytes,
                    std::span<const SpokenWord> words) {
  Json times;
  if (request.word_times) {
    times = Json::array();
    for (const SpokenWord& word : words) {
      times.push_back(
          {{"word", word.text}, {"start_time", word.start_s}, {"end_time", word.end_s}});
    }
  }
  return json_text({{"audio", base64(std::as_bytes(std::span(bytes)))},
                    {"audio_format", sound_type(request)},
                    {"timestamps", std::move(times)}}) +
         "\n";
}

// Sends each clause's sound with its words.
class StreamedCaptions final : public SoundTaker {
 public:
  StreamedCaptions(Exchange& exchange, const SpeechRequest& request, Response head)
      : exchange_(exchange), request_(request), head_(std::move(head)) {}

  Status write(std::span<const std::byte> bytes) override { return sound_.write(bytes); }

  Status on_clause(const SpokenClause& clause) override { return sound_.on_clause(clause); }

  // An encoder may keep a clause back: its words come with its sound.
  Status on_clause_written() override {
    if (sound_.bytes().empty()) {
      return {};
    }
    if (!std::exchange(begun_, true)) {
      exchange_.begin(std::move(head_));
    }
    const WholeSound sent = std::exchange(sound_, WholeSound());
    return exchange_.write(line_of(request_, sent.bytes(), sent.words()));
  }

  void end() {
    static_cast<void>(on_clause_written());  // it may have left
    exchange_.end();
  }

  void fail_with(const Error& error) {
    if (!begun_) {
      exchange_.answer(openai_error(error, refused_field(request_, error)));
      return;
    }
    static_cast<void>(exchange_.write(openai_error_text(error) + "\n"));  // it may have left
    exchange_.end();
  }

 private:
  Exchange& exchange_;
  const SpeechRequest& request_;
  Response head_;
  WholeSound sound_;  // that was not sent yet
  bool begun_ = false;
};

void answer_captioned(Service& service, const std::string& media_program, Exchange& exchange) {
  const auto request = parse_captioned(exchange.json());
  if (!request) {
    exchange.answer(openai_error(request.error().error, request.error().field));
    return;
  }
  const auto speaking = service.speaking(asked_of(*request));
  if (!speaking) {
    exchange.answer(speaking_error(speaking.error()));
    return;
  }
  Response head;
  name_speaking(*request, *speaking, head);
  if (request->delivery == SoundDelivery::Whole) {
    WholeSound sound;
    const auto spoken = speak_sound(*request, *speaking, media_program, sound, exchange);
    head.body = line_of(*request, sound.bytes(), sound.words());
    exchange.answer(spoken ? std::move(head)
                           : openai_error(spoken.error(), refused_field(*request, spoken.error())));
    return;
  }
  head.type = "application/x-ndjson";
  StreamedCaptions captions(exchange, *request, std::move(head));
  const auto spoken = speak_sound(*request, *speaking, media_program, captions, exchange);
  if (spoken) {
    captions.end();
  } else {
    captions.fail_with(spoken.error());
  }
}

}  // namespace

Handler captioned_speech(Service& service, std::string media_program) {
  return [&service, media_program = std::move(media_program)](Exchange& exchange) {
    answer_captioned(service, media_program, exchange);
  };
}

}  // namespace mynah::server
