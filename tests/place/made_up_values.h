// Values of everything that passes on the wire, made up from the one list of fields that each type
// has (place/wire/wire_types.h).
#pragma once

#include <array>
#include <deque>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "place/kinds/detector/detector_wire.h"
#include "place/kinds/embed/embed_wire.h"
#include "place/kinds/llm/llm_wire.h"
#include "place/kinds/voice/voice_wire.h"
#include "place/kinds/windows/windows_wire.h"
#include "place/proofs/kept_types.h"
#include "place/wire/wire_types.h"

namespace mynah::place::test {

// An archive that fills whatever it is shown.
class MadeUp {
 public:
  explicit MadeUp(uint64_t seed) : random_(seed) {}

  template <class... T>
  void operator()(T&... values) {
    (make(values), ...);
  }

 private:
  size_t below(size_t limit) { return random_() % limit; }

  template <WireNumber T>
  void make(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = below(2) == 1;
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(below(kWireValues<T>));
    } else if constexpr (std::is_floating_point_v<T>) {
      constexpr std::array kOdd = {T{0}, T{-1.5}, std::numeric_limits<T>::infinity(),
                                   std::numeric_limits<T>::quiet_NaN(),
                                   std::numeric_limits<T>::max()};
      value = below(4) == 0 ? kOdd[below(kOdd.size())] : static_cast<T>(below(1000)) / T{7};
    } else {
      value = below(4) == 0 ? std::numeric_limits<T>::max() : static_cast<T>(random_());
    }
  }

  void make(std::string& text) {
    text.resize(below(20));
    for (char& c : text) {
      c = static_cast<char>(random_());
    }
  }

  template <WireNumber T>
  void make(std::span<const T>& values) {
    std::vector<T>& behind = std::get<std::deque<std::vector<T>>>(behind_).emplace_back();
    make(behind);
    values = behind;
  }

  template <class T>
  void make(std::vector<T>& values) {
    values.clear();
    for (size_t count = below(5); count > 0; --count) {
      T value{};
      make(value);
      values.push_back(value);
    }
  }

  template <class T>
  void make(std::optional<T>& value) {
    value.reset();
    if (below(2) == 1) {
      make(value.emplace());
    }
  }

  template <class T>
    requires std::is_class_v<T>
  void make(T& value) {
    wire(*this, value);
  }

  std::mt19937_64 random_;
  std::tuple<std::deque<std::vector<float>>> behind_;  // of views
};

template <class T>
T made_up(MadeUp& archive) {
  T value{};
  archive(value);
  return value;
}

template <class... T>
std::vector<std::byte> wire_bytes(const T&... values) {
  WireWriter writer;
  writer(values...);
  return {writer.bytes().begin(), writer.bytes().end()};
}

}  // namespace mynah::place::test
