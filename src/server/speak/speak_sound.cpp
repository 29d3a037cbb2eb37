#include "server/speak/speak_sound.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audio/sound_writer.h"
#include "server/http/errors.h"
#include "server/http/passed_over.h"
#include "speech/languages.h"
#include "text/scripts.h"
#include "text/spoken/inline_marks.h"
#include "text/utf8.h"

namespace mynah::server {
namespace {

// OpenAI's pcm is of this rate, and its clients know no other.
constexpr int kPcmRate_hz = 24000;

// Of sound that is kept in memory: an hour and a half.
constexpr size_t kMostWhole_bytes = size_t{256} << 20;

class SpeechToSound final : public SpeechObserver {
 public:
  SpeechToSound(SoundTaker& taker, SoundWriter& writer, const Speaking& speaking)
      : taker_(taker),
        writer_(writer),
        metrics_(*speaking.metrics),
        rate_hz_(speaking.lease->synthesizer->model().rate_hz()) {}

  Status on_clause(const SpokenClause& clause) override {
    if (samples_ == 0) {
      taker_.on_first_sound(age());
    }
    MYNAH_TRY_STATUS(taker_.on_clause(clause));
    samples_ += clause.samples.size();
    if (work_ != nullptr) {
      work_->spend(static_cast<double>(clause.samples.size()) / rate_hz_);
    }
    // Piece by piece: whoever takes it slowly has no clause of a minute, or its silence, kept
    // twice.
    constexpr size_t kPiece = 8192;
    for (std::span left(clause.samples); !left.empty();) {
      const auto piece = left.first(std::min(kPiece, left.size()));
      MYNAH_TRY_STATUS(writer_.write(piece));
      left = left.subspan(piece.size());
    }
    if (work_ != nullptr && samples_ == clause.samples.size()) {
      metrics_.count_first_sound(std::chrono::duration<double>(work_->age()).count());
    }
    return taker_.on_clause_written();
  }

  [[nodiscard]] size_t samples() const { return samples_; }

  [[nodiscard]] std::chrono::duration<double> age() const {
    return std::chrono::steady_clock::now() - begun_at_;
  }

 private:
  SoundTaker& taker_;
  SoundWriter& writer_;
  Metrics& metrics_;
  const int rate_hz_;
  const std::shared_ptr<RequestWork> work_ = RequestWork::here();
  const std::chrono::steady_clock::time_point begun_at_ = std::chrono::steady_clock::now();
  size_t samples_ = 0;
};

// Why nothing of a text is spoken.
std::string why_silent(std::string_view text, const Speaking& speaking) {
  const auto voice = speaking.lease->synthesizer->model().find_voice(speaking.voice);
  const std::string language = voice ? voice->language : std::string();
  const Script* script = nullptr;
  for (const char32_t character : to_code_points(text)) {
    script = script == nullptr ? foreign_script(character) : script;
  }
  if (script == nullptr || script->language == primary_language(language)) {
    return "wanted words";
  }
  return fmt::format(
      "the voice {} speaks {} and does not read {}; GET /v1/audio/voices says what others speak",
      speaking.voice, language.empty() ? "another language" : language, script->name);
}

// Marks of voices that the model has not: the text's own voice goes on.
std::vector<std::string> unknown_voices(const SpeechRequest& request, const VoiceModel& model) {
  std::vector<std::string> marks;
  const bool has_marks =
      request.options.kind == TextKind::Plain || request.options.kind == TextKind::Markdown;
  if (!has_marks || !request.input.contains("[voice:")) {
    return marks;
  }
  constexpr size_t kMostNamed = 20;
  for (const SpeakPart& part : InlineMarks().read(request.input).parts) {
    const bool known =
        part.voice.empty() || (!is_voice_file(part.voice) && model.find_voice(part.voice));
    std::string mark = header_item(fmt::format("[voice:{}]", part.voice));
    if (!known && marks.size() < kMostNamed && std::ranges::find(marks, mark) == marks.end()) {
      marks.push_back(std::move(mark));
    }
  }
  return marks;
}

}  // namespace

Status WholeSound::write(std::span<const std::byte> bytes) {
  if (bytes_.size() + bytes.size() > kMostWhole_bytes) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("input: its sound is longer than {} MB, which is answered piece by "
                            "piece only: ask without stream=false",
                            kMostWhole_bytes >> 20U));
  }
  bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return {};
}

