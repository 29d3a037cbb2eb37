#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "audio/byte_sink.h"
#include "audio/plain_writer.h"
#include "audio/sound_writer.h"
#include "speech/hearing.h"
#include "speech/hotwords.h"
#include "talk/organs/remote_organs.h"

namespace mynah::talk {

namespace {

// A transcript of half a minute, with all that verbose_json has.
constexpr size_t kMostTranscript = size_t{4} << 20;
constexpr std::chrono::milliseconds kEarPatience{60'000};

// Whisper reads the last 224 tokens of a prompt, and a name has one for three letters.
constexpr size_t kMostPrompt = 600;

class BytesSink final : public ByteSink {
 public:
  explicit BytesSink(std::string& bytes) : bytes_(bytes), begin_(bytes.size()) {}

  Status write(std::span<const std::byte> bytes) override {
    bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  }

  [[nodiscard]] bool keeps() const override { return true; }

  Status overwrite(uint64_t offset, std::span<const std::byte> bytes) override {
    bytes_.replace(begin_ + offset, bytes.size(), reinterpret_cast<const char*>(bytes.data()),
                   bytes.size());
    return {};
  }

 private:
  std::string& bytes_;
  size_t begin_;
};

// A form of RFC 7578.
class FormBody {
 public:
  FormBody() : boundary_(fmt::format("mynah-{:016x}", draw())) {}

  void add(std::string_view name, std::string_view value) {
    body_ += fmt::format("--{}\r\nContent-Disposition: form-data; name=\"{}\"\r\n\r\n{}\r\n",
                         boundary_, name, value);
  }

  Status add_wav(std::string_view name, std::span<const float> samples) {
    body_ += fmt::format(
        "--{}\r\nContent-Disposition: form-data; name=\"{}\"; filename=\"turn.wav\"\r\n"
        "Content-Type: audio/wav\r\n\r\n",
        boundary_, name);
    BytesSink sink(body_);
    const auto writer = make_wav_writer(sink, static_cast<int>(kHearingRate_hz));
    MYNAH_TRY_STATUS(writer->write(samples));
    MYNAH_TRY_STATUS(writer->finish());
    body_ += "\r\n";
    return {};
  }

  std::string take() {
    body_ += fmt::format("--{}--\r\n", boundary_);
    return std::move(body_);
  }

  [[nodiscard]] std::string type() const { return "multipart/form-data; boundary=" + boundary_; }

 private:
  // Sound does not contain what nobody could foresee.
  static uint64_t draw() {
    std::random_device device;
    return (static_cast<uint64_t>(device()) << 32U) | device();
  }

  std::string boundary_;
  std::string body_;
};

class RemoteEar final : public Ear {
 public:
  RemoteEar(std::unique_ptr<ServiceClient> client, std::vector<std::string> hotwords)
      : client_(std::move(client)), hotwords_(std::move(hotwords)) {}

  // Which model, and what of a request it does not take.
  Status meet(const std::stop_token& stop) {
    MYNAH_TRY_STATUS(client_->choose_of(ServedKind::Hears, "whisper-1", stop));
    constexpr double kTrial_s = 0.5;
    const std::vector<float> silence(static_cast<size_t>(kTrial_s * kHearingRate_hz));
    MYNAH_TRY_STATUS(hear(silence, {.language = {}, .surely_speech = false}, stop));
    return {};
  }

  Result<HeardText> hear(std::span<const float> samples, const HearWish& wish,
                         const std::stop_token& stop) override {
    // What servers may refuse, and a turn is heard without.
    constexpr auto kOptional =
        std::to_array<std::string_view>({"response_format", "prompt", "language", "hotwords"});
    while (true) {
      FormBody form;
      MYNAH_TRY_STATUS(form.add_wav("file", samples));
      add_fields(wish, form);
      const std::string type = form.type();
      const std::string body = form.take();
      const ServiceClient::Question question{.route = "/audio/transcriptions",
                                             .type = type,
                                             .body = std::as_bytes(std::span(body)),
                                             .accept = "application/json"};
      MYNAH_TRY(const auto whole, client_->ask_whole(question, kMostTranscript, stop));
      if (whole.answer.head.status == kServed) {
        client_->note_model(whole.answer.head);
        auto heard = read_transcript(whole.body, wish);
        return heard ? std::move(heard)
                     : client_->fault(question, heard.error().code, heard.error().message);
      }
      if (!client_->learn(whole.answer, kOptional)) {
        return client_->refusal(question, whole.answer);
      }
    }
  }

  [[nodiscard]] OrganFacts facts() const override { return client_->facts(); }

 private:
  void add_fields(const HearWish& wish, FormBody& form) const {
    form.add("model", client_->model());
    // With it the language and how sure the server is; some models are known for the text alone.
    form.add("response_format", client_->is_refused("response_format") ? "json" : "verbose_json");
    // whisper.cpp's server takes no language for English.
    const bool is_whisper_cpp = client_->address().endpoint.ends_with("/inference");
    const std::string language = wish.language.empty() && is_whisper_cpp ? "auto" : wish.language;
    if (!language.empty() && !client_->is_refused("language")) {
      form.add("language", language);
    }
    std::string prompt;
    for (const std::string& text : wish.prompts) {
      prompt += (prompt.empty() ? "" : " ") + text;
    }
    if (client_->is_mynah() && !hotwords_.empty() && !client_->is_refused("hotwords")) {
      form.add("hotwords", with_commas(hotwords_.size()));
    } else if (!hotwords_.empty()) {
      prompt += (prompt.empty() ? "" : " ") + with_commas(words_in_prompt(hotwords_));
    }
    if (!prompt.empty() && !client_->is_refused("prompt")) {
      form.add("prompt", prompt);
    }
  }

  // A comma behind each, the last too: else one phrase alone would be words.
  [[nodiscard]] std::string with_commas(size_t count) const {
    std::string text;
    for (const std::string& word : std::span(hotwords_).first(count)) {
      text += (text.empty() ? "" : " ") + word + ",";
    }
    return text;
  }

  std::unique_ptr<ServiceClient> client_;
  std::vector<std::string> hotwords_;
};

}  // namespace

size_t words_in_prompt(std::span<const std::string> hotwords) {
  size_t bytes = 0;
  const auto beyond = std::ranges::find_if(hotwords, [&bytes](const std::string& word) {
    bytes += word.size() + 2;
    return bytes > kMostPrompt;
  });
  return static_cast<size_t>(beyond - hotwords.begin());
}

Result<std::unique_ptr<Ear>> remote_ear(Service service, std::vector<std::string> hotwords,
                                        const std::stop_token& stop) {
  MYNAH_TRY_STATUS(check_hotwords(hotwords));
  MYNAH_TRY(auto client, ServiceClient::create(std::move(service), kEarPatience));
  auto ear = std::make_unique<RemoteEar>(std::move(client), std::move(hotwords));
  MYNAH_TRY_STATUS(ear->meet(stop));
  return ear;
}

}  // namespace mynah::talk
