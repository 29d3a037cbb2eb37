// A recording in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "audio/source.h"
#include "speech/recognizer.h"

namespace mynah {

inline constexpr int kRate_hz = 16000;

// Samples in memory, given out in pieces of a size of its own.
class MemorySource final : public AudioSource {
 public:
  explicit MemorySource(std::vector<float> samples, bool fails_at_the_end = false)
      : samples_(std::move(samples)), fails_(fails_at_the_end) {}

  Result<size_t> read(std::span<float> out) override {
    const size_t n = std::min({out.size(), samples_.size() - at_, size_t{7777}});
    if (n == 0 && fails_) {
      return fail(ErrorCode::InvalidInput, "the recording is cut off");
    }
    std::copy_n(samples_.begin() + static_cast<ptrdiff_t>(at_), n, out.begin());
    at_ += n;
    return n;
  }

  [[nodiscard]] int rate_hz() const override { return kRate_hz; }

  [[nodiscard]] std::optional<double> duration_s() const override {
    return static_cast<double>(samples_.size()) / kRate_hz;
  }

 private:
  std::vector<float> samples_;
  size_t at_ = 0;
  bool fails_;
};

// A recording for a recogniser to hear.
inline RecognizerJob job(std::vector<float> samples, bool fails_at_the_end = false) {
  return {.name = "memory", .open = [samples = std::move(samples), fails_at_the_end] {
            return Result<std::unique_ptr<AudioSource>>(
                std::make_unique<MemorySource>(samples, fails_at_the_end));
          }};
}

}  // namespace mynah
