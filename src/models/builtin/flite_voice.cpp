#include "models/builtin/flite_voice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>

extern "C" {
#include <flite/flite.h>
// No header has these.
cst_voice* register_cmu_us_slt(const char* folder);
cst_voice* register_cmu_us_rms(const char* folder);
}

#include "base/check.h"
#include "base/stop_scope.h"

namespace mynah {
namespace {

constexpr std::array<FliteVoice, 2> kVoices = {
    {{.name = "slt", .sex = "female"}, {.name = "rms", .sex = "male"}}};

// Flite's global state, with its voices registered.
std::mutex& flite_mutex() {
  static std::mutex mutex;
  return mutex;
}

cst_voice* find_voice(std::string_view name) {
  static const int kReady = flite_init();
  static cst_voice* const kSlt = register_cmu_us_slt(nullptr);
  static cst_voice* const kRms = register_cmu_us_rms(nullptr);
  MYNAH_CHECK(kReady == 0 || kReady == 1);
  return name == "rms" ? kRms : kSlt;
}

struct DeleteUtterance {
  void operator()(cst_utterance* utterance) const { delete_utterance(utterance); }
};

// The run of the text that a segment is said for, as Flite's Token relation has it; null for a
// pause.
const cst_item* token_of(const cst_item* segment) {
  return path_to_item(segment, "R:SylStructure.parent.parent.R:Token.parent");
}

}  // namespace

std::span<const FliteVoice> flite_voices() {
  return kVoices;
}

Result<FliteSpeech> speak_with_flite(const std::string& text, std::string_view voice,
                                     float stretch) {
  MYNAH_CHECK(stretch > 0, "[flite] wants a stretch above 0");
  const std::scoped_lock lock(flite_mutex());
  if (stop_here().stop_requested()) {
    return fail(ErrorCode::Cancelled, "stopped");
  }
  // The noise of its consonants comes from rand() (flite cst_mlsa.c): a text sounds the same
  // whatever was said before it, so that a book that was stopped ends as one that was not.
  std::srand(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp): sameness is what is wanted
  cst_voice* const speaker = find_voice(voice);
  feat_set_float(speaker->features, "duration_stretch", stretch);
  const std::unique_ptr<cst_utterance, DeleteUtterance> utterance(
      flite_synth_text(text.c_str(), speaker));
  FliteSpeech speech;
  const cst_wave* const wave = utterance ? utt_wave(utterance.get()) : nullptr;
  if (wave == nullptr || cst_wave_num_samples(wave) <= 0) {
    return speech;
  }
  speech.rate_hz = cst_wave_sample_rate(wave);
  const std::span samples(cst_wave_samples(wave), static_cast<size_t>(cst_wave_num_samples(wave)));
  speech.samples.reserve(samples.size());
  for (const short sample : samples) {
    speech.samples.push_back(static_cast<float>(sample) / 32768.0F);
  }
  std::vector<const cst_item*> tokens;
  for (const cst_item* token = relation_head(utt_relation(utterance.get(), "Token"));
       token != nullptr; token = item_next(token)) {
    tokens.push_back(token);
  }
  size_t begin = 0;
  for (const cst_item* segment = relation_head(utt_relation(utterance.get(), "Segment"));
       segment != nullptr; segment = item_next(segment)) {
    const double end_s = item_feat_float(segment, "end");
    const size_t end =
        std::min(speech.samples.size(), static_cast<size_t>(std::lround(end_s * speech.rate_hz)));
    if (const cst_item* token = token_of(segment)) {
      const auto place = std::ranges::find_if(
          tokens, [token](const cst_item* known) { return item_equal(known, token) != 0; });
      if (place != tokens.end()) {
        speech.phones.push_back({.name = item_name(segment),
                                 .word = static_cast<size_t>(place - tokens.begin()),
                                 .begin = begin,
                                 .end = end});
      }
    }
    begin = end;
  }
  return speech;
}

}  // namespace mynah
