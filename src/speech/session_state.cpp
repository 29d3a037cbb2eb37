#include "speech/session_state.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "base/check.h"

namespace mynah {
namespace {

constexpr size_t kNameBytes = 16;

std::array<char, kNameBytes> padded(std::string_view name) {
  MYNAH_CHECK(name.size() <= kNameBytes, "[pack_state] a name of at most 16 characters");
  std::array<char, kNameBytes> bytes{};
  std::ranges::copy(name, bytes.begin());
  return bytes;
}

}  // namespace

std::vector<std::byte> pack_state(std::string_view name, std::span<const double> values) {
  const auto head = padded(name);
  std::vector<std::byte> bytes(kNameBytes + values.size_bytes());
  std::memcpy(bytes.data(), head.data(), kNameBytes);
  std::ranges::copy(std::as_bytes(values), bytes.begin() + kNameBytes);
  return bytes;
}

Result<std::vector<double>> unpack_state(std::string_view name, std::span<const std::byte> bytes) {
  const auto head = padded(name);
  if (bytes.size() < kNameBytes || (bytes.size() - kNameBytes) % sizeof(double) != 0 ||
      std::memcmp(bytes.data(), head.data(), kNameBytes) != 0) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted the state of a session of {}, found {} other bytes", name,
                            bytes.size()));
  }
  std::vector<double> values((bytes.size() - kNameBytes) / sizeof(double));
  std::ranges::copy(bytes.subspan(kNameBytes), std::as_writable_bytes(std::span(values)).begin());
  constexpr double kLargest = std::numeric_limits<float>::max();
  const auto wrong = std::ranges::find_if_not(
      values, [](double value) { return std::abs(value) <= kLargest; });  // a NaN is none
  if (wrong != values.end()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted numbers in the state of a session of {}, found {} at {}", name,
                            *wrong, wrong - values.begin()));
  }
  return values;
}

}  // namespace mynah
