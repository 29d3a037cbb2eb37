#include "models/whisper/model.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"

namespace mynah::whisper {
namespace {

Weights weights_of(const std::vector<StoredTensor>& tensors,
                   const std::shared_ptr<const void>& owner, const StageOptions& stage) {
  return {tensors,
          owner,
          *stage.backend,
          {.storage = stage.storage, .precision = stage.precision, .cache = stage.cache.get()}};
}

}  // namespace

Result<std::shared_ptr<const Model>> Model::load(const std::shared_ptr<const TensorFile>& file,
                                                 Vocabulary vocabulary,
                                                 const LoadOptions& options) {
  MYNAH_TRY(const Checkpoint checkpoint, read_checkpoint(*file, options.name));
  MYNAH_TRY(ModelHeader header, ModelHeader::create(options.name, checkpoint.config,
                                                    std::move(vocabulary), file->path));
  return load(*file, checkpoint, std::make_shared<const ModelHeader>(std::move(header)),
              {.encoder = options.encoder, .decoder = options.decoder});
}

Result<std::shared_ptr<const Model>> Model::load(const TensorFile& file,
                                                 const Checkpoint& checkpoint,
                                                 std::shared_ptr<const ModelHeader> header,
                                                 const Stages& stages) {
  std::shared_ptr<Model> model(new Model);
  model->stages_ = stages;
  model->header_ = std::move(header);
  // The embedding table lies in the file: its bytes stay, the file's names and vocabulary go.
  const auto owner = std::make_shared<const std::vector<std::shared_ptr<const void>>>(file.owners);
  MYNAH_TRY(model->encoder_,
            AudioEncoder::load(weights_of(checkpoint.tensors, owner, stages.encoder) / "encoder",
                               {.mels = model->config().n_mels,
                                .positions = model->config().n_audio_ctx,
                                .width = model->config().n_audio_state,
                                .heads = model->config().n_audio_head,
                                .layers = model->config().n_audio_layer}));
  MYNAH_TRY(model->decoder_,
            Decoder::load(weights_of(checkpoint.tensors, owner, stages.decoder) / "decoder",
                          model->config()));
  model->steps_ = stages.decoder.backend->make_step_runner();
  for (const StageOptions* stage : {&stages.encoder, &stages.decoder}) {
    if (stage->cache != nullptr) {
      (void)stage->cache->commit();  // an unwritable cache costs time at the next start, no more
    }
  }
  const std::vector<float> filters = mel_filters(model->config().n_mels);
  model->filters_ = ops::from_host(*stages.encoder.backend, std::span<const float>(filters),
                                   {model->config().n_mels, kMelFft / 2 + 1});
  model->files_ = file.mapped;
  model->release_idle_memory();
  return model;
}

bool Model::together() const {
  return share_tensors(encoder_backend(), decoder_backend());
}

std::string Model::device() const {
  const std::string first = encoder_backend().device().str();
  const std::string second = decoder_backend().device().str();
  return first == second ? first : first + "," + second;
}

int Model::parts() const {
  return together() ? encoder_backend().parts() : 1;
}

void Model::run_parts(int parts, FunctionRef<void(int)> fn) const {
  MYNAH_CHECK(parts <= this->parts(), "[run_parts] more parts than the devices have");
  if (together()) {
    encoder_backend().run_parts(parts, fn);
  } else {
    fn(0);
  }
}

CrossCache Model::cross_cache(const Tensor& states, const Lengths& frames) const {
  return decoder_.cross_cache(ops::hand_over(encoder_backend(), decoder_backend(), states),
                              encoder_.positions(frames));
}

void Model::release_idle_memory() const {
  encoder_backend().release_idle_memory();
  if (!together()) {
    decoder_backend().release_idle_memory();
  }
  for (const auto& file : files_) {
    file->release_pages(file->bytes());
  }
  for (const StageOptions* stage : {&stages_.encoder, &stages_.decoder}) {
    if (stage->cache != nullptr) {
      stage->cache->release_pages();
    }
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
    MYNAH_CHECK(window.frames % 2 == 0 && window.frames <= config().window_frames(),
                "[log_mel] a window has an even number of frames, at most 30 seconds");
    frames.add(window.frames);
    samples.add(static_cast<int64_t>(window.samples.size()));
  }
  Backend& backend = encoder_backend();
  // Never empty, so that a window of nothing has an address.
  const Tensor waveform = ops::empty(backend, {std::max<int64_t>(1, samples.total())});
  for (size_t i = 0; i < windows.size(); ++i) {
    const Span span = samples[static_cast<int64_t>(i)];
    if (span.length > 0) {
      backend.upload(windows[i].samples.data(), waveform.narrow(0, span.begin, span.length));
    }
  }
  return ops::log_mel(backend, waveform,
                      {.n_fft = kMelFft,
                       .hop = kMelHop,
                       .filters = &filters_,
                       .samples = samples.spans(),
                       .frames = frames.spans()});
}

std::vector<LanguageGuess> Model::detect_language(const CrossCache& cross) const {
  const WhisperSpecialTokens& special = tokenizer().special();
  Backend& backend = decoder_backend();
  const int64_t n = cross.lengths.count();
  KvCache cache = decoder_.new_cache(n, 1);
  const std::vector<int32_t> tokens(static_cast<size_t>(n), special.sot);
  std::vector<Lane> lanes;
  lanes.reserve(tokens.size());
  for (int64_t i = 0; i < n; ++i) {
    lanes.push_back({.sequence = cache.add(), .count = 1, .context = i});
  }
  const Tensor logits = decoder_.logits(decoder_.forward(tokens, lanes, cache, cross));
  const Tensor languages =
      ops::contiguous(backend, logits.narrow(1, special.language_begin, special.n_languages));
  const Tensor probabilities = ops::softmax(backend, languages);  // (n, n_languages)
  const std::vector<int32_t> best = ops::to_host_i32(backend, ops::argmax(backend, languages));
  const std::vector<float> highest = ops::to_host(backend, ops::max(backend, probabilities));
  std::vector<LanguageGuess> guesses;
  guesses.reserve(best.size());
  for (size_t i = 0; i < best.size(); ++i) {
    guesses.push_back({special.language_begin + best[i], highest[i]});
  }
  return guesses;
}

}  // namespace mynah::whisper
