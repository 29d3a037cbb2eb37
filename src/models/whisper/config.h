// Sizes of a Whisper model, and what a checkpoint says about it besides its tensors.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/tensor_file.h"

namespace mynah::whisper {

// A head of a decoder layer's cross-attention whose weights follow the audio: word times come from
// it.
struct AlignmentHead {
  int64_t layer = 0;
  int64_t head = 0;

  bool operator==(const AlignmentHead&) const = default;
};

// The sizes of openai/whisper model.py class ModelDimensions, under the same names.
struct Config {
  int64_t n_mels = 80;
  int64_t n_audio_ctx = 1500;  // encoder positions of a window: 20 ms each
  int64_t n_audio_state = 0;   // width
  int64_t n_audio_head = 0;
  int64_t n_audio_layer = 0;
  int64_t n_vocab = 0;
  int64_t n_text_ctx = 448;
  int64_t n_text_state = 0;
  int64_t n_text_head = 0;
  int64_t n_text_layer = 0;
  std::vector<AlignmentHead> alignment_heads;

  // openai/whisper model.py Whisper.is_multilingual: English models have one token less.
  [[nodiscard]] bool multilingual() const { return n_vocab >= 51865; }

  // Languages in the vocabulary (openai/whisper model.py Whisper.num_languages).
  [[nodiscard]] int64_t languages() const { return n_vocab - 51765 - (multilingual() ? 1 : 0); }

  // Mel frames of a window: two an encoder position.
  [[nodiscard]] int64_t window_frames() const { return 2 * n_audio_ctx; }

  bool operator==(const Config&) const = default;
};

// Refuses sizes that cannot be a Whisper model, or that would make arithmetic on them unsafe.
Status check_config(const Config& config);

// The configuration as metadata of a GGUF file that mynah writes; read_checkpoint() reads it back.
std::map<std::string, MetadataValue, std::less<>> to_metadata(const Config& config);

// Alignment heads that OpenAI published for its models (openai/whisper __init__.py
// _ALIGNMENT_HEADS), by the model's name ("small.en", "large-v3") where it names one, else by
// sizes. Where nothing is known: every head of the upper half of the decoder, as openai/whisper
// model.py does.
std::vector<AlignmentHead> alignment_heads_for(const Config& config, std::string_view model_name);

}  // namespace mynah::whisper
