#include "server/speak/speak_sound.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audio/sound_writer.h"

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
    return fail(ErrorCode::InvalidInput, "input: nothing in it can be spoken: wanted words");
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

void name_speaking(const SpeechRequest& request, const Speaking& speaking, Response& response) {
  response.headers.set("X-Mynah-Model", speaking.name);
  response.headers.set("X-Mynah-Voice", speaking.voice);
  response.headers.set("X-Mynah-Device", "tts=" + speaking.lease->device());
  response.headers.set("X-Accel-Buffering", "no");
  if (!request.ignored.empty()) {
    response.headers.set("X-Mynah-Ignored", fmt::format("{}", fmt::join(request.ignored, ", ")));
  }
}

}  // namespace mynah::server
