// Model: a Whisper checkpoint ready to run. Const after load, shared by everybody who listens.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/whisper/decoder.h"
#include "models/whisper/generate.h"
#include "models/whisper/model_header.h"
#include "models/whisper/names.h"
#include "nn/audio_encoder.h"
#include "nn/blob_cache.h"
#include "nn/mel_filters.h"
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

// Where a stage of the model computes, and how its weights are kept there.
struct StageOptions {
  Backend* backend = nullptr;    // must outlive the model
  std::optional<DType> storage;  // none: the file's own
  Precision precision = Precision::Fast;
  // For packed weights and silence, of this backend's layout and this storage type; may be null.
  // Stages of one layout and one storage type share it, since a file has one writer.
  std::shared_ptr<BlobCache> cache;
};

// Two stages: the encoder, from samples to states, and the decoder, from states to tokens. Each may
// be on a device of its own; then the states, as f32, are all that passes between them. Where both
// are on one nothing is copied.
class Model {
 public:
  struct LoadOptions {
    std::string name;      // "tiny.en"
    StageOptions encoder;  // of the mel front end too
    StageOptions decoder;  // of cross-attention's keys, token rules and word times too
  };

  struct Stages {
    StageOptions encoder;
    StageOptions decoder;
  };

  // Takes the weights of `file` (any producer's) and its vocabulary.
  static Result<std::shared_ptr<const Model>> load(const std::shared_ptr<const TensorFile>& file,
                                                   Vocabulary vocabulary,
                                                   const LoadOptions& options);

  // The same of a file whose checkpoint and header were read already.
  static Result<std::shared_ptr<const Model>> load(const TensorFile& file,
                                                   const Checkpoint& checkpoint,
                                                   std::shared_ptr<const ModelHeader> header,
                                                   const Stages& stages);

  [[nodiscard]] const std::shared_ptr<const ModelHeader>& header() const { return header_; }

  [[nodiscard]] const std::string& name() const { return header_->name; }

  [[nodiscard]] const Config& config() const { return header_->config; }

  [[nodiscard]] const WhisperTokenizer& tokenizer() const { return header_->tokenizer; }

  [[nodiscard]] const AudioEncoder& encoder() const { return encoder_; }

  [[nodiscard]] const Decoder& decoder() const { return decoder_; }

  [[nodiscard]] Backend& encoder_backend() const { return *stages_.encoder.backend; }

  [[nodiscard]] Backend& decoder_backend() const { return *stages_.decoder.backend; }

  // "cpu"; two where the stages are apart: "cuda:0,cpu".
  [[nodiscard]] std::string device() const;

  // As Backend::parts() and Backend::run_parts(); 1 where the stages are apart, since each
  // device's parts are its own.
  [[nodiscard]] int parts() const;
  void run_parts(int parts, FunctionRef<void(int)> fn) const;

  // (sum of frames, n_mels) of a batch of windows, and where each one's frames are.
  [[nodiscard]] Tensor log_mel(std::span<const AudioWindow> windows, Lengths& frames) const;

  // Keys and values of the encoder's states (frames' positions), on the decoder's device.
  [[nodiscard]] CrossCache cross_cache(const Tensor& states, const Lengths& frames) const;

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
            .special = tokenizer().special(),
            .backend = decoder_backend(),
            .steps = *steps_,
            .after_step = [this] { release_table(); }};
  }

  // The likeliest language of each utterance. Only for multilingual models.
  [[nodiscard]] std::vector<LanguageGuess> detect_language(const CrossCache& cross) const;

 private:
  Model() = default;

  void release_table() const;
  // Whether both stages read each other's tensors.
  [[nodiscard]] bool together() const;
  // Names a layer of silence in the decoder's cache. It hangs on the encoder that heard it: where
  // that is kept otherwise, or elsewhere, it is another blob.
  [[nodiscard]] std::string decoder_silence_name(size_t layer) const;
  [[nodiscard]] std::optional<SilenceCache> read_silence(int64_t group) const;
  [[nodiscard]] SilenceCache compute_silence(int64_t group) const;

  Stages stages_;
  std::shared_ptr<const ModelHeader> header_;
  AudioEncoder encoder_;
  Decoder decoder_;
  std::unique_ptr<StepRunner> steps_;  // of all that decode with this model
  std::vector<std::shared_ptr<const MappedFile>> files_;
  Tensor filters_;  // (n_mels, kMelFft / 2 + 1)
  mutable std::once_flag silence_once_;
  mutable SilenceCache silence_;
};

}  // namespace mynah::whisper
