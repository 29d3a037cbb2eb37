// A state that plans where a small Whisper goes.
#pragma once

#include <cstdlib>
#include <string>

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
