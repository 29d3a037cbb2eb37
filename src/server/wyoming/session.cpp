#include "server/wyoming/session.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "server/hear/hear_file.h"
#include "server/http/errors.h"
#include "server/wyoming/describe.h"
#include "server/wyoming/message.h"
#include "server/wyoming/speech.h"
#include "server/wyoming/turn_watch.h"
#include "server/wyoming/wake_watch.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

// Of a turn: longer ones are files, which another door takes.
constexpr uint64_t kMostSound_bytes = uint64_t{512} << 20;

// Where so much waits, more is read as it is dealt with.
constexpr size_t kMuch = size_t{1} << 20;

// A message without a byte of sound takes memory, too.
size_t held_by(const WyomingMessage& message) {
  return message.came + sizeof(message);
}

// Segments on their way, each as it is heard.
class ChunkedTranscript final : public RecognizerObserver {
 public:
  // `begun`: whether the client was told that a text begins.
  ChunkedTranscript(Outbox& outbox, bool& begun) : outbox_(outbox), begun_(begun) {}

  void on_segment(size_t /*job*/, const Segment& segment) override {
    const bool follows = begun_;
    // Who left is seen by the recogniser.
    static_cast<void>(begin(outbox_, begun_));
    const std::string text = follows ? segment.text : std::string(trimmed(segment.text, " "));
    static_cast<void>(outbox_.write(encode("transcript-chunk", {{"text", text}})));
  }

  void on_done(size_t /*job*/, const Result<Transcript>& result) override { result_ = result; }

  [[nodiscard]] const Result<Transcript>& result() const { return result_; }

  // Tells it once.
  static Status begin(Outbox& outbox, bool& begun) {
    return std::exchange(begun, true) ? Status()
                                      : outbox.write(encode("transcript-start", Json::object()));
  }

 private:
  Outbox& outbox_;
  bool& begun_;
  Result<Transcript> result_ = fail(ErrorCode::Cancelled, "nothing was heard");
};

