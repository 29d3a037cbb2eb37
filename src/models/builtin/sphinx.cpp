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
#include <sphinxbase/fe.h>
#include <sphinxbase/feat.h>

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

std::vector<int16_t> to_int16(std::span<const float> samples) {
  constexpr float kFullScale = 32768.0F;
  std::vector<int16_t> all(samples.size());
  std::ranges::transform(samples, all.begin(), [](float sample) {
    return static_cast<int16_t>(
        std::lround(std::clamp(sample * kFullScale, -kFullScale, kFullScale - 1)));
  });
  return all;
}

std::unexpected<Error> decoder_failed(std::string_view what) {
  return fail(ErrorCode::Device, fmt::format("PocketSphinx could not {}", what));
}

// Levels of the spectrum's shape, a row a frame of 10 ms, as PocketSphinx's own front end makes
// them.
class Cepstra {
 public:
  // `is_whole`: what is left at the end is a frame, too.
  Cepstra(fe_t* front_end, std::span<const int16_t> samples, bool is_whole)
      : width_(static_cast<size_t>(fe_get_output_size(front_end))) {
    const int16_t* next = samples.data();
    size_t left = samples.size();
    int32 frames = 0;
    fe_start_utt(front_end);
    fe_process_frames(front_end, nullptr, &left, nullptr, &frames, nullptr);
    values_.resize((static_cast<size_t>(frames) + 1) * width_);
    for (size_t i = 0; i <= static_cast<size_t>(frames); ++i) {
      rows_.push_back(values_.data() + i * width_);
    }
    left = samples.size();
    fe_process_frames(front_end, &next, &left, rows_.data(), &frames, nullptr);
    int32 last = 0;
    fe_end_utt(front_end, rows_[static_cast<size_t>(frames)], &last);
    rows_.resize(static_cast<size_t>(frames) + (is_whole && last > 0 ? 1 : 0));
  }

  // Takes the mean of all frames from each, but of those without energy, as PocketSphinx does for a
  // whole utterance.
  void normalise() {
    std::vector<double> mean(width_);
    size_t count = 0;
    for (const mfcc_t* row : rows_) {
      for (size_t i = 0; row[0] >= 0 && i < width_; ++i) {
        mean[i] += row[i];
      }
      count += row[0] >= 0 ? 1 : 0;
    }
    for (mfcc_t* row : rows_) {
      for (size_t i = 0; count > 0 && i < width_; ++i) {
        row[i] -= static_cast<mfcc_t>(mean[i] / static_cast<double>(count));
      }
    }
  }

  // Its last frame is there so many times more.
  void lengthen(int frames) {
    rows_.insert(rows_.end(), rows_.empty() ? 0 : static_cast<size_t>(frames),
                 rows_.empty() ? nullptr : rows_.back());
  }

  [[nodiscard]] std::span<mfcc_t*> rows() { return rows_; }

 private:
  size_t width_;
  std::vector<mfcc_t> values_;
  std::vector<mfcc_t*> rows_;
};

}  // namespace

struct SphinxDecoder::State {
  std::unique_ptr<cmd_ln_t, FreeConfig> config;
  std::unique_ptr<ps_decoder_t, FreeDecoder> decoder;
  bool is_open = false;          // an utterance was begun, and not ended
  std::vector<int16_t> drafted;  // the samples of the draft that is open
  size_t drafted_frames = 0;     // of them: those that were decoded

  // What was stopped, or drafted, is ended when the next one begins: that may take some tenths of a
  // second, for which nobody waits who stops.
  Status begin() {
    drafted.clear();
    drafted_frames = 0;
    if (std::exchange(is_open, false)) {
      MYNAH_TRY_STATUS(end());
    }
    if (ps_start_utt(decoder.get()) < 0) {
      return decoder_failed("begin an utterance");
    }
    is_open = true;
    // Has it keep all frames, which the second pass reads again; it forgets them where they come in
    // pieces, else.
    ps_process_raw(decoder.get(), nullptr, 0, TRUE, FALSE);
    return {};
  }

