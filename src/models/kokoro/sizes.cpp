#include "models/kokoro/sizes.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "models/kokoro/albert.h"

namespace mynah::kokoro {

namespace {

struct Place {
  int64_t Sizes::* size;
  std::string_view tensor;
  int dimension;
  int64_t multiple;  // what it is divided by
};

constexpr std::array<Place, 8> kPlaces = {{
    {&Sizes::style, "decoder.encode.norm1.fc.weight", 1, 1},
    {&Sizes::hidden, "bert_encoder.weight", 0, 2},  // both directions of an LSTM
    {&Sizes::embedding, "bert.embeddings.word_embeddings.weight", 1, 1},
    {&Sizes::width, "bert_encoder.weight", 1, Albert::kHeads},
    {&Sizes::inner, "bert.encoder.albert_layer_groups.0.albert_layers.0.ffn.weight", 0, 1},
    {&Sizes::decoder, "decoder.encode.conv1.weight", 0, 1},
    {&Sizes::seen, "decoder.asr_res.0.weight", 0, 1},
    {&Sizes::generator, "decoder.generator.ups.0.weight", 0, 4},
}};

}  // namespace

Result<Sizes> read_sizes(const Weights& w) {
  Sizes sizes;
  for (const auto& [size, tensor, dimension, multiple] : kPlaces) {
    MYNAH_TRY(const Shape shape, w.shape(tensor));
    const int64_t found = dimension < shape.rank() ? shape[dimension] : 0;
    if (found < 1 || found % multiple != 0) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: wanted a multiple of {} as size {} of Kokoro's, found shape {}",
                              tensor, multiple, dimension, shape.str()));
    }
    sizes.*size = found;
  }
  return sizes;
}

}  // namespace mynah::kokoro
