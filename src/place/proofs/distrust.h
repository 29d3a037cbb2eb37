// Distrust: how often a device failed of late, and when it may be tried again.
#pragma once

#include <cstdint>
#include <string>

namespace mynah::place {

// Times are in seconds since 1970.
struct Distrust {
  // One after the other: those after which work went well for an hour are forgotten when it fails
  // again.
  int failures = 0;
  int64_t last_at = 0;
  std::string reason{};
  int64_t trusted_at = 0;  // when it was proven since; 0: it was not

  // Time from which it may be proven again without being asked for by name: ten seconds after the
  // first failure, twice as long after each further one, an hour at most.
  [[nodiscard]] int64_t again_at() const;

  // It failed and was not proven since.
  [[nodiscard]] bool is_open() const { return failures > 0 && trusted_at == 0; }

  // Whether it is to be left alone. A failure that is yet to come was noted while the clock was
  // wrong: nobody waits for that.
  [[nodiscard]] bool waits(int64_t now) const {
    return is_open() && last_at <= now && now < again_at();
  }

  void failed(int64_t now, std::string why);
  void trusted(int64_t now);

  bool operator==(const Distrust&) const = default;
};

}  // namespace mynah::place
