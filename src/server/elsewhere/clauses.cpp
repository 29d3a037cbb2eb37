#include "server/elsewhere/clauses.h"

#include <chrono>
#include <utility>
#include <vector>

#include "base/stop_scope.h"
#include "place/kinds/voice/voice_questions.h"
#include "server/elsewhere/answer_frames.h"
#include "server/elsewhere/questions.h"
#include "server/http/request_work.h"
#include "server/metrics/metrics.h"
#include "speech/synthesizer.h"
#include "tensor/device_error.h"

namespace mynah::server {
namespace {

// The model of the question, opened.
Result<Speaking> open_for(Service& service, const std::string& digest) {
  MYNAH_TRY(Speaking speaking, service.speaking_of(digest));
  MYNAH_TRY_STATUS(check_here(speaking.name, speaking.lease->device()));
  return speaking;
}

Status describe(Service& service, const place::VoiceQuestion& question, AnswerFrames& frames) {
  MYNAH_TRY_STATUS(place::check_voice(question.voice));
  MYNAH_TRY(const Speaking speaking, open_for(service, question.digest));
  const VoiceModel& model = speaking.lease->synthesizer->model();
  MYNAH_TRY(VoiceFacts voice, model.find_voice(question.voice));
  frames.send(place::VoiceAnswer{.model = place::facts_of(model), .voice = std::move(voice)});
  return {};
}

Status speak(Service& service, const place::ClauseQuestion& question, AnswerFrames& frames,
             const std::stop_token& stop) {
  MYNAH_TRY(const Speaking speaking, open_for(service, question.digest));
  const VoiceModel& model = speaking.lease->synthesizer->model();
  MYNAH_TRY_STATUS(place::check_question(question, model.most_phonemes()));
  const auto work = RequestWork::here();
  if (work != nullptr) {
    work->begin();
  }
  const StopScope scope(stop);
  MYNAH_TRY(const ClauseSound sound,
            or_device_error([&] { return model.speak(question.words, question.settings); }));
  if (work != nullptr) {
    work->spend(static_cast<double>(sound.samples.size()) / model.rate_hz());
  }
  frames.send(sound);
  return {};
}

}  // namespace

Handler voice_for_others(Service& service) {
  return [&service](Exchange& exchange) {
    const std::vector<std::byte> bytes = bytes_of(exchange);
    place::VoiceQuestion question;
    if (read_question(exchange, bytes, question)) {
      AnswerFrames frames(exchange);
      frames.answer(
          [&](const std::stop_token& /*stop*/) { return describe(service, question, frames); });
    }
  };
}

Handler clause_for_others(Service& service) {
  return [&service](Exchange& exchange) {
    const std::vector<std::byte> bytes = bytes_of(exchange);
    place::ClauseQuestion question;
    if (read_question(exchange, bytes, question)) {
      AnswerFrames frames(exchange);
      frames.answer(
          [&](const std::stop_token& stop) { return speak(service, question, frames, stop); });
    }
  };
}

}  // namespace mynah::server
