#include "place/elsewhere/frames.h"

#include <array>
#include <bit>
#include <cstring>

namespace mynah::place {
namespace {

static_assert(std::endian::native == std::endian::little, "frames are written as they lie here");

using Head = std::array<uint32_t, 2>;  // kind, bytes

}  // namespace

std::string frame(FrameKind kind, std::span<const std::byte> bytes) {
  const Head head = {static_cast<uint32_t>(kind), static_cast<uint32_t>(bytes.size())};
  std::string text(sizeof head + bytes.size(), '\0');
  std::memcpy(text.data(), head.data(), sizeof head);
  if (!bytes.empty()) {
    std::memcpy(text.data() + sizeof head, bytes.data(), bytes.size());
  }
  return text;
}

Status FrameReader::take(std::span<const std::byte> piece) {
  kept_.insert(kept_.end(), piece.begin(), piece.end());
  size_t at = 0;
  Head head{};
  while (kept_.size() - at >= sizeof head) {
    std::memcpy(head.data(), kept_.data() + at, sizeof head);
    const auto kind = static_cast<FrameKind>(head[0]);
    if (over_ || kind < FrameKind::Alive || kind > FrameKind::End || head[1] > kMostFrameBytes) {
      return fail(ErrorCode::InvalidInput, "it answers with bytes that are no answer");
    }
    if (kept_.size() - at - sizeof head < head[1]) {
      break;
    }
    const auto first = kept_.begin() + static_cast<ptrdiff_t>(at + sizeof head);
    const std::vector<std::byte> bytes(first, first + static_cast<ptrdiff_t>(head[1]));
    at += sizeof head + bytes.size();
    over_ = kind == FrameKind::Refused || kind == FrameKind::End;
    MYNAH_TRY_STATUS(taker_(kind, bytes));
  }
  kept_.erase(kept_.begin(), kept_.begin() + static_cast<ptrdiff_t>(at));
  if (over_ && !kept_.empty()) {
    return fail(ErrorCode::InvalidInput, "it answers with more than it said");
  }
  return {};
}

}  // namespace mynah::place