Status WholeSound::on_clause(const SpokenClause& clause) {
  words_.insert(words_.end(), clause.words.begin(), clause.words.end());
  return {};
}

Status WholeSound::overwrite(uint64_t offset, std::span<const std::byte> bytes) {
  std::ranges::copy(std::span(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
                    bytes_.begin() + static_cast<ptrdiff_t>(offset));
  return {};
}

Result<double> speak_sound(const SpeechRequest& request, const Speaking& speaking,
                           const std::string& media_program, SoundTaker& taker,
                           Exchange& exchange) {
  const Synthesizer& synthesizer = *speaking.lease->synthesizer;
  SpeakOptions options = request.options;
  options.voice.voice = speaking.voice;
  SoundWriterOptions sound{.format = request.format,
                           .rate_hz = synthesizer.model().rate_hz(),
                           .file_rate_hz = request.rate_hz,
                           .media_program = media_program};
  if (request.format == SoundFormat::Pcm && !request.rate_hz) {
    sound.file_rate_hz = kPcmRate_hz;
  }
  MYNAH_TRY(const auto writer, make_sound_writer(taker, sound));
  if (const auto work = RequestWork::here()) {
    work->begin();
  }
  SpeechToSound observer(taker, *writer, speaking);
  const Status spoken = synthesizer.speak(request.input, options, observer, exchange.stop());
  const double seconds = static_cast<double>(observer.samples()) / sound.rate_hz;
  speaking.metrics->count_spoken(seconds, observer.age().count());
  MYNAH_TRY_STATUS(spoken);
  if (observer.samples() == 0) {
    return fail(ErrorCode::InvalidInput,
                "input: nothing in it can be spoken: " + why_silent(request.input, speaking));
  }
  MYNAH_TRY_STATUS(writer->finish());
  return seconds;
}

std::string sound_type(const SpeechRequest& request) {
  if (request.format == SoundFormat::Pcm) {
    return fmt::format("audio/pcm;rate={};channels=1", request.rate_hz.value_or(kPcmRate_hz));
  }
  return std::string(
      std::ranges::find(kSoundFormats, request.format, &SoundFormatName::format)->media_type);
}

Response speaking_error(const Error& error) {
  const bool of_model = error.message.starts_with("model: ");
  const bool of_language = error.code == ErrorCode::Unsupported;
  return openai_error(error,
                      of_model      ? "model"
                      : of_language ? "lang_code"
                                    : "voice",
                      of_model ? "model_not_found" : "");
}

std::string refused_field(const SpeechRequest& request, const Error& error) {
  const bool of_language =
      error.code == ErrorCode::Unsupported && !request.options.language.empty();
  return of_language ? "lang_code" : "";
}

void name_speaking(const SpeechRequest& request, const Speaking& speaking, Response& response) {
  response.headers.set("X-Mynah-Model", speaking.name);
  response.headers.set("X-Mynah-Voice", speaking.voice);
  response.headers.set("X-Mynah-Device", "tts=" + speaking.lease->device());
  response.headers.set("X-Accel-Buffering", "no");
  std::vector<std::string> ignored = request.ignored;
  std::ranges::move(unknown_voices(request, speaking.lease->synthesizer->model()),
                    std::back_inserter(ignored));
  if (speaking.model_passed_over) {
    ignored.emplace_back("model");
  }
  if (!ignored.empty()) {
    response.headers.set(kIgnoredHeader, fmt::format("{}", fmt::join(ignored, ", ")));
  }
}

}  // namespace mynah::server