  // Decodes frames that come next; false: it was stopped before the last one.
  Result<bool> push(std::span<mfcc_t*> rows, FunctionRef<bool()> stopped) {
    constexpr size_t kPiece = 25;  // a quarter of a second of sound, some 40 ms of work
    while (!rows.empty()) {
      if (stopped()) {
        return false;
      }
      const size_t count = std::min(kPiece, rows.size());
      if (ps_process_cep(decoder.get(), rows.data(), static_cast<int>(count), FALSE, FALSE) < 0) {
        return decoder_failed("decode samples");
      }
      rows = rows.subspan(count);
    }
    return !stopped();
  }

  // The second pass, and the end.
  Status end() {
    is_open = false;
    if (ps_end_utt(decoder.get()) < 0) {
      return decoder_failed("end an utterance");
    }
    return {};
  }

  [[nodiscard]] std::vector<SphinxWord> words() const;
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
  // Else it tells its life on stderr: its settings of the thread that opens it, and the rest of
  // any.
  err_set_logfp(nullptr);
  static std::once_flag silent;
  std::call_once(silent, [] { err_set_callback(nullptr, nullptr); });
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
  ps_get_feat(state->decoder.get())->cmn = CMN_NONE;  // Cepstra::normalise() does that
  return SphinxDecoder(std::move(state));
}

Result<std::vector<SphinxWord>> SphinxDecoder::decode(std::span<const float> samples,
                                                      FunctionRef<bool()> stopped) {
  MYNAH_TRY_STATUS(state_->begin());
  Cepstra cepstra(ps_get_fe(state_->decoder.get()), to_int16(samples), true);
  cepstra.normalise();
  if (cepstra.rows().empty()) {
    return std::vector<SphinxWord>();
  }
  // Changes around a frame are looked at, also around the last one.
  cepstra.lengthen(feat_window_size(ps_get_feat(state_->decoder.get())));
  MYNAH_TRY(const bool is_whole, state_->push(cepstra.rows(), stopped));
  if (!is_whole) {
    return std::vector<SphinxWord>();
  }
  MYNAH_TRY_STATUS(state_->end());
  return state_->words();
}

Result<std::string> SphinxDecoder::draft(std::span<const float> samples,
                                         FunctionRef<bool()> stopped) {
  std::vector<int16_t> all = to_int16(samples);
  const std::vector<int16_t>& before = state_->drafted;
  if (before.empty() || before.size() > all.size() ||
      !std::equal(before.begin(), before.end(), all.begin())) {
    MYNAH_TRY_STATUS(state_->begin());
  }
  Cepstra cepstra(ps_get_fe(state_->decoder.get()), all, false);
  cepstra.normalise();  // what is new, by all that came: the rest stays as it was
  const std::span<mfcc_t*> rows = cepstra.rows();
  MYNAH_TRY(const bool is_whole, state_->push(rows.subspan(state_->drafted_frames), stopped));
  state_->drafted_frames = rows.size();
  state_->drafted = std::move(all);
  if (!is_whole) {
    state_->drafted.clear();  // some of it was not decoded
    return std::string();
  }
  const char* text = ps_get_hyp(state_->decoder.get(), nullptr);
  return text == nullptr ? std::string() : std::string(text);
}

std::vector<SphinxWord> SphinxDecoder::State::words() const {
  const double frame_s = 1.0 / static_cast<double>(cmd_ln_int_r(config.get(), "-frate"));
  std::vector<SphinxWord> words;
  // PocketSphinx counts frames through all utterances; this one's begin with its first segment.
  std::optional<int> begin;
  for (ps_seg_t* segment = ps_seg_iter(decoder.get()); segment != nullptr;
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
    const double probability = logmath_exp(ps_get_logmath(decoder.get()), log_probability);
    words.push_back({.text = without_variant(text),
                     .start_s = (first - *begin) * frame_s,
                     .end_s = (last + 1 - *begin) * frame_s,
                     .probability = static_cast<float>(std::min(probability, 1.0))});
  }
  return words;
}

}  // namespace mynah
