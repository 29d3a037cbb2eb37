#include "models/whisper/config.h"

#include <fmt/format.h>

namespace mynah::whisper {
namespace {

Status in_range(std::string_view what, int64_t value, int64_t low, int64_t high) {
  if (value < low || value > high) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("not a Whisper model that mynah can run: {} must be {} to {}, found {}",
                            what, low, high, value));
  }
  return {};
}

}  // namespace

Status check_config(const Config& c) {
  // Upper bounds are far above the largest published model (large-v3: width 1280, 32 layers).
  MYNAH_TRY_STATUS(in_range("n_mels", c.n_mels, 1, 512));
  MYNAH_TRY_STATUS(in_range("n_audio_ctx", c.n_audio_ctx, 2, 1 << 16));
  MYNAH_TRY_STATUS(in_range("n_audio_state", c.n_audio_state, 1, 1 << 14));
  MYNAH_TRY_STATUS(in_range("n_audio_layer", c.n_audio_layer, 1, 256));
  MYNAH_TRY_STATUS(in_range("n_audio_head", c.n_audio_head, 1, c.n_audio_state));
  // English: 51864, multilingual: 51865, large-v3: 51866 (openai/whisper model.py).
  MYNAH_TRY_STATUS(in_range("n_vocab", c.n_vocab, 51864, 1 << 17));
  MYNAH_TRY_STATUS(in_range("n_text_ctx", c.n_text_ctx, 16, 1 << 14));
  MYNAH_TRY_STATUS(in_range("n_text_state", c.n_text_state, c.n_audio_state, c.n_audio_state));
  MYNAH_TRY_STATUS(in_range("n_text_layer", c.n_text_layer, 1, 256));
  MYNAH_TRY_STATUS(in_range("n_text_head", c.n_text_head, 1, c.n_text_state));
  if (c.n_audio_state % c.n_audio_head != 0 || c.n_text_state % c.n_text_head != 0) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("not a Whisper model: widths {} and {} must be whole multiples of the "
                            "numbers of heads, {} and {}",
                            c.n_audio_state, c.n_text_state, c.n_audio_head, c.n_text_head));
  }
  for (const AlignmentHead& head : c.alignment_heads) {
    MYNAH_TRY_STATUS(in_range("layer of an alignment head", head.layer, 0, c.n_text_layer - 1));
    MYNAH_TRY_STATUS(in_range("alignment head", head.head, 0, c.n_text_head - 1));
  }
  return {};
}

std::map<std::string, MetadataValue, std::less<>> to_metadata(const Config& config) {
  std::vector<int64_t> heads;
  for (const AlignmentHead& head : config.alignment_heads) {
    heads.push_back(head.layer);
    heads.push_back(head.head);
  }
  return {{"whisper.n_audio_head", config.n_audio_head},
          {"whisper.n_text_head", config.n_text_head},
          {"whisper.alignment_heads", heads}};
}

}  // namespace mynah::whisper
