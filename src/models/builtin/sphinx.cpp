#include "models/builtin/sphinx.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include <err.h>
#include <fmt/format.h>
#include <pocketsphinx.h>

// Set by CMakeLists.txt to what pkg-config says.
#ifndef MYNAH_POCKETSPHINX_MODELS
#error "MYNAH_POCKETSPHINX_MODELS is not set"
#endif

namespace mynah {

namespace {

struct ModelPaths {
  std::string acoustic;
  std::string language;
  std::string dictionary;
};

ModelPaths model_paths() {
  const std::string folder = std::string(MYNAH_POCKETSPHINX_MODELS) + "/en-us/";
  return {.acoustic = folder + "en-us",
          .language = folder + "en-us.lm.bin",
          .dictionary = folder + "cmudict-en-us.dict"};
}

struct FreeDecoder {
  void operator()(ps_decoder_t* decoder) const { ps_free(decoder); }
};

struct FreeConfig {
  void operator()(cmd_ln_t* config) const { cmd_ln_free_r(config); }
};

// Sentence ends, silence and noises are no words: "<s>", "<sil>", "[NOISE]", "++BREATH++".
bool is_word(std::string_view text) {
  return !text.empty() && text.front() != '<' && text.front() != '[' && !text.starts_with("++");
}

// "read(2)" is another pronunciation of "read".
std::string without_variant(std::string_view text) {
  return std::string(text.substr(0, text.find('(')));
}

int16_t to_int16(float sample) {
  constexpr float kFullScale = 32768.0F;
  return static_cast<int16_t>(
      std::lround(std::clamp(sample * kFullScale, -kFullScale, kFullScale - 1)));
}

std::unexpected<Error> decoder_failed(std::string_view what) {
  return fail(ErrorCode::Device, fmt::format("PocketSphinx could not {}", what));
}

}  // namespace

struct SphinxDecoder::State {
  std::unique_ptr<cmd_ln_t, FreeConfig> config;
  std::unique_ptr<ps_decoder_t, FreeDecoder> decoder;
  std::vector<int16_t> samples;

  Status process(std::span<const float> values, bool whole_utterance) {
    samples.resize(values.size());
    std::ranges::transform(values, samples.begin(), to_int16);
    if (!values.empty() && ps_process_raw(decoder.get(), samples.data(), samples.size(), FALSE,
                                          whole_utterance ? TRUE : FALSE) < 0) {
      return decoder_failed("decode samples");
    }
    return {};
  }
};

SphinxDecoder::SphinxDecoder(std::unique_ptr<State> state) : state_(std::move(state)) {}

SphinxDecoder::~SphinxDecoder() = default;
SphinxDecoder::SphinxDecoder(SphinxDecoder&&) noexcept = default;
SphinxDecoder& SphinxDecoder::operator=(SphinxDecoder&&) noexcept = default;

Status SphinxDecoder::check_installed() {
  const ModelPaths paths = model_paths();
  for (const std::string& path : {paths.acoustic, paths.language, paths.dictionary}) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
      return fail(ErrorCode::Environment,
                  fmt::format("the built-in recogniser wanted PocketSphinx's US-English model, "
                              "found no {}: install the package pocketsphinx-en-us, or pull a "
                              "model: mynah pull tiny.en",
                              path));
    }
  }
  return {};
}

Result<SphinxDecoder> SphinxDecoder::open() {
  MYNAH_TRY_STATUS(check_installed());
  const ModelPaths paths = model_paths();
  err_set_logfp(nullptr);  // else it tells its life on stderr
  auto state = std::make_unique<State>();
  // Times count every frame only where none is removed.
  state->config.reset(cmd_ln_init(nullptr, ps_args(), TRUE, "-hmm", paths.acoustic.c_str(), "-lm",
                                  paths.language.c_str(), "-dict", paths.dictionary.c_str(),
                                  "-remove_silence", "no", nullptr));
  if (state->config == nullptr) {
    return decoder_failed("take its options: another version than 5prealpha is installed");
  }
  state->decoder.reset(ps_init(state->config.get()));
  if (state->decoder == nullptr) {
    return fail(ErrorCode::Environment,
                fmt::format("PocketSphinx could not load {}: reinstall the package "
                            "pocketsphinx-en-us",
                            paths.acoustic));
  }
  return SphinxDecoder(std::move(state));
}

Result<std::vector<SphinxWord>> SphinxDecoder::decode(std::span<const float> samples) {
  MYNAH_TRY_STATUS(begin());
  MYNAH_TRY_STATUS(state_->process(samples, true));
  MYNAH_TRY_STATUS(end());
  return words();
}

Status SphinxDecoder::begin() {
  if (ps_start_utt(state_->decoder.get()) < 0) {
    return decoder_failed("begin an utterance");
  }
  return {};
}

Status SphinxDecoder::push(std::span<const float> samples) {
  return state_->process(samples, false);
}

std::string SphinxDecoder::partial() const {
  const char* text = ps_get_hyp(state_->decoder.get(), nullptr);
  return text == nullptr ? std::string() : std::string(text);
}

Status SphinxDecoder::end() {
  if (ps_end_utt(state_->decoder.get()) < 0) {
    return decoder_failed("end an utterance");
  }
  return {};
}

std::vector<SphinxWord> SphinxDecoder::words() const {
  ps_decoder_t* decoder = state_->decoder.get();
  const double frame_s = 1.0 / static_cast<double>(cmd_ln_int_r(state_->config.get(), "-frate"));
  std::vector<SphinxWord> words;
  // PocketSphinx counts frames through all utterances; this one's begin with its first segment.
  std::optional<int> begin;
  for (ps_seg_t* segment = ps_seg_iter(decoder); segment != nullptr;
       segment = ps_seg_next(segment)) {
    int first = 0;
    int last = 0;
    ps_seg_frames(segment, &first, &last);
    begin = begin.value_or(first);
    const char* text = ps_seg_word(segment);
    if (text == nullptr || !is_word(text)) {
      continue;
    }
    const int32 log_probability = ps_seg_prob(segment, nullptr, nullptr, nullptr);
    const double probability = logmath_exp(ps_get_logmath(decoder), log_probability);
    words.push_back({.text = without_variant(text),
                     .start_s = (first - *begin) * frame_s,
                     .end_s = (last + 1 - *begin) * frame_s,
                     .probability = static_cast<float>(std::min(probability, 1.0))});
  }
  return words;
}

}  // namespace mynah
