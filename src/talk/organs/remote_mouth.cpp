#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "talk/organs/json_number.h"
#include "talk/organs/played_text.h"
#include "talk/organs/remote_organs.h"
#include "talk/organs/speech_bytes.h"

namespace mynah::talk {

namespace {

using Json = nlohmann::ordered_json;

// OpenAI's pcm is of this rate; what is of another is resampled.
constexpr int kMouthRate_hz = 24'000;
constexpr std::chrono::milliseconds kMouthPatience{60'000};
// Of speech that has not been measured yet: English at 150 words a minute.
constexpr double kUsualBytes_per_s = 15;
// Speech of a text that is longer than this, at speed 1, has no end: a second and more a byte,
// where numbers are read digit by digit.
constexpr double kMostSeconds_per_byte = 1.5;
constexpr double kMostSilence_s = 10;
// A voice that every server of OpenAI's API is to have, where one must be named.
constexpr std::string_view kUsualVoice = "alloy";

// "audio/pcm;rate=22050": the rate of samples without a header; OpenAI's where it is not told.
int rate_of_type(std::string_view type) {
  constexpr std::string_view kRate = "rate=";
  const size_t at = type.find(kRate);
  int rate_hz = 0;
  if (at != std::string_view::npos) {
    const std::string_view digits = type.substr(at + kRate.size());
    std::from_chars(digits.data(), digits.data() + digits.size(), rate_hz);
  }
  constexpr int kLeast_hz = 4000;
  constexpr int kMost_hz = 192'000;
  return rate_hz >= kLeast_hz && rate_hz <= kMost_hz ? rate_hz : kMouthRate_hz;
}

class NobodyListens final : public SpeechObserver {
 public:
  Status on_clause(const SpokenClause& /*clause*/) override { return {}; }
};

class RemoteMouth final : public Mouth {
 public:
  RemoteMouth(std::unique_ptr<ServiceClient> client, ServedVoice voice)
      : client_(std::move(client)), voice_(std::move(voice)) {}

  Status meet(const std::stop_token& stop) {
    MYNAH_TRY_STATUS(client_->choose_of(ServedKind::Speaks, "tts-1", stop));
    NobodyListens nobody;
    return speak("Hello.", {}, nobody, stop);
  }

  [[nodiscard]] int rate_hz() const override { return kMouthRate_hz; }

  Status speak(std::string_view text, const SpeakWish& wish, SpeechObserver& observer,
               const std::stop_token& stop) override {
    while (true) {
      const LanguageWay way = way_of(wish.language);
      const std::string body = body_of(text, wish.language, way);
      const ServiceClient::Question question{.route = "/audio/speech",
                                             .type = "application/json",
                                             .body = std::as_bytes(std::span(body)),
                                             .accept = "audio/*"};
      PlayedText played(text, bytes_per_s(), kMouthRate_hz, observer);
      MYNAH_TRY(const HttpAnswer answer, take_sound(question, text, played, stop));
      if (answer.head.status == kServed) {
        client_->note_model(answer.head);
        learn_pace(text, played.seconds());
        return {};
      }
      if (!adapt(answer, wish.language, way)) {
        return client_->refusal(question, answer);
      }
    }
  }

  [[nodiscard]] OrganFacts facts() const override { return client_->facts(); }

 private:
  // How a text in a language is asked for: with its voice and language, where the server knows
  // languages; else in a voice of that language; else in the voice, whatever it makes of it.
  enum class LanguageWay : uint8_t { VoiceAndLanguage, Language, Voice };

  // Hands on what comes, and all of it in the end.
  Result<HttpAnswer> take_sound(const ServiceClient::Question& question, std::string_view text,
                                PlayedText& played, const std::stop_token& stop) {
    std::optional<SpeechBytes> bytes;
    const double most_s = kMostSilence_s + kMostSeconds_per_byte *
                                               static_cast<double>(text.size()) /
                                               std::min(1.0F, voice_.speed);
    const auto named = [&](Status status) -> Status {
      return status ? status
                    : client_->fault(question, status.error().code, status.error().message);
    };
    MYNAH_TRY(HttpAnswer answer,
              client_->ask(
                  question,
                  [&](const HttpResponse& head) -> Status {
                    const std::string type = ascii_lower(head.header("content-type"));
                    if (type.starts_with("text/") || type.starts_with("application/json")) {
                      return named(fail(ErrorCode::InvalidInput,
                                        fmt::format("wanted sound, found '{}': is this the address "
                                                    "of OpenAI's API?",
                                                    type.substr(0, type.find(';')))));
                    }
                    bytes.emplace(rate_of_type(type), kMouthRate_hz);
                    return {};
                  },
                  [&](std::span<const std::byte> piece) -> Status {
                    std::vector<float> samples;
                    MYNAH_TRY_STATUS(named(bytes->push(piece, samples)));
                    MYNAH_TRY_STATUS(played.push(samples));
                    return played.seconds() <= most_s
                               ? Status()
                               : named(fail(ErrorCode::InvalidInput,
                                            fmt::format("wanted {:.0f} s of sound at most of {} "
                                                        "letters, found more",
                                                        most_s, text.size())));
                  },
                  stop));
    if (bytes) {
      std::vector<float> samples;
      MYNAH_TRY_STATUS(named(bytes->finish(samples)));
      MYNAH_TRY_STATUS(played.push(samples));
      MYNAH_TRY_STATUS(played.finish());
    }
    return answer;
  }

  [[nodiscard]] std::string body_of(std::string_view text, const std::string& language,
                                    LanguageWay way) const {
    Json fields = {{"model", client_->model()},
                   {"input", text},
                   {"response_format", client_->is_refused("response_format") ? "wav" : "pcm"}};
    const std::string voice = voice_.name.empty() && client_->is_refused(kVoiceField)
                                  ? std::string(kUsualVoice)
                                  : voice_.name;
    if (!voice.empty() && way != LanguageWay::Language) {
      fields["voice"] = voice;
    }
    if (!language.empty() && way != LanguageWay::Voice) {
      fields["lang_code"] = language;
    }
    if (voice_.speed != 1 && !client_->is_refused("speed")) {
      fields["speed"] = as_written(voice_.speed);
    }
    // speaches gives each voice's own rate where none is asked for, and does not say which.
    if (!client_->is_refused("sample_rate")) {
      fields["sample_rate"] = kMouthRate_hz;
    }
    return fields.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  // Whether it may be asked anew, otherwise.
  bool adapt(const HttpAnswer& answer, const std::string& language, LanguageWay way) {
    constexpr auto kOptional =
        std::to_array<std::string_view>({"sample_rate", "response_format", "speed"});
    if (client_->learn(answer, kOptional)) {
      return true;
    }
    if (answer.head.status / 100 == 4 && !language.empty() && way != LanguageWay::Voice) {
      const std::lock_guard lock(mutex_);
      ways_[language] = way == LanguageWay::VoiceAndLanguage && !voice_.name.empty()
                            ? LanguageWay::Language
                            : LanguageWay::Voice;
      return true;
    }
    constexpr std::array kVoice = {kVoiceField};
    return voice_.name.empty() && client_->learn(answer, kVoice);
  }

  [[nodiscard]] LanguageWay way_of(const std::string& language) const {
    if (language.empty() || !client_->is_mynah()) {
      return LanguageWay::Voice;  // Kokoro-FastAPI's lang_code are letters
    }
    const std::lock_guard lock(mutex_);
    const auto found = ways_.find(language);
    return found == ways_.end() ? LanguageWay::VoiceAndLanguage : found->second;
  }

  [[nodiscard]] double bytes_per_s() const {
    const std::lock_guard lock(mutex_);
    return bytes_per_s_.value_or(kUsualBytes_per_s * voice_.speed);
  }

  // Half of it is what was last: a voice keeps its pace, and texts differ. Of a word or two most is
  // the silence around.
  void learn_pace(std::string_view text, double seconds) {
    constexpr size_t kLeast = 20;
    if (seconds <= 0 || text.size() < kLeast) {
      return;
    }
    const double measured = static_cast<double>(text.size()) / seconds;
    const std::lock_guard lock(mutex_);
    bytes_per_s_ = bytes_per_s_ ? (*bytes_per_s_ + measured) / 2 : measured;
  }

  // Is refused by who wants it where none is named.
  static constexpr std::string_view kVoiceField = "voice";

  std::unique_ptr<ServiceClient> client_;
  const ServedVoice voice_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, LanguageWay, std::less<>> ways_;
  std::optional<double> bytes_per_s_;
};

}  // namespace

Result<std::unique_ptr<Mouth>> remote_mouth(Service service, ServedVoice voice,
                                            const std::stop_token& stop) {
  MYNAH_TRY(auto client, ServiceClient::create(std::move(service), kMouthPatience));
  auto mouth = std::make_unique<RemoteMouth>(std::move(client), std::move(voice));
  MYNAH_TRY_STATUS(mouth->meet(stop));
  return mouth;
}

}  // namespace mynah::talk
