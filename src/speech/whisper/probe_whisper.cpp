#include "speech/whisper/probe_whisper.h"

#include <algorithm>
#include <span>

#include "ops/ops.h"
#include "speech/recognizer_options.h"

namespace mynah {
namespace {

constexpr int64_t kFrames = 100;  // of 10 ms
constexpr size_t kStates = 512;
constexpr size_t kLogits = 256;
// About what is said in a second.
constexpr int kTokens = 5;

std::vector<int32_t> start_of(const whisper::Model& model) {
  // English, where it knows others too.
  const int32_t language =
      model.config().multilingual() ? model.tokenizer().special().language_begin : -1;
  return model.tokenizer().sot_sequence(language, false);
}

uint64_t bytes_of(const Tensor& tensor) {
  return storage_bytes(tensor.dtype(), tensor.elements());
}

// Of one utterance.
uint64_t bytes_of(const whisper::CrossCache& cross) {
  uint64_t bytes = 0;
  for (const std::vector<KeysValues>& layer : cross.layers) {
    bytes += bytes_of(layer.front().data);
  }
  return bytes;
}

}  // namespace

Result<Probe> probe_whisper(const whisper::Model& model) {
  const int64_t frames_wanted = std::min(kFrames, model.config().window_frames());
  const std::vector<float> sound =
      probe_sound(static_cast<size_t>(frames_wanted) * static_cast<size_t>(kMelHop));
  const whisper::AudioWindow window{.samples = sound, .frames = frames_wanted};
  Lengths frames;
  const Tensor mel = model.log_mel(std::span(&window, 1), frames);
  const Tensor states = model.encoder().forward(mel, frames);
  Probe probe;
  probe.sound_s = static_cast<double>(sound.size()) / kMelRate_hz;
  probe.stages.push_back(
      {.stage = "stt.encoder",
       .values = spread_values(ops::to_host(model.encoder_backend(), states), kStates)});

  const whisper::CrossCache cross = model.cross_cache(states, frames);
  const std::vector<int32_t> start = start_of(model);
  KvCache cache = model.decoder().new_cache(1, static_cast<int64_t>(start.size()));
  const Lane lane{.sequence = cache.add(), .count = std::ssize(start)};
  Backend& backend = model.decoder_backend();
  const Tensor hidden = model.decoder().forward(start, std::span(&lane, 1), cache, cross);
  ProbeStage decoder{
      .stage = "stt.decoder",
      .values = spread_values(ops::to_host(backend, model.decoder().logits(hidden)), kLogits)};
  MYNAH_TRY(const whisper::TokenRules rules,
            whisper::TokenRules::create(model.tokenizer(), {}, backend));
  whisper::GenerateRequest request;
  request.prompt = start;
  const auto generated =
      model.generator(rules).run(std::span(&request, 1), {.max_new_tokens = kTokens}, cross, {});
  // Later tokens may differ where two are as likely: of what steps compute, this alone is the same.
  decoder.values.push_back(generated.front().no_speech_probability);
  probe.stages.push_back(std::move(decoder));
  return probe;
}

Result<WindowMemory> hear_full_window(const whisper::Model& model) {
  const int64_t frames_wanted = model.config().window_frames();
  const std::vector<float> sound =
      probe_sound(static_cast<size_t>(frames_wanted) * static_cast<size_t>(kMelHop));
  const whisper::AudioWindow window{.samples = sound, .frames = frames_wanted};
  Lengths frames;
  const Tensor mel = model.log_mel(std::span(&window, 1), frames);
  // What silence keeps is what its window makes of the layers. The model's own is not touched: it
  // is kept for other runs, and nobody knows yet whether this device computes it rightly.
  std::vector<AudioEncoder::LayerKeys> silence;
  const Tensor states = model.encoder().forward(mel, frames, {}, &silence);
  // What is on its way is waited for here, as where windows are heard: it is the encoder's time.
  static_cast<void>(
      ops::to_host(model.encoder_backend(), ops::mean(model.encoder_backend(), states)));
  const whisper::CrossCache after_it = model.cross_cache(states, frames);
  const whisper::CrossCache cross = model.cross_cache(states, frames);

  const WhisperOptions options;
  const int64_t sequences = std::max(options.beam_size, options.best_of);
  const std::vector<int32_t> start = start_of(model);
  const int64_t longest =
      std::ssize(start) + std::min<int64_t>(options.max_new_tokens, model.config().n_text_ctx / 2);
  KvCache cache = model.decoder().new_cache(sequences, longest);
  std::vector<Lane> lanes;
  for (int64_t i = 0; i < sequences; ++i) {
    lanes.push_back({.sequence = cache.add()});
    const Lane whole{.sequence = lanes.back().sequence, .count = cache.sizes().capacity};
    cache.reserve(std::span(&whole, 1));
  }
  const std::vector<int32_t> first(lanes.size(), start.front());
  const Tensor logits = model.decoder().logits(model.decoder().forward(first, lanes, cache, cross));
  const WindowMemory memory{.bytes = model.decoder_backend().memory_held(),
                            .window_bytes = bytes_of(cross) + cache.bytes() + bytes_of(logits)};

  constexpr int kFewTokens = 3;
  MYNAH_TRY(const whisper::TokenRules rules,
            whisper::TokenRules::create(model.tokenizer(), {}, model.decoder_backend()));
  whisper::GenerateRequest request;
  request.prompt = start;
  static_cast<void>(model.generator(rules).run(
      std::span(&request, 1),
      {.beam_size = static_cast<int>(sequences), .max_new_tokens = kFewTokens}, cross, {}));
  return memory;
}

}  // namespace mynah
