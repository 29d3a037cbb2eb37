// What a Model makes of silence: computed once, kept beside the packed weights.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "models/whisper/model.h"
#include "tensor/device_error.h"
#include "tensor/host_pool.h"

namespace mynah::whisper {
namespace {

// Copies to the host. What is kept for later runs must be numbers.
std::vector<float> numbers_of(Backend& backend, const Tensor& x) {
  std::vector<float> values = ops::to_host(backend, x);
  if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) {
    throw DeviceError({.code = ErrorCode::Device,
                       .message = backend.device().str() +
                                  ": the encoder's states of silence are no numbers: the device, "
                                  "or the model's file, is damaged"});
  }
  return values;
}

// Means of `group` rows after each other: x (rows, d) -> (rows / group, d).
Tensor mean_of_groups(Backend& backend, const Tensor& x, int64_t group) {
  const int64_t d = x.dim(1);
  const std::vector<float> rows = numbers_of(backend, x);
  std::vector<float> means(rows.size() / static_cast<size_t>(group), 0.0F);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<int64_t>(i) / d;
    const auto column = static_cast<int64_t>(i) % d;
    means[static_cast<size_t>(row / group * d + column)] += rows[i] / static_cast<float>(group);
  }
  return ops::from_host(backend, std::span<const float>(means), {x.dim(0) / group, d});
}

// Names the layout's parameters too: another group is another blob.
std::string encoder_silence_name(size_t layer, int64_t group) {
  return fmt::format("silence.encoder.{}:{}", layer, group);
}

std::string storage_name(const StageOptions& stage) {
  return fmt::format("{}-{}", stage.storage ? name(*stage.storage) : "file",
                     stage.precision == Precision::Exact ? "exact" : "fast");
}

// One layer's silence as another run left it; `wanted` has no data.
std::optional<KeysValues> read_layer(const BlobCache& cache, const std::string& name,
                                     const KeysValues& wanted, Backend& backend) {
  const std::optional<Blob> blob = cache.find(name);
  const size_t bytes =
      backend.keys_values_bytes(wanted.rows, wanted.heads, wanted.head_dim, wanted.precision);
  if (!blob || blob->bytes.size() != bytes) {
    return std::nullopt;
  }
  const Tensor host(wrap_host_memory(blob->bytes.data(), bytes, blob->owner), 0,
                    {static_cast<int64_t>(bytes)}, DType::U8, Device{DeviceKind::Cpu, 0});
  KeysValues layer = wanted;
  layer.data = ops::to_device(backend, host);
  return layer;
}

// Layers of silence in the cache of a stage, under the names that `name` gives.
template <class Name>
std::optional<std::vector<KeysValues>> read_layers(const StageOptions& stage, int64_t layers,
                                                   KeysValues wanted, const Name& name) {
  if (stage.cache == nullptr) {
    return std::nullopt;
  }
  wanted.precision = stage.precision;
  std::vector<KeysValues> found;
  for (size_t i = 0; i < static_cast<size_t>(layers); ++i) {
    auto layer = read_layer(*stage.cache, name(i), wanted, *stage.backend);
    if (!layer) {
      return std::nullopt;
    }
    found.push_back(std::move(*layer));
  }
  return found;
}

// Where the cache cannot be written, silence is computed again next time.
template <class Name>
void write_layers(const StageOptions& stage, std::span<const KeysValues> layers, const Name& name) {
  if (stage.cache == nullptr) {
    return;
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    std::vector<std::byte> bytes(static_cast<size_t>(layers[i].data.elements()));
    stage.backend->download(layers[i].data, bytes.data());
    if (!stage.cache->add(name(i), bytes).has_value()) {
      return;
    }
  }
}

}  // namespace

std::string Model::decoder_silence_name(size_t layer) const {
  const StageOptions& heard = stages_.encoder;
  const std::string by = heard.backend->packed_layout() + "-" + storage_name(heard);
  const StageOptions& own = stages_.decoder;
  const bool same = by == own.backend->packed_layout() + "-" + storage_name(own);
  return fmt::format("silence.decoder.{}:1{}", layer, same ? "" : " of " + by);
}

std::optional<SilenceCache> Model::read_silence(int64_t group) const {
  const Config& c = config();
  const auto wanted = [&](int64_t heads, int64_t together) {
    return KeysValues{.rows = c.n_audio_ctx / together,
                      .heads = heads,
                      .head_dim = c.n_audio_state / heads,
                      .precision = Precision::Exact,
                      .data = {}};
  };
  auto encoder = read_layers(stages_.encoder, c.n_audio_layer, wanted(c.n_audio_head, group),
                             [&](size_t i) { return encoder_silence_name(i, group); });
  if (!encoder) {
    return std::nullopt;
  }
  auto decoder = read_layers(stages_.decoder, c.n_text_layer, wanted(c.n_text_head, 1),
                             [&](size_t i) { return decoder_silence_name(i); });
  if (!decoder) {
    return std::nullopt;
  }
  return SilenceCache{
      .encoder = *std::move(encoder), .decoder = *std::move(decoder), .encoder_group = group};
}

SilenceCache Model::compute_silence(int64_t group) const {
  Backend& backend = encoder_backend();
  SilenceCache silence{.encoder = {}, .decoder = {}, .encoder_group = group};
  Lengths frames;
  const AudioWindow nothing{.samples = {}, .frames = config().window_frames()};
  const Tensor mel = log_mel(std::span(&nothing, 1), frames);  // (window_frames, n_mels)
  std::vector<AudioEncoder::LayerKeys> kept;
  const Tensor states = encoder_.forward(mel, frames, {}, &kept);
  static_cast<void>(numbers_of(backend, states));
  for (const AudioEncoder::LayerKeys& layer : kept) {
    silence.encoder.push_back(
        ops::pack_keys_values(backend, mean_of_groups(backend, layer.keys, group),
                              mean_of_groups(backend, layer.values, group), config().n_audio_head,
                              stages_.encoder.precision));
  }
  for (std::vector<KeysValues>& layer : cross_cache(states, frames).layers) {
    silence.decoder.push_back(std::move(layer.front()));
  }
  write_layers(stages_.encoder, silence.encoder,
               [&](size_t i) { return encoder_silence_name(i, group); });
  write_layers(stages_.decoder, silence.decoder, [&](size_t i) { return decoder_silence_name(i); });
  for (const StageOptions* stage : {&stages_.encoder, &stages_.decoder}) {
    if (stage->cache != nullptr) {
      (void)stage->cache->commit();
    }
  }
  return silence;
}

int64_t Model::frames_before_silence(int64_t samples) const {
  // A second after the samples is computed with them, so that the end of speech is heard in its own
  // surroundings; then whole groups of positions, two frames each. In float32, greedy, on the 96
  // clips of shared/speech: 224 word errors, half a second 228, a full window 219.
  constexpr int64_t kPadFrames = 100;
  constexpr int64_t kFrames = 2 * kSilenceGroup;
  const int64_t own = samples / kMelHop + kPadFrames;
  return std::min((own + kFrames - 1) / kFrames * kFrames, config().window_frames());
}

const SilenceCache& Model::silence() const {
  std::call_once(silence_once_, [this] {
    const int64_t group = silence_group(config().n_audio_ctx);
    auto known = read_silence(group);
    silence_ = known ? *std::move(known) : compute_silence(group);
  });
  return silence_;
}

}  // namespace mynah::whisper
