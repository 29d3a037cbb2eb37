// A state that plans where a small Whisper goes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/whisper_file.h"
#include "place/made_up_placer.h"

namespace mynah::place::test {

// A small Whisper's words mean nothing: a window is not heard again since they are in doubt, and
// ends after a few.
inline DecodingOptions quick_decoding() {
  DecodingOptions options;
  options.whisper.temperatures = {0};
  options.whisper.max_new_tokens = 4;
  return options;
}

// Seconds of what is no speech; each is another.
inline std::vector<float> noise(uint32_t seed, double seconds) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> loudness(-0.3F, 0.3F);
  std::vector<float> samples(static_cast<size_t>(seconds * kHearingRate_hz));
  std::ranges::generate(samples, [&] { return loudness(generator); });
  return samples;
}

// The texts of so many calls with the same sound.
inline std::vector<std::string> hear(const WindowModel& model, std::span<const float> sound,
                                     size_t times) {
  WindowTask task;
  task.samples = sound;
  std::vector<std::string> texts;
  const auto decoder = model.decoder(quick_decoding());
  EXPECT_TRUE(decoder);
  for (size_t i = 0; i < times; ++i) {
    const auto heard = (*decoder)->decode(std::span(&task, 1), {});
    EXPECT_TRUE(heard) << heard.error().message;
    texts.push_back(heard ? heard->front().text() : std::string());
  }
  return texts;
}

// A small Whisper, and a machine without a card but the simulated one.
class PlacedWhisper : public ::testing::Test {
 protected:
  PlacedWhisper() {
    file_.path = cli::write_tiny_whisper(machine_.root / "model.gguf");
    ::unsetenv("MYNAH_WORKER_MANNER");
  }

  [[nodiscard]] PlacerOptions placer(const std::string& devices) const {
    return placer_options(machine_, devices);
  }

  mynah::test::MadeUpMachine machine_;
  WindowsFile file_;
};

}  // namespace mynah::place::test
