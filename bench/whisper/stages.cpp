#include "whisper/stages.h"

#include <cmath>
#include <numbers>
#include <utility>
#include <variant>

#include "formats/open.h"
#include "models/whisper/silence.h"
#include "nn/audio_encoder.h"
#include "text/vocabulary.h"

namespace mynah::bench {

std::vector<float> signal(double seconds) {
  std::vector<float> samples(static_cast<size_t>(seconds * 16000));
  for (size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / 16000;
    const double phase = 2 * std::numbers::pi * (120 * t + 15 * std::sin(3 * t));
    samples[i] =
        static_cast<float>(0.2 * std::sin(phase) + 0.1 * std::sin(5 * phase) * std::sin(7 * t));
  }
  return samples;
}

double turned(const std::vector<float>& a, const std::vector<float>& b) {
  double dot = 0;
  double aa = 0;
  double bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    dot += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    aa += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    bb += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return 1 - dot / std::sqrt(aa * bb);
}

Result<std::shared_ptr<const whisper::Model>> load_gguf(const std::string& path,
                                                        std::optional<DType> storage,
                                                        Precision precision, Backend& backend) {
  MYNAH_TRY(TensorFile opened, open_tensor_file(path));
  const auto file = std::make_shared<const TensorFile>(std::move(opened));
  const auto tokens = file->metadata.find("tokenizer.ggml.tokens");
  if (tokens == file->metadata.end() ||
      !std::holds_alternative<std::vector<std::string>>(tokens->second)) {
    return fail(ErrorCode::InvalidInput,
                path +
                    ": wanted a GGUF as `mynah import` writes it, found no "
                    "vocabulary in it");
  }
  const whisper::StageOptions stage{
      .backend = &backend, .storage = storage, .precision = precision, .cache = nullptr};
  return whisper::Model::load(
      file, vocabulary_of_printable(std::get<std::vector<std::string>>(tokens->second)),
      {.name = "bench", .encoder = stage, .decoder = stage});
}

Encoded encode(const whisper::Model& model, const std::vector<float>& samples, bool cached,
               size_t windows) {
  const whisper::AudioWindow window{
      .samples = samples,
      .frames = cached ? model.frames_before_silence(static_cast<int64_t>(samples.size()))
                       : model.config().window_frames()};
  const std::vector<whisper::AudioWindow> all(windows, window);
  Lengths frames;
  const Tensor mel = model.log_mel(all, frames);
  const AudioTail silence = whisper::encoder_tail(cached ? &model.silence() : nullptr);
  return {model.encoder().forward(mel, frames, silence), model.encoder().positions(frames)};
}

}  // namespace mynah::bench
