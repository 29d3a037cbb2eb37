// Whole models, with weights from a seed: what each stage takes.
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "check.h"
#include "models/whisper/model.h"
#include "models/whisper/rules.h"
#include "ops/ops.h"
#include "random_checkpoint.h"
#include "whisper/stages.h"

namespace mynah::gpucheck {

namespace {

using bench::encode;
using bench::Encoded;
using bench::signal;
using bench::turned;
using whisper::Config;
using whisper::Model;

struct Size {
  const char* name;
  Config config;
};

Config config_of(int64_t width, int64_t audio_layers, int64_t text_layers, int64_t n_mels,
                 int64_t n_vocab) {
  Config c;
  c.n_mels = n_mels;
  c.n_audio_state = c.n_text_state = width;
  c.n_audio_head = c.n_text_head = width / 64;
  c.n_audio_layer = audio_layers;
  c.n_text_layer = text_layers;
  c.n_vocab = n_vocab;
  return c;
}

// openai/whisper's sizes of these models.
std::vector<Size> sizes(bool quick) {
  if (quick) {
    Config small = config_of(64, 1, 1, 80, 51864);
    small.n_audio_ctx = 100;
    return {{"quick", small}};
  }
  return {{"base", config_of(512, 6, 6, 80, 51865)},
          {"small", config_of(768, 12, 12, 80, 51865)},
          {"large-v3-turbo", config_of(1280, 32, 4, 128, 51866)},
          {"large-v3", config_of(1280, 32, 32, 128, 51866)}};
}

// Bytes that one token's step must read at least: the decoder's matrices, the table of words, and
// the keys and values of the audio, in f16.
double step_bytes(const Config& c) {
  const double d = static_cast<double>(c.n_text_state);
  const double layers = static_cast<double>(c.n_text_layer);
  const double audio = 2.0 * static_cast<double>(c.n_audio_ctx) * d * layers;
  return 2.0 * (14.0 * d * d * layers + static_cast<double>(c.n_vocab) * d + audio);
}

// Multiplications and additions of the encoder over all positions of a window.
double encoder_operations(const Config& c) {
  const double d = static_cast<double>(c.n_audio_state);
  const double positions = static_cast<double>(c.n_audio_ctx);
  const double layer = 24.0 * d * d * positions + 4.0 * positions * positions * d;
  const double convolutions =
      2.0 * 3.0 * d * (2.0 * positions * static_cast<double>(c.n_mels) + positions * d);
  return layer * static_cast<double>(c.n_audio_layer) + convolutions;
}

class ModelCheck {
 public:
  ModelCheck(const Size& size, const Subject& subject, const Options& options)
      : size_(size), subject_(subject), options_(options) {}

  Status run() {
    const auto file = random_checkpoint(size_.config, *subject_.pool);
    const size_t before = subject_.backend->memory_held();
    const auto start = std::chrono::steady_clock::now();
    MYNAH_TRY(model_, load(file, DType::F16, Precision::Fast, *subject_.backend));
    subject_.backend->synchronize();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (const Status right = compare(file); !right) {
      return right;
    }
    (void)model_->silence();
    time_encoder(took.count(), before);
    time_decoder();
    MYNAH_TRY_STATUS(time_speech_to_text());
    return {};
  }

 private:
  static Result<std::shared_ptr<const Model>> load(const std::shared_ptr<const TensorFile>& file,
                                                   DType storage, Precision precision,
                                                   Backend& backend) {
    Config config;
    config.n_vocab = file->find("decoder.token_embedding.weight")->shape[0];
    const whisper::StageOptions stage{
        .backend = &backend, .storage = storage, .precision = precision, .cache = nullptr};
    return Model::load(file, some_vocabulary(config),
                       {.name = "bench", .encoder = stage, .decoder = stage});
  }

  // Two seconds on the card and, exactly, on the processor.
  Status compare(const std::shared_ptr<const TensorFile>& file) const {
    // The last model's encoder is the one before's.
    if (size_.config.n_text_layer == 32) {
      return {};
    }
    const auto brief = signal(options_.quick ? 0.5 : 2.0);
    MYNAH_TRY(const auto exact, load(file, DType::F32, Precision::Exact, *subject_.cpu));
    const auto states = [&](const Model& model, Backend& backend) {
      const int64_t frames = std::min<int64_t>(200, model.config().window_frames());
      const whisper::AudioWindow window{.samples = brief, .frames = frames};
      Lengths lengths;
      const Tensor mel = model.log_mel(std::span(&window, 1), lengths);
      return ops::to_host(backend, model.encoder().forward(mel, lengths));
    };
    const double difference =
        turned(states(*exact, *subject_.cpu), states(*model_, *subject_.backend));
    say({{"row", "model"}, {"name", size_.name}, {"stage", "difference"}, {"value", difference}});
    // Half precision turns a layer's result by some 1e-6 and 64 matrices' by 1e-4; a wrong kernel
    // by a right angle.
    constexpr double kMost = 0.01;
    if (!(difference < kMost)) {
      return fail(ErrorCode::Device,
                  fmt::format("{}: the encoder's result is turned by {}", size_.name, difference));
    }
    return {};
  }

