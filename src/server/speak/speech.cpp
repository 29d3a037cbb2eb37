#include "server/speak/speech.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "audio/sound_writer.h"
#include "server/http/errors.h"
#include "server/http/events.h"
#include "server/speak/speech_request.h"
#include "store/base64.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

// OpenAI's pcm is of this rate, and its clients know no other.
constexpr int kPcmRate_hz = 24000;

// The answer's body: begun with the first sound, so that what goes wrong before is told as an
// error.
class SoundAnswer final : public ByteSink {
 public:
  SoundAnswer(Exchange& exchange, Metrics& metrics, Response head, bool events)
      : exchange_(exchange), metrics_(metrics), head_(std::move(head)), events_(events) {}

  Status write(std::span<const std::byte> bytes) override {
    // A header without sound would be an answer already.
    if (!begun_ && !has_sound_) {
      held_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return {};
    }
    return send(bytes);
  }

  [[nodiscard]] bool keeps() const override { return false; }

  Status overwrite(uint64_t /*offset*/, std::span<const std::byte> /*bytes*/) override {
    return fail(ErrorCode::Unsupported, "an answer on its way cannot be changed");
  }

  // Sound is about to be written.
  Status begin() {
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

  void fail_with(const Error& error) {
    if (!begun_) {
      exchange_.answer(openai_error(error));
    } else if (events_) {
      static_cast<void>(exchange_.write(event(openai_error_text(error))));  // it may have left
      exchange_.end();
    } else {
      exchange_.break_off();
    }
  }

 private:
  Status send(std::span<const std::byte> bytes) {
    if (!std::exchange(begun_, true)) {
      if (work_ != nullptr) {
        metrics_.count_first_sound(std::chrono::duration<double>(work_->age()).count());
      }
      exchange_.begin(std::move(head_));
    }
    if (!events_) {
      return exchange_.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    return exchange_.write(
        event(Json{{"type", "speech.audio.delta"}, {"audio", base64(bytes)}}.dump()));
  }

  Exchange& exchange_;
  Metrics& metrics_;
  std::shared_ptr<RequestWork> work_ = RequestWork::here();
  Response head_;
  bool events_;
  bool has_sound_ = false;
  bool begun_ = false;
  std::string held_;
};

class SpeechToAnswer final : public SpeechObserver {
 public:
  SpeechToAnswer(SoundAnswer& answer, SoundWriter& writer) : answer_(answer), writer_(writer) {}

  Status on_clause(const SpokenClause& clause) override {
    MYNAH_TRY_STATUS(answer_.begin());
    samples_ += clause.samples.size();
    return writer_.write(clause.samples);
  }

  [[nodiscard]] size_t samples() const { return samples_; }

 private:
  SoundAnswer& answer_;
  SoundWriter& writer_;
  size_t samples_ = 0;
};

Response head_of(const SpeechRequest& request, const Speaking& speaking) {
  Response head;
  const auto format = std::ranges::find(kSoundFormats, request.format, &SoundFormatName::format);
  head.type = format->media_type;
  if (request.events) {
    head = event_stream();
  } else if (request.format == SoundFormat::Pcm) {
    head.type = fmt::format("audio/pcm;rate={};channels=1", kPcmRate_hz);
  }
  head.headers.set("X-Mynah-Model", speaking.name);
  head.headers.set("X-Mynah-Voice", speaking.voice);
  head.headers.set("X-Mynah-Device", "tts=" + speaking.lease->device());
  head.headers.set("X-Accel-Buffering", "no");
  if (!request.ignored.empty()) {
    head.headers.set("X-Mynah-Ignored", fmt::format("{}", fmt::join(request.ignored, ", ")));
  }
  return head;
}

void speak(Service& service, const std::string& media_program, Exchange& exchange) {
  auto request = parse_speech(exchange.body().text);
  if (!request) {
    exchange.answer(openai_error(request.error().error, request.error().field));
    return;
  }
  const auto speaking = service.speaking(request->voice, request->options.language);
  if (!speaking) {
    exchange.answer(openai_error(speaking.error(), "voice"));
    return;
  }
  const Synthesizer& synthesizer = *speaking->lease->synthesizer;
  request->options.voice.voice = speaking->voice;
  request->options.first_phonemes = kEarlyPhonemes;
  SoundAnswer answer(exchange, service.metrics(), head_of(*request, *speaking), request->events);
  SoundWriterOptions sound{.format = request->format,
                           .rate_hz = synthesizer.model().rate_hz(),
                           .media_program = media_program};
  if (request->format == SoundFormat::Pcm) {
    sound.file_rate_hz = kPcmRate_hz;
  }
  const auto writer = make_sound_writer(answer, sound);
  if (!writer) {
    answer.fail_with(writer.error());
    return;
  }
  SpeechToAnswer observer(answer, **writer);
  const auto begun_at = std::chrono::steady_clock::now();
  if (const auto work = RequestWork::here()) {
    work->begin();
  }
  Status spoken = synthesizer.speak(request->input, request->options, observer, exchange.stop());
  exchange.add_spoken(static_cast<double>(observer.samples()) / synthesizer.model().rate_hz());
  if (spoken && observer.samples() == 0) {
    spoken = fail(ErrorCode::InvalidInput, "input: nothing in it can be spoken: wanted words");
  }
  if (spoken) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun_at;
    service.metrics().count_spoken(
        static_cast<double>(observer.samples()) / synthesizer.model().rate_hz(), took.count());
    spoken = (*writer)->finish();
  }
  if (!spoken) {
    answer.fail_with(spoken.error());
    return;
  }
  constexpr int kTokens_per_s = 20;  // of sound, as OpenAI's speech models are charged, roughly
  answer.end(request->input.size(), observer.samples() * kTokens_per_s /
                                        static_cast<size_t>(synthesizer.model().rate_hz()));
}

}  // namespace

Handler speech(Service& service, std::string media_program) {
  return [&service, media_program = std::move(media_program)](Exchange& exchange) {
    speak(service, media_program, exchange);
  };
}

}  // namespace mynah::server
