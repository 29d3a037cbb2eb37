// Frames: what another mynah answers, piece by piece: signs of life while it computes, what it
// computed, and its end. Both sides of it. A frame is eight bytes, its kind and how many bytes
// follow, and those bytes (place/wire/wire.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mynah::place {

// What two mynahs must agree on: the fields of what passes between them, in the order in which they
// are written. A test fails where they change, and this number is not raised.
inline constexpr int kMynahProtocol = 2;

// The header that tells the number, of questions and of answers.
inline constexpr std::string_view kProtocolHeader = "X-Mynah-Protocol";

// The body of questions and answers.
inline constexpr std::string_view kFramesType = "application/vnd.mynah.frames";

enum class FrameKind : uint32_t {
  Alive = 1,  // nothing yet, but it is at it
  Result,     // what was asked for, or a part of it
  Refused,    // Error: there will be no more
  End,        // that was all
};

// No frame is longer: a clause of some minutes.
inline constexpr size_t kMostFrameBytes = size_t{64} << 20;

[[nodiscard]] std::string frame(FrameKind kind, std::span<const std::byte> bytes = {});

// Takes an answer as it comes and hands on its frames.
class FrameReader {
 public:
  // `bytes` begin where values of eight bytes may, until it returns. An error ends the answer.
  using Taker = std::function<Status(FrameKind kind, std::span<const std::byte> bytes)>;

  explicit FrameReader(Taker taker) : taker_(std::move(taker)) {}

  // InvalidInput for what is no frame, or comes behind the end.
  Status take(std::span<const std::byte> piece);

  // Whether its last frame came: End or Refused.
  [[nodiscard]] bool is_over() const { return over_; }

 private:
  Taker taker_;
  std::vector<std::byte> kept_;  // of a frame that is not whole yet
  bool over_ = false;
};

}  // namespace mynah::place
