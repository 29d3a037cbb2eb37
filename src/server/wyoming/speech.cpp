#include "server/wyoming/speech.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <utility>

#include "server/speak/speech_request.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

// What is said of sound.
Json format_of(int rate_hz) {
  return {{"rate", rate_hz}, {"width", 2}, {"channels", 1}, {"timestamp", nullptr}};
}

// "en-US" of Piper's "en_US".
std::string tag_of(std::string language) {
  std::ranges::replace(language, '_', '-');
  return language;
}

}  // namespace

// Sends samples as audio-chunk messages.
class WyomingSpeech::ChunkSink final : public ByteSink {
 public:
  ChunkSink(Outbox& outbox, int rate_hz) : outbox_(outbox), rate_hz_(rate_hz) {}

  Status write(std::span<const std::byte> bytes) override {
    return outbox_.write(encode("audio-chunk", format_of(rate_hz_),
                                {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  }

  [[nodiscard]] bool keeps() const override { return false; }

  Status overwrite(uint64_t /*offset*/, std::span<const std::byte> /*bytes*/) override {
    return fail(ErrorCode::Unsupported, "what was sent cannot be changed");
  }

 private:
  Outbox& outbox_;
  int rate_hz_;
};

Result<std::unique_ptr<WyomingSpeech>> WyomingSpeech::begin(Service& service, KeyRing& keys,
                                                            SocketTurns& turns,
                                                            const WyomingMessage& asked,
                                                            Outbox& outbox) {
  MYNAH_TRY(auto visit, Visit::begin(keys, kWyomingOwner));
  auto turn = turns.begin(RequestWork::Does::Speak);
  const RequestScope scope(turn->work());
  turn->end(fail(ErrorCode::Environment, {}));  // where it comes no further
  const auto found = asked.data.find("voice");
  WyomingMessage voice;
  if (found != asked.data.end() && found->is_object()) {
    voice.data = *found;
  }
  std::string name = voice.text("speaker");
  name = name.empty() ? voice.text("name") : name;
  auto found_voice =
      service.speaking({.model = {}, .voice = name, .language = tag_of(voice.text("language"))});
  if (!found_voice) {
    turn->end(std::unexpected(found_voice.error()));
    return std::unexpected(std::move(found_voice).error());
  }
  Speaking speaking = *std::move(found_voice);
  SpeakOptions options = client_speak_options();
  options.voice.voice = speaking.voice;
  options.language = tag_of(voice.text("language"));
  if (asked.text("text_format") == "ssml") {
    options.kind = TextKind::Ssml;
  }
  std::unique_ptr<WyomingSpeech> speech(
      new WyomingSpeech(std::move(speaking), std::move(visit), std::move(turn), outbox));
  MYNAH_TRY_STATUS(speech->open(options));
  speech->turn_->end(fail(ErrorCode::Cancelled, {}));  // where its client leaves
  return speech;
}

WyomingSpeech::WyomingSpeech(Speaking speaking, std::unique_ptr<Visit> visit,
                             std::unique_ptr<SocketTurn> turn, Outbox& outbox)
    : speaking_(std::move(speaking)),
      visit_(std::move(visit)),
      turn_(std::move(turn)),
      outbox_(outbox),
      rate_hz_(speaking_.lease->synthesizer->model().rate_hz()),
      sink_(std::make_unique<ChunkSink>(outbox, rate_hz_)) {}

Status WyomingSpeech::open(const SpeakOptions& options) {
  MYNAH_TRY(writer_, make_sound_writer(*sink_, {.format = SoundFormat::Pcm, .rate_hz = rate_hz_}));
  MYNAH_TRY(session_, speaking_.lease->synthesizer->session(options, *this, outbox_.stop()));
  return {};
}

Status WyomingSpeech::compute(FunctionRef<Status()> step) {
  turn_->work()->begin();
  const auto begun_at = std::chrono::steady_clock::now();
  Status done = step();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun_at;
  speaking_.metrics->count_spoken(std::exchange(counted_s_, 0), took.count());
  if (!done) {
    turn_->end(done);
  }
  return done;
}

Status WyomingSpeech::push(std::string_view text) {
  return compute([&] { return session_->push(text); });
}

Status WyomingSpeech::finish() {
  MYNAH_TRY_STATUS(compute([&] { return session_->finish(); }));
  MYNAH_TRY_STATUS(writer_->finish());
  // A client waits for a beginning and an end, also of nothing.
  MYNAH_TRY_STATUS(begin_sound());
  turn_->end({});
  return outbox_.write(encode("audio-stop", {{"timestamp", nullptr}}));
}

Status WyomingSpeech::begin_sound() {
  if (std::exchange(begun_, true)) {
    return {};
  }
  return outbox_.write(encode("audio-start", format_of(rate_hz_)));
}

Status WyomingSpeech::on_clause(const SpokenClause& clause) {
  const double clause_s = static_cast<double>(clause.samples.size()) / rate_hz_;
  turn_->work()->spend(clause_s);
  counted_s_ += clause_s;
  const bool first = !begun_;
  MYNAH_TRY_STATUS(begin_sound());
  MYNAH_TRY_STATUS(writer_->write(clause.samples));
  if (first) {
    const std::chrono::duration<double> took = turn_->work()->age();
    speaking_.metrics->count_first_sound(took.count());
  }
  return {};
}

}  // namespace mynah::server
