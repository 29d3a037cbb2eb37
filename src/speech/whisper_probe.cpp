#include "speech/whisper_probe.h"

#include <algorithm>
#include <span>

#include "ops/ops.h"

namespace mynah {
namespace {

constexpr int64_t kFrames = 100;  // of 10 ms
constexpr size_t kStates = 512;
constexpr size_t kLogits = 256;
// About what is said in a second.
constexpr int kTokens = 5;

}  // namespace

Result<Probe> probe_whisper(const whisper::Model& model) {
  const int64_t frames_wanted = std::min(kFrames, model.config().window_frames());
  const std::vector<float> sound =
      probe_sound(static_cast<size_t>(frames_wanted) * static_cast<size_t>(whisper::kHop));
  const whisper::AudioWindow window{.samples = sound, .frames = frames_wanted};
  Lengths frames;
  const Tensor mel = model.log_mel(std::span(&window, 1), frames);
  const Tensor states = model.encoder().forward(mel, frames);
  Probe probe;
  probe.sound_s = static_cast<double>(sound.size()) / whisper::kSampleRate_hz;
  probe.stages.push_back(
      {.stage = "stt.encoder",
       .values = spread_values(ops::to_host(model.encoder_backend(), states), kStates)});

  const whisper::CrossCache cross = model.cross_cache(states, frames);
  // English, where it knows others too.
  const int32_t language =
      model.config().multilingual() ? model.tokenizer().special().language_begin : -1;
  const std::vector<int32_t> start = model.tokenizer().sot_sequence(language, false);
  KvCache cache = model.decoder().new_cache(1, static_cast<int64_t>(start.size()));
  const whisper::Lane lane{.slot = 0, .count = std::ssize(start), .utterance = 0};
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

}  // namespace mynah
