// A TensorFlow Lite file from anywhere as a wake word: it is refused, or two steps of it compute
// something between two numbers.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "formats/tflite.h"
#include "models/wake_word/network.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mynah::wake_word;
  const auto file = mynah::MappedFile::from_bytes(std::as_bytes(std::span(data, size)), "fuzz");
  const auto model = mynah::read_tflite(file);
  if (!model) {
    MYNAH_CHECK(!model.error().message.empty(), "an error without a message");
    return 0;
  }
  const auto network = WakeNetwork::load(*model);
  if (!network) {
    MYNAH_CHECK(!network.error().message.empty(), "an error without a message");
    return 0;
  }
  WakeState state = network->initial_state();
  const std::vector<FeatureFrame> frames(network->frames_per_step(), FeatureFrame{400, 3, 660});
  for (int step = 0; step < 2; ++step) {
    MYNAH_CHECK(!std::isnan(network->step(frames, state)), "a probability that is no number");
  }
  return 0;
}
