// Model: a Whisper checkpoint ready to run. Const after load, shared by everybody who listens.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/whisper/decoder.h"
#include "models/whisper/encoder.h"
#include "models/whisper/generate.h"
#include "models/whisper/mel_filters.h"
#include "nn/blob_cache.h"
#include "text/whisper_tokenizer.h"

namespace mynah::whisper {

// A stretch of audio of at most 30 seconds that is listened to at once.
struct AudioWindow {
  std::span<const float> samples;  // 16 kHz mono
  int64_t frames = 0;              // mel frames to compute: even, at most Config::window_frames()
};

struct LanguageGuess {
  int32_t token = 0;
  float probability = 0;
};

class Model {
 public:
  struct LoadOptions {
    std::string name;              // "tiny.en"
    std::optional<DType> storage;  // none: the file's own
    Precision precision = Precision::Fast;
    std::shared_ptr<BlobCache> cache;  // for packed weights and silence; may be null
  };

  // Takes the weights of `file` (any producer's) and its vocabulary.
  static Result<std::shared_ptr<const Model>> load(const std::shared_ptr<const TensorFile>& file,
                                                   Vocabulary vocabulary,
                                                   const LoadOptions& options, Backend& backend);

  [[nodiscard]] const std::string& name() const { return options_.name; }

  [[nodiscard]] const Config& config() const { return config_; }

  [[nodiscard]] const WhisperTokenizer& tokenizer() const { return *tokenizer_; }

  [[nodiscard]] const Encoder& encoder() const { return encoder_; }

  [[nodiscard]] const Decoder& decoder() const { return decoder_; }

  [[nodiscard]] Backend& backend() const { return *backend_; }

  // (sum of frames, n_mels) of a batch of windows, and where each one's frames are.
  [[nodiscard]] Tensor log_mel(std::span<const AudioWindow> windows, Lengths& frames) const;

  // Lets go of what the last stage needed and the next may not: buffers, and pages of the files
  // that weights lie in. For between encoding and decoding, which share none but the silence: what
  // is read again costs 1 ms for 30 MB.
  void release_idle_memory() const;

  // What whole windows of silence make of the layers. Computed or read from the cache when first
  // asked for; may then take as long as a window of speech.
  [[nodiscard]] const SilenceCache& silence() const;
  // Mel frames of a window of so many samples that has the silence after it from there.
  [[nodiscard]] int64_t frames_before_silence(int64_t samples) const;

  [[nodiscard]] Generator generator(const TokenRules& rules) const {
    return {.decoder = decoder_,
            .rules = rules,
            .special = tokenizer_->special(),
            .backend = *backend_,
            .steps = *steps_,
            .after_step = [this] { release_table(); }};
  }

  // The likeliest language of each utterance. Only for multilingual models.
  [[nodiscard]] std::vector<LanguageGuess> detect_language(const CrossCache& cross) const;

 private:
  Model() = default;

  void release_table() const;
  [[nodiscard]] bool read_silence(SilenceCache& silence) const;
  void compute_silence(SilenceCache& silence) const;

  LoadOptions options_;
  Config config_;
  Backend* backend_ = nullptr;
  std::optional<WhisperTokenizer> tokenizer_;
  Encoder encoder_;
  Decoder decoder_;
  std::unique_ptr<StepRunner> steps_;  // of all that decode with this model
  std::vector<std::shared_ptr<const MappedFile>> files_;
  Tensor filters_;  // (n_mels, kFftSize / 2 + 1)
  mutable std::once_flag silence_once_;
  mutable SilenceCache silence_;
};

}  // namespace mynah::whisper
