#include "server/realtime/reply.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "audio/resampler.h"
#include "server/speak/speech_request.h"
#include "speech/synthesizer.h"
#include "store/base64.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

// Bytes of sound in an event: a client that interrupts has little left to play.
constexpr size_t kSoundPiece = 24'000;

class ReplySpeech final : public SpeechObserver {
 public:
  // `work`: which it is a part of.
  ReplySpeech(Teller& teller, const Reply& reply, const Speaking& speaking, const RequestWork& work)
      : teller_(teller),
        reply_(reply),
        metrics_(*speaking.metrics),
        work_(work),
        rate_hz_(speaking.lease->synthesizer->model().rate_hz()) {}

  Status open() {
    if (rate_hz_ != reply_.wish.format.rate_hz) {
      MYNAH_TRY(resampler_, Resampler::create(rate_hz_, reply_.wish.format.rate_hz));
    }
    return {};
  }

  Status on_clause(const SpokenClause& clause) override {
    const double clause_s = static_cast<double>(clause.samples.size()) / rate_hz_;
    work_.spend(clause_s);
    if (std::exchange(seconds_, seconds_ + clause_s) == 0) {
      metrics_.count_first_sound(std::chrono::duration<double>(work_.age()).count());
    }
    const size_t end = std::min(clause.end, reply_.text.size());
    tell_text(end);
    if (!resampler_) {
      return send(clause.samples);
    }
    std::vector<float> samples;
    MYNAH_TRY_STATUS(resampler_->push(clause.samples, samples));
    return send(samples);
  }

  Status finish() {
    tell_text(reply_.text.size());
    std::vector<float> samples;
    if (resampler_) {
      MYNAH_TRY_STATUS(resampler_->finish(samples));
    }
    return send(samples);
  }

  [[nodiscard]] std::string transcript() const { return reply_.text.substr(0, told_); }

  // Of its sound, sent or not.
  [[nodiscard]] double seconds() const { return seconds_; }

  [[nodiscard]] int64_t ms() const { return samples_ * 1000 / reply_.wish.format.rate_hz; }

 private:
  // What is said up to that byte of the text.
  void tell_text(size_t end) {
    if (end > told_) {
      Json fields = place();
      fields["delta"] = reply_.text.substr(told_, end - told_);
      told_ = end;
      teller_.tell("response.output_audio_transcript.delta", std::move(fields));
    }
  }

  Status send(std::span<const float> samples) {
    samples_ += static_cast<int64_t>(samples.size());
    std::string bytes;
    encode_samples(samples, reply_.wish.format.encoding, bytes);
    for (std::string_view left = bytes; !left.empty();) {
      const std::string_view piece = left.substr(0, kSoundPiece);
      left.remove_prefix(piece.size());
      Json fields = place();
      fields["delta"] = base64(std::as_bytes(std::span(piece)));
      teller_.tell("response.output_audio.delta", std::move(fields));
    }
    return {};
  }

  [[nodiscard]] Json place() const {
    return {{"response_id", reply_.response_id},
            {"item_id", reply_.item_id},
            {"output_index", 0},
            {"content_index", 0}};
  }

  Teller& teller_;
  const Reply& reply_;
  Metrics& metrics_;
  const RequestWork& work_;
  const int rate_hz_;
  std::optional<Resampler> resampler_;  // where the client's rate is another
  size_t told_ = 0;                     // bytes of the text
  int64_t samples_ = 0;
  double seconds_ = 0;
};

Status speak(const ReplyWays& ways, RequestWork& work, Spoken& spoken,
             const std::stop_token& stop) {
  const Reply& reply = spoken.reply;
  MYNAH_TRY(const Speaking speaking,
            ways.service.speaking({.model = {}, .voice = reply.wish.voice, .language = {}}));
  const Synthesizer& synthesizer = *speaking.lease->synthesizer;
  SpeakOptions options = client_speak_options();
  options.voice.voice = speaking.voice;
  options.voice.speed = static_cast<float>(reply.wish.speed);
  ReplySpeech speech(ways.teller, reply, speaking, work);
  MYNAH_TRY_STATUS(speech.open());
  work.begin();
  const auto begun_at = std::chrono::steady_clock::now();
  Status done = synthesizer.speak(reply.text, options, speech, stop);
  if (done) {
    done = speech.finish();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun_at;
  speaking.metrics->count_spoken(speech.seconds(), took.count());
  spoken.transcript = speech.transcript();
  spoken.ms = speech.ms();
  return done;
}

}  // namespace

Spoken speak_reply(const ReplyWays& ways, Reply reply, const std::stop_token& stop) {
  Spoken spoken;
  spoken.reply = std::move(reply);
  if (spoken.reply.wish.sound) {
    const auto turn = ways.turns.begin(RequestWork::Does::Speak);
    const RequestScope scope(turn->work());
    spoken.status = speak(ways, *turn->work(), spoken, stop);
    turn->end(spoken.status);
    return spoken;
  }
  ways.teller.tell("response.output_text.delta", {{"response_id", spoken.reply.response_id},
                                                  {"item_id", spoken.reply.item_id},
                                                  {"output_index", 0},
                                                  {"content_index", 0},
                                                  {"delta", spoken.reply.text}});
  spoken.transcript = spoken.reply.text;
  return spoken;
}

}  // namespace mynah::server
