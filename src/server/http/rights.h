// Rights: what a key lets its owner do.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace mynah::server {

enum class Right : uint8_t {
  Hear,
  Speak,
  Think,
  Jobs,
  Models,  // pull, load, unload and remove them
  Admin    // metrics, devices
};

inline constexpr std::array<std::pair<std::string_view, Right>, 6> kRightNames = {
    {{"hear", Right::Hear},
     {"speak", Right::Speak},
     {"think", Right::Think},
     {"jobs", Right::Jobs},
     {"models", Right::Models},
     {"admin", Right::Admin}}};

// A set of them.
class Rights {
 public:
  constexpr Rights() = default;

  constexpr Rights(std::initializer_list<Right> rights) {
    for (const Right right : rights) {
      add(right);
    }
  }

  constexpr void add(Right right) {
    bits_ = static_cast<uint8_t>(bits_ | 1U << static_cast<unsigned>(right));
  }

  [[nodiscard]] constexpr bool has(Right right) const {
    return (bits_ >> static_cast<unsigned>(right) & 1U) != 0;
  }

  [[nodiscard]] constexpr bool has_all_of(Rights others) const {
    return (bits_ & others.bits_) == others.bits_;
  }

  friend constexpr bool operator==(Rights a, Rights b) = default;

 private:
  uint8_t bits_ = 0;
};

// A key has these where nothing else is said of it: none to change what is here.
inline constexpr Rights kUsualRights = {Right::Hear, Right::Speak, Right::Think, Right::Jobs};
inline constexpr Rights kAllRights = {Right::Hear, Right::Speak,  Right::Think,
                                      Right::Jobs, Right::Models, Right::Admin};

}  // namespace mynah::server