class WyomingSession final : public ByteSession,
                             public std::enable_shared_from_this<WyomingSession> {
 public:
  WyomingSession(Service& service, const TurnPlaces& turns, bool endpointing,
                 const RequestHead& client, std::shared_ptr<Outbox> outbox, WorkThreads& threads)
      : service_(service),
        keys_(turns.keys),
        turns_(turns, client),
        endpointing_(endpointing),
        outbox_(std::move(outbox)),
        threads_(threads),
        share_(client.peer) {}

  bool take(std::string_view bytes) override {
    auto messages = reader_.take(bytes);
    if (!messages) {
      outbox_->end(error_of(messages.error()));
      return false;
    }
    const std::lock_guard lock(mutex_);
    for (WyomingMessage& message : *messages) {
      backlog_ += held_by(message);
      waiting_.push_back(std::move(message));
    }
    if (waiting_.empty() || working_) {
      return !outbox_->is_over();
    }
    working_ = threads_.run([self = shared_from_this()] { self->work(); }, share_);
    if (!working_) {
      waiting_.clear();
      outbox_->end(error_of({ErrorCode::Busy, "all threads are busy; ask again"}));
    }
    return working_;
  }

  [[nodiscard]] size_t backlog() const override {
    const std::lock_guard lock(mutex_);
    return backlog_;
  }

  [[nodiscard]] uint64_t message_under_way() const override { return reader_.message_under_way(); }

  // What is under way looks at the outbox's stop.
  void leave() override {
    const std::lock_guard lock(mutex_);
    waiting_.clear();
  }

 private:
  static std::string error_of(const Error& error) {
    return encode("error", {{"text", client_message(error)}, {"code", nullptr}});
  }

  // Deals with what came, in its order, as long as there is something.
  void work() {
    while (true) {
      WyomingMessage message;
      {
        const std::lock_guard lock(mutex_);
        if (waiting_.empty()) {
          working_ = false;
          return;
        }
        message = std::move(waiting_.front());
        waiting_.pop_front();
      }
      const size_t held = held_by(message);
      if (const Status dealt_with = deal_with(message); !dealt_with) {
        // Home Assistant passes over an error and waits on: the end of the connection is what it
        // takes for one.
        outbox_->end(error_of(dealt_with.error()));
        return;
      }
      shrink_backlog(held);
    }
  }

  void shrink_backlog(size_t bytes) {
    bool much = false;
    {
      const std::lock_guard lock(mutex_);
      much = backlog_ >= kMuch;
      backlog_ -= bytes;
    }
    if (much) {
      static_cast<void>(outbox_->write({}));  // so that more is read
    }
  }

  Status send(const std::string& type, Json data) {
    return outbox_->write(encode(type, std::move(data)));
  }

  Status deal_with(const WyomingMessage& message) {
    const std::string& type = message.type;
    if (type == "describe") {
      return outbox_->write(encode(describe_wyoming(service_, endpointing_)));
    }
    if (type == "ping") {
      return send("pong", message.data.contains("text") ? Json{{"text", message.text("text")}}
                                                        : Json::object());
    }
    if (type == "transcribe") {
      asked_ = message;
      return {};
    }
    if (type == "detect") {
      MYNAH_TRY(wake_, WakeWatch::begin(message, service_));
      return {};
    }
    if (wake_ != nullptr && type.starts_with("audio-")) {
      return listen(message);
    }
    if (type == "audio-start") {
      return begin_sound(message);
    }
    if (type == "audio-chunk") {
      return add_sound(message);
    }
    if (type == "audio-stop") {
      return hear();
    }
    if (type == "synthesize") {
      return speak(message);
    }
    if (type == "synthesize-start") {
      MYNAH_TRY(speech_, WyomingSpeech::begin(service_, keys_, turns_, message, *outbox_));
      return {};
    }
    if (type == "synthesize-chunk") {
      return speech_ == nullptr ? Status() : speech_->push(message.text("text"));
    }
    if (type == "synthesize-stop") {
      return end_speech();
    }
    return {};  // others are for other servers
  }

  // Behind "detect" sound is listened to for words, and nothing of it is kept.
  Status listen(const WyomingMessage& message) {
    if (message.type == "audio-stop") {
      const std::string answer = wake_->stop();
      wake_.reset();
      return answer.empty() ? Status() : outbox_->write(answer);
    }
    if (message.type == "audio-start" || !wake_->is_listening()) {
      MYNAH_TRY(const SampleFormat format, sample_format_of(message));
      MYNAH_TRY_STATUS(wake_->start(format));
    }
    MYNAH_TRY(const std::vector<std::string> events, wake_->push(message));
    for (const std::string& event : events) {
      MYNAH_TRY_STATUS(outbox_->write(event));
    }
    return {};
  }

  // Libraries send the whole text again within a stream, for servers that know no streams.
  Status speak(const WyomingMessage& message) {
    if (speech_ != nullptr) {
      return {};
    }
    MYNAH_TRY(const auto speech, WyomingSpeech::begin(service_, keys_, turns_, message, *outbox_));
    MYNAH_TRY_STATUS(speech->push(message.text("text")));
    return speech->finish();
  }

  Status end_speech() {
    if (const auto speech = std::exchange(speech_, nullptr)) {
      MYNAH_TRY_STATUS(speech->finish());
    }
    return send("synthesize-stopped", Json::object());
  }

  Status begin_sound(const WyomingMessage& start) {
    MYNAH_TRY(sound_, Upload::create("/var/tmp"));
    MYNAH_TRY(const SampleFormat format, sample_format_of(start));
    constexpr std::array<const char*, 5> kEncodings = {nullptr, "u8", "s16le", "s24le", "s32le"};
    raw_ = {.rate_hz = format.rate_hz,
            .channels = format.channels,
            .encoding = kEncodings[static_cast<size_t>(format.width)]};
    heard_ = false;
    text_begun_ = false;
    voice_began_ = false;
    return endpointing_ ? watch(format) : Status();
  }

  // Listens for the end of the turn that comes. The model is opened meanwhile.
  Status watch(const SampleFormat& format) {
    MYNAH_TRY(const Hearing hearing, service_.hearing(asked_.text("name")));
    auto voice = hearing.lease->voice;
    TurnWatchOptions options = watching_by(asked_.text("vad_sensitivity"));
    options.scorer = service_.turns().scorer();
    MYNAH_TRY(watch_, TurnWatch::create(voice != nullptr ? voice : builtin_voice_detector(), format,
                                        options));
    return {};
  }

  // Home Assistant's own pauses for the same names, and how eager those are.
  static TurnWatchOptions watching_by(const std::string& sensitivity) {
    if (sensitivity == "relaxed") {
      return {.pause_s = 1.25, .eagerness = Eagerness::Low};
    }
    if (sensitivity == "aggressive") {
      return {.pause_s = 0.25, .eagerness = Eagerness::High};
    }
    return {};
  }

  Status add_sound(const WyomingMessage& chunk) {
    if (heard_) {
      return {};  // behind the turn
    }
    if (!sound_) {
      MYNAH_TRY_STATUS(begin_sound(chunk));
    }
    if (sound_->size_bytes() + chunk.payload.size() > kMostSound_bytes) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("a turn has at most {} MB of sound", kMostSound_bytes >> 20U));
    }
    MYNAH_TRY_STATUS(sound_->append(chunk.payload));
    if (watch_ == nullptr) {
      return {};
    }
    MYNAH_TRY(const auto events, watch_->push(chunk.payload, outbox_->stop()));
    if (!events.empty() && !voice_began_) {
      voice_began_ = true;
      MYNAH_TRY_STATUS(send_voice("voice-started", events.front().at));
    }
    if (watch_->is_too_long()) {
      return hear();
    }
    return watch_->is_over() ? hear_turn() : Status();
  }

  Status send_voice(const std::string& type, int64_t sample) {
    return send(type, {{"timestamp", sample * 1000 / kHearingRate_hz}});
  }

  // Hears all that came, whatever there is in it.
  Status hear() {
    if (!sound_) {
      return {};
    }
    MYNAH_TRY(const Transcript heard, heard_so_far());
    return answer(heard);
  }

  // The same where a turn ended: one without words was none, and what comes is listened to.
  Status hear_turn() {
    MYNAH_TRY(const Transcript heard, heard_so_far());
    if (heard.segments.empty()) {
      watch_->go_on();
      return {};
    }
    return answer(heard);
  }

  Status answer(const Transcript& heard) {
    if (watch_ != nullptr && std::exchange(voice_began_, false)) {
      MYNAH_TRY_STATUS(send_voice("voice-stopped", watch_->silent_since()));
    }
    sound_.reset();
    watch_.reset();
    heard_ = endpointing_;
    asked_ = WyomingMessage();
    MYNAH_TRY_STATUS(ChunkedTranscript::begin(*outbox_, text_begun_));
    Json transcript = {{"text", text_of_whole(heard)}};
    if (!heard.language.empty()) {
      transcript["language"] = heard.language;
    }
    MYNAH_TRY_STATUS(send("transcript", std::move(transcript)));
    return send("transcript-stop", Json::object());
  }

  // The text, which is sent piece by piece, too.
  Result<Transcript> heard_so_far() {
    const auto turn = turns_.begin(RequestWork::Does::Hear);
    const RequestScope scope(turn->work());
    auto heard = hear_sound();
    turn->end(heard ? Status() : std::unexpected(heard.error()));
    return heard;
  }

  Result<Transcript> hear_sound() {
    MYNAH_TRY(const Hearing hearing, service_.hearing(asked_.text("name")));
    const Recognizer& recognizer = *hearing.lease->recognizer;
    RecognizerOptions options;
    std::string language = asked_.text("language");
    language = language.substr(0, language.find_first_of("-_"));  // "en" of "en-GB"
    options.decoding.language = language.empty() ? "auto" : language;
    MYNAH_TRY_STATUS(recognizer.check(options));
    for (const char* words : {"transcript_names", "transcript_terms"}) {
      for (const Json& word : asked_.data.value(words, Json::array())) {
        if (word.is_string()) {
          options.cutting.hotwords.push_back(word.get<std::string>());
        }
      }
    }
    if (sound_->size_bytes() == 0) {
      return Transcript();
    }
    MYNAH_TRY(const auto visit, Visit::begin(keys_, kWyomingOwner));
    ChunkedTranscript observer(*outbox_, text_begun_);
    FormFile file{.field = {}, .name = "the turn", .type = {}, .bytes = *std::move(sound_)};
    AudioOpenOptions audio;
    audio.raw = raw_;
    hear_file(file, audio, options, hearing, observer, outbox_->stop());
    sound_ = std::move(file.bytes);
    return observer.result();
  }

  Service& service_;
  KeyRing& keys_;
  SocketTurns turns_;
  const bool endpointing_;
  std::shared_ptr<Outbox> outbox_;
  WorkThreads& threads_;
  const std::string share_;
  WyomingReader reader_;  // the network's thread's

  mutable std::mutex mutex_;
  std::deque<WyomingMessage> waiting_;
  size_t backlog_ = 0;
  bool working_ = false;

  // Of the thread that works.
  WyomingMessage asked_;
  std::optional<Upload> sound_;
  std::unique_ptr<TurnWatch> watch_;  // where the turn's end is found here
  bool heard_ = false;                // it was, and more may come
  bool voice_began_ = false;          // the client was told so
  bool text_begun_ = false;           // its text is on the way
  AudioOpenOptions::Raw raw_;
  std::unique_ptr<WyomingSpeech> speech_;
  std::unique_ptr<WakeWatch> wake_;  // from "detect" to the sound's end
};

}  // namespace

ByteSessionMaker wyoming_sessions(Service& service, const TurnPlaces& turns, bool endpointing) {
  const auto count = std::make_shared<std::atomic<uint64_t>>(0);
  return [&service, &turns, endpointing, count](
             const std::string& peer, const std::shared_ptr<Outbox>& outbox, WorkThreads& threads) {
    RequestHead client;
    client.path = "wyoming";
    client.route = "wyoming";
    client.peer = peer;
    client.owner = turns.keys.empty() ? "" : kWyomingOwner;
    client.work = std::make_shared<RequestWork>(fmt::format("wyoming_{:06x}", ++*count));
    return std::make_shared<WyomingSession>(service, turns, endpointing, client, outbox, threads);
  };
}

}  // namespace mynah::server
