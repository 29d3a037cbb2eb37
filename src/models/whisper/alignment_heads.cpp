// Facts from openai/whisper __init__.py _ALIGNMENT_HEADS (v20250625), decoded.
#include <array>
#include <span>

#include "models/whisper/config.h"

namespace mynah::whisper {
namespace {

using Heads = std::vector<AlignmentHead>;

struct Published {
  std::string_view model;
  int64_t layers;  // of the decoder
  int64_t heads;   // of each layer
  Heads alignment;
};

// In the order of trust where only the sizes are known: the later of two models of one size.
const std::array<Published, 13>& published() {
  static const std::array<Published, 13> kTable = {{
      {"tiny.en", 4, 6, {{1, 0}, {2, 0}, {2, 5}, {3, 0}, {3, 1}, {3, 2}, {3, 3}, {3, 4}}},
      {"tiny", 4, 6, {{2, 2}, {3, 0}, {3, 2}, {3, 3}, {3, 4}, {3, 5}}},
      {"base.en", 6, 8, {{3, 3}, {4, 7}, {5, 1}, {5, 5}, {5, 7}}},
      {"base", 6, 8, {{3, 1}, {4, 2}, {4, 3}, {4, 7}, {5, 1}, {5, 2}, {5, 4}, {5, 6}}},
      {"small.en",
       12,
       12,
       {{6, 6},
        {7, 0},
        {7, 3},
        {7, 8},
        {8, 2},
        {8, 5},
        {8, 7},
        {9, 0},
        {9, 4},
        {9, 8},
        {9, 10},
        {10, 0},
        {10, 1},
        {10, 2},
        {10, 3},
        {10, 6},
        {10, 11},
        {11, 2},
        {11, 4}}},
      {"small",
       12,
       12,
       {{5, 3}, {5, 9}, {8, 0}, {8, 4}, {8, 7}, {8, 8}, {9, 0}, {9, 7}, {9, 9}, {10, 5}}},
      {"medium.en",
       24,
       16,
       {{11, 4},
        {14, 1},
        {14, 12},
        {14, 14},
        {15, 4},
        {16, 0},
        {16, 4},
        {16, 9},
        {17, 12},
        {17, 14},
        {18, 7},
        {18, 10},
        {18, 15},
        {20, 0},
        {20, 3},
        {20, 9},
        {20, 14},
        {21, 12}}},
      {"medium", 24, 16, {{13, 15}, {15, 4}, {15, 15}, {16, 1}, {20, 0}, {23, 4}}},
      {"large-v3-turbo", 4, 20, {{2, 4}, {2, 11}, {3, 3}, {3, 6}, {3, 11}, {3, 14}}},
      {"turbo", 4, 20, {{2, 4}, {2, 11}, {3, 3}, {3, 6}, {3, 11}, {3, 14}}},
      {"large-v3",
       32,
       20,
       {{7, 0},
        {10, 17},
        {12, 18},
        {13, 12},
        {16, 1},
        {17, 14},
        {19, 11},
        {21, 4},
        {24, 1},
        {25, 6}}},
      {"large-v2", 32, 20, {{10, 12}, {13, 17}, {16, 11}, {16, 12}, {16, 13}, {17, 15},
                            {17, 16}, {18, 4},  {18, 11}, {18, 19}, {19, 11}, {21, 2},
                            {21, 3},  {22, 3},  {22, 9},  {22, 12}, {23, 5},  {23, 7},
                            {23, 13}, {25, 5},  {26, 1},  {26, 12}, {27, 15}}},
      {"large-v1",
       32,
       20,
       {{9, 19}, {11, 2}, {11, 4}, {11, 17}, {22, 7}, {22, 11}, {22, 17}, {23, 2}, {23, 15}}},
  }};
  return kTable;
}

bool english_name(std::string_view model) {
  return model.ends_with(".en");
}

bool same_sizes(const Published& model, const Config& config) {
  return model.layers == config.n_text_layer && model.heads == config.n_text_head;
}

}  // namespace

std::vector<AlignmentHead> alignment_heads_for(const Config& config, std::string_view model_name) {
  for (const Published& model : published()) {
    if (model.model == model_name && same_sizes(model, config)) {
      return model.alignment;
    }
  }
  for (const Published& model : published()) {
    // A distilled model has other layers than the one it was made from, so the encoder counts too;
    // large-v2 and v3 differ by their mel bands.
    const bool encoder_fits = model.layers == config.n_audio_layer || model.model == "turbo";
    const bool mels_fit =
        (config.n_mels == 128) == (model.model == "large-v3" || model.model.ends_with("turbo"));
    if (same_sizes(model, config) && encoder_fits && mels_fit &&
        english_name(model.model) != config.multilingual()) {
      return model.alignment;
    }
  }
  Heads upper_half;
  for (int64_t layer = config.n_text_layer / 2; layer < config.n_text_layer; ++layer) {
    for (int64_t head = 0; head < config.n_text_head; ++head) {
      upper_half.push_back({layer, head});
    }
  }
  return upper_half;
}

}  // namespace mynah::whisper
