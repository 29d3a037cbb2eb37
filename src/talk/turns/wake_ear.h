// WakeEar: waits for a word in what a microphone hears, all day.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace mynah::talk {

// The word was said.
struct WakeHit {
  std::string word;  // as it is named
  int64_t end = 0;   // sample behind it, counted from the first one that was heard

  bool operator==(const WakeHit&) const = default;
};

// One thread drives it; it may compute on others.
class WakeEar {
 public:
  virtual ~WakeEar() = default;

  // Listens to what comes next, 16 kHz mono; the word that is known to have been said, which may be
  // a while ago: at most kWakeLate_s.
  [[nodiscard]] virtual std::optional<WakeHit> hear(std::span<const float> samples) = 0;

  // Whether it is still to be seen if something that was heard is the word.
  [[nodiscard]] virtual bool is_working() const = 0;

  // As before the first sample.
  virtual void reset() = 0;
};

// Nobody waits longer for a reply to a word.
inline constexpr double kWakeLate_s = 3;

}  // namespace mynah::talk
