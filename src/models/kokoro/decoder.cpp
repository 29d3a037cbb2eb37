#include "models/kokoro/decoder.h"

#include "nn/beside.h"

namespace mynah::kokoro {

Result<Decoder> Decoder::load(const Weights& w, const Sizes& sizes) {
  constexpr Conv1d::Sizes kCurve{.in = 1, .out = 1, .kernel = 3, .stride = 2, .padding = 1};
  const int64_t seen = sizes.decoder + sizes.seen + 2;
  Decoder decoder;
  decoder.backend_ = &w.backend();
  MYNAH_TRY(decoder.pitch_, Conv1d::load(w / "F0_conv", kCurve));
  MYNAH_TRY(decoder.energy_, Conv1d::load(w / "N_conv", kCurve));
  MYNAH_TRY(decoder.text_, Conv1d::load(w / "asr_res.0", {.in = sizes.hidden, .out = sizes.seen}));
  MYNAH_TRY(decoder.encode_,
            AdaInBlock::load(w / "encode",
                             {.in = sizes.hidden + 2, .out = sizes.decoder, .style = sizes.style}));
  for (size_t i = 0; i < decoder.decode_.size(); ++i) {
    const bool last = i == decoder.decode_.size() - 1;
    MYNAH_TRY(decoder.decode_[i], AdaInBlock::load(w / "decode" / static_cast<int64_t>(i),
                                                   {.in = seen,
                                                    .out = last ? sizes.generator : sizes.decoder,
                                                    .style = sizes.style,
                                                    .upsamples = last}));
  }
  return decoder;
}

Tensor Decoder::operator()(const Tensor& text, const Melody& melody, const Tensor& style) const {
  Backend& backend = *backend_;
  const Lengths values{melody.pitch.dim(0)};
  const Tensor pitch = pitch_(melody.pitch, values);
  const Tensor energy = energy_(melody.energy, values);
  const Tensor seen = text_(text, Lengths{text.dim(0)});
  Tensor x = encode_(beside(backend, std::array{text, pitch, energy}), style);
  for (const AdaInBlock& block : decode_) {
    x = block(beside(backend, std::array{x, seen, pitch, energy}), style);
  }
  return x;
}

}  // namespace mynah::kokoro