  void say_stage(const char* stage, double seconds, Json more = Json::object()) const {
    Json row{{"row", "model"}, {"name", size_.name}, {"stage", stage}, {"seconds", seconds}};
    row.update(more);
    say(row);
  }

  double seconds(const std::function<void()>& work) const {
    return seconds_of(*subject_.backend, options_.quick, work);
  }

  void time_encoder(double load_seconds, size_t held_before) const {
    say_stage("load", load_seconds,
              {{"bytes_held", subject_.backend->memory_held() - held_before}});
    const auto whole = signal(30);
    const auto ten = signal(options_.quick ? 0.5 : 10);
    say_stage("encoder 30 s", seconds([&] { (void)encode(*model_, whole, false); }),
              {{"operations", encoder_operations(size_.config)}});
    if (!options_.quick) {
      say_stage("encoder 10 s, cached silence", seconds([&] { (void)encode(*model_, ten, true); }));
      say_stage("encoder 16 x 30 s", seconds([&] { (void)encode(*model_, whole, false, 16); }),
                {{"operations", 16 * encoder_operations(size_.config)}});
    }
  }

  // A token's step with 32 before it: the middle of a usual window.
  void time_decoder() const {
    Backend& backend = *subject_.backend;
    const auto& decoder = model_->decoder();
    const Encoded heard = encode(*model_, signal(30), false);
    const auto cross = decoder.cross_cache(heard.states, heard.lengths);
    constexpr int64_t kBefore = 32;
    const int64_t tokens = options_.quick ? 2 : 64;
    const std::vector<int32_t> prompt(kBefore, 50);
    std::vector<double> rounds;
    for (int round = 0; round < (options_.quick ? 1 : 5); ++round) {
      KvCache cache = decoder.new_cache(1, kBefore + tokens + 1);
      const Lane first{.sequence = cache.add(), .count = kBefore};
      const Lane next{.sequence = first.sequence};
      (void)decoder.forward(prompt, {&first, 1}, cache, cross);
      backend.synchronize();
      const auto start = std::chrono::steady_clock::now();
      for (int64_t i = 0; i < tokens; ++i) {
        const int32_t token = 100 + static_cast<int32_t>(i);
        (void)ops::argmax(backend,
                          decoder.logits(decoder.forward({&token, 1}, {&next, 1}, cache, cross)));
      }
      backend.synchronize();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      rounds.push_back(took.count() / static_cast<double>(tokens));
    }
    std::ranges::sort(rounds);
    say_stage("decoder, a token", rounds[rounds.size() / 2], {{"bytes", step_bytes(size_.config)}});
  }

  // Samples to forty tokens, all that a window takes: 10 seconds, and 16 windows of 30.
  Status time_speech_to_text() const {
    const auto& special = model_->tokenizer().special();
    MYNAH_TRY(const auto rules,
              whisper::TokenRules::create(model_->tokenizer(),
                                          {.timestamps = false, .suppress_tokens = {special.eot}},
                                          *subject_.backend));
    constexpr int kTokens = 40;
    size_t made = 0;
    const auto hear = [&](const std::vector<float>& samples, bool cached, size_t windows) {
      const Encoded heard = encode(*model_, samples, cached, windows);
      auto cross = model_->decoder().cross_cache(heard.states, heard.lengths);
      if (cached) {
        cross.silence = &model_->silence();
      }
      std::vector<whisper::GenerateRequest> requests;
      for (size_t i = 0; i < windows; ++i) {
        requests.push_back(
            {.utterance = static_cast<int64_t>(i), .prompt = {special.sot, special.no_timestamps}});
      }
      const auto generated = model_->generator(rules).run(
          requests, {.max_new_tokens = options_.quick ? 3 : kTokens}, cross, {});
      made = 0;
      for (const whisper::Generated& one : generated) {
        made += one.tokens.size();
      }
    };
    const auto brief = signal(options_.quick ? 0.5 : 10);
    const double one = seconds([&] { hear(brief, !options_.quick, 1); });
    say_stage("10 s to 40 tokens", one, {{"tokens", made}, {"audio_s", 10}});
    if (!options_.quick) {
      const auto whole = signal(30);
      const double batch = seconds([&] { hear(whole, false, 16); });
      say_stage("16 x 30 s to 40 tokens each", batch, {{"tokens", made}, {"audio_s", 480}});
    }
    return {};
  }

  const Size& size_;
  const Subject& subject_;
  const Options& options_;
  std::shared_ptr<const Model> model_;
};

}  // namespace

Status check_models(const Options& options) {
  MYNAH_TRY(const Subject subject, open_subject(options));
  for (const Size& size : sizes(options.quick)) {
    ModelCheck check(size, subject, options);
    MYNAH_TRY_STATUS(check.run());
    subject.backend->release_idle_memory();
  }
  return {};
}

}  // namespace mynah::gpucheck
