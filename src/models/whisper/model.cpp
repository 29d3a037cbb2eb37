#include "models/whisper/model.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"
#include "models/whisper/names.h"
#include "tensor/host_pool.h"

namespace mynah::whisper {
namespace {

// Means of `group` rows after each other: x (rows, d) -> (rows / group, d).
Tensor mean_of_groups(Backend& backend, const Tensor& x, int64_t group) {
  const int64_t d = x.dim(1);
  const std::vector<float> rows = ops::to_host(backend, x);
  std::vector<float> means(rows.size() / static_cast<size_t>(group), 0.0F);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<int64_t>(i) / d;
    const auto column = static_cast<int64_t>(i) % d;
    means[static_cast<size_t>(row / group * d + column)] += rows[i] / static_cast<float>(group);
  }
  return ops::from_host(backend, std::span<const float>(means), {x.dim(0) / group, d});
}

// Names the layout's parameters too: another group is another blob.
std::string silence_name(std::string_view side, size_t layer, int64_t group) {
  return fmt::format("silence.{}.{}:{}", side, layer, group);
}

// One layer's silence, `rows` of it, as another run left it.
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

// False where the cache cannot be written; silence is then computed again next time.
bool write_layers(BlobCache& cache, std::string_view side, std::span<const KeysValues> layers,
                  int64_t group, Backend& backend) {
  for (size_t i = 0; i < layers.size(); ++i) {
    std::vector<std::byte> bytes(static_cast<size_t>(layers[i].data.elements()));
    backend.download(layers[i].data, bytes.data());
    if (!cache.add(silence_name(side, i, group), bytes).has_value()) {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<std::shared_ptr<const Model>> Model::load(const std::shared_ptr<const TensorFile>& file,
                                                 Vocabulary vocabulary, const LoadOptions& options,
                                                 Backend& backend) {
  MYNAH_TRY(Checkpoint checkpoint, read_checkpoint(*file, options.name));
  std::shared_ptr<Model> model(new Model);
  model->options_ = options;
  model->config_ = checkpoint.config;
  model->backend_ = &backend;
  MYNAH_TRY(model->tokenizer_,
            WhisperTokenizer::create(std::move(vocabulary), checkpoint.config.n_vocab));
  if (model->tokenizer_->size() != checkpoint.config.n_vocab) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted a vocabulary of {} tokens, found one of {}", file->path,
                            checkpoint.config.n_vocab, model->tokenizer_->size()));
  }
  // The embedding table lies in the file: its bytes stay, the file's names and vocabulary go.
  const Weights weights(
      std::move(checkpoint.tensors),
      std::make_shared<const std::vector<std::shared_ptr<const void>>>(file->owners), backend,
      {.storage = options.storage, .precision = options.precision, .cache = options.cache.get()});
  MYNAH_TRY(model->encoder_, Encoder::load(weights / "encoder", model->config_));
  MYNAH_TRY(model->decoder_, Decoder::load(weights / "decoder", model->config_));
  model->steps_ = backend.make_step_runner();
  if (options.cache != nullptr) {
    (void)options.cache->commit();  // an unwritable cache costs time at the next start, no more
  }
  const std::vector<float> filters = mel_filters(model->config_.n_mels);
  model->filters_ = ops::from_host(backend, std::span<const float>(filters),
                                   {model->config_.n_mels, kFftSize / 2 + 1});
  model->files_ = file->mapped;
  model->release_idle_memory();
  return model;
}

void Model::release_idle_memory() const {
  backend_->release_idle_memory();
  for (const auto& file : files_) {
    file->release_pages(file->bytes());
  }
  if (options_.cache != nullptr) {
    options_.cache->release_pages();
  }
}

// A token's row brings the fifteen pages around it, which nobody reads: 6 MB after a short text.
void Model::release_table() const {
  const Tensor& table = decoder_.table();
  const std::span bytes(table.raw(), storage_bytes(table.dtype(), table.elements()));
  for (const auto& file : files_) {
    const std::span<const std::byte> all = file->bytes();
    if (bytes.data() >= all.data() && bytes.data() + bytes.size() <= all.data() + all.size()) {
      file->release_pages(bytes);
    }
  }
}

Tensor Model::log_mel(std::span<const AudioWindow> windows, Lengths& frames) const {
  frames.clear();
  Lengths samples;
  for (const AudioWindow& window : windows) {
    MYNAH_CHECK(window.frames % 2 == 0 && window.frames <= config_.window_frames(),
                "[log_mel] a window has an even number of frames, at most 30 seconds");
    frames.add(window.frames);
    samples.add(static_cast<int64_t>(window.samples.size()));
  }
  // Never empty, so that a window of nothing has an address.
  const Tensor waveform = ops::empty(*backend_, {std::max<int64_t>(1, samples.total())});
  for (size_t i = 0; i < windows.size(); ++i) {
    const Span span = samples[static_cast<int64_t>(i)];
    if (span.length > 0) {
      backend_->upload(windows[i].samples.data(), waveform.narrow(0, span.begin, span.length));
    }
  }
  return ops::log_mel(*backend_, waveform,
                      {.n_fft = kFftSize,
                       .hop = kHop,
                       .filters = &filters_,
                       .samples = samples.spans(),
                       .frames = frames.spans()});
}

bool Model::read_silence(SilenceCache& silence) const {
  if (options_.cache == nullptr) {
    return false;
  }
  const auto read = [&](std::string_view side, int64_t layers, int64_t heads, int64_t group,
                        std::vector<KeysValues>& out) {
    const KeysValues wanted{.rows = config_.n_audio_ctx / group,
                            .heads = heads,
                            .head_dim = config_.n_audio_state / heads,
                            .precision = options_.precision,
                            .data = {}};
    for (size_t i = 0; i < static_cast<size_t>(layers); ++i) {
      auto layer = read_layer(*options_.cache, silence_name(side, i, group), wanted, *backend_);
      if (!layer) {
        return false;
      }
      out.push_back(std::move(*layer));
    }
    return true;
  };
  SilenceCache found{.encoder = {}, .decoder = {}, .encoder_group = silence.encoder_group};
  if (!read("encoder", config_.n_audio_layer, config_.n_audio_head, found.encoder_group,
            found.encoder) ||
      !read("decoder", config_.n_text_layer, config_.n_text_head, 1, found.decoder)) {
    return false;
  }
  silence = std::move(found);
  return true;
}

void Model::compute_silence(SilenceCache& silence) const {
  Lengths frames;
  const AudioWindow nothing{.samples = {}, .frames = config_.window_frames()};
  const Tensor mel = log_mel(std::span(&nothing, 1), frames);  // (window_frames, n_mels)
  std::vector<Encoder::LayerKeys> kept;
  const Tensor states = encoder_.forward(mel, frames, nullptr, &kept);
  const int64_t group = silence.encoder_group;
  for (const Encoder::LayerKeys& layer : kept) {
    silence.encoder.push_back(ops::pack_keys_values(
        *backend_, mean_of_groups(*backend_, layer.keys, group),
        mean_of_groups(*backend_, layer.values, group), config_.n_audio_head, options_.precision));
  }
  for (std::vector<KeysValues>& layer :
       decoder_.cross_cache(states, encoder_.positions(frames)).layers) {
    silence.decoder.push_back(std::move(layer.front()));
  }
  if (options_.cache != nullptr &&
      write_layers(*options_.cache, "encoder", silence.encoder, group, *backend_) &&
      write_layers(*options_.cache, "decoder", silence.decoder, 1, *backend_)) {
    (void)options_.cache->commit();
  }
}

int64_t Model::frames_before_silence(int64_t samples) const {
  // A second after the samples is computed with them, so that the end of speech is heard in its own
  // surroundings; then whole groups of positions, two frames each. In float32, greedy, on the 96
  // clips of shared/speech: 224 word errors, half a second 228, a full window 219.
  constexpr int64_t kPadFrames = 100;
  constexpr int64_t kFrames = 2 * kSilenceGroup;
  const int64_t own = samples / kHop + kPadFrames;
  return std::min((own + kFrames - 1) / kFrames * kFrames, config_.window_frames());
}

const SilenceCache& Model::silence() const {
  std::call_once(silence_once_, [this] {
    silence_.encoder_group = silence_group(config_.n_audio_ctx);
    if (!read_silence(silence_)) {
      compute_silence(silence_);
    }
  });
  return silence_;
}

std::vector<LanguageGuess> Model::detect_language(const CrossCache& cross) const {
  const WhisperSpecialTokens& special = tokenizer_->special();
  const int64_t n = cross.lengths.count();
  KvCache cache = decoder_.new_cache(n, 1);
  const std::vector<int32_t> tokens(static_cast<size_t>(n), special.sot);
  std::vector<Lane> lanes;
  lanes.reserve(tokens.size());
  for (int64_t i = 0; i < n; ++i) {
    lanes.push_back({.slot = i, .count = 1, .utterance = i});
  }
  const Tensor logits = decoder_.logits(decoder_.forward(tokens, lanes, cache, cross));
  const Tensor languages =
      ops::contiguous(*backend_, logits.narrow(1, special.language_begin, special.n_languages));
  const Tensor probabilities = ops::softmax(*backend_, languages);  // (n, n_languages)
  const std::vector<int32_t> best = ops::to_host_i32(*backend_, ops::argmax(*backend_, languages));
  const std::vector<float> highest = ops::to_host(*backend_, ops::max(*backend_, probabilities));
  std::vector<LanguageGuess> guesses;
  guesses.reserve(best.size());
  for (size_t i = 0; i < best.size(); ++i) {
    guesses.push_back({special.language_begin + best[i], highest[i]});
  }
  return guesses;
}

}  // namespace mynah::whisper
