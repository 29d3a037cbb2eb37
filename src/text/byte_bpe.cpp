#include "text/byte_bpe.h"

#include <bit>
#include <cstddef>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "text/pair_joins.h"

namespace mynah {

Result<ByteBpe> ByteBpe::create(std::vector<std::string> tokens) {
  ByteBpe bpe;
  bpe.tokens_ = std::move(tokens);
  bpe.slots_.assign(std::bit_ceil(2 * bpe.tokens_.size() + 1), kNone);
  for (size_t id = 0; id < bpe.tokens_.size(); ++id) {
    if (int32_t& slot = bpe.slots_[bpe.slot_of(bpe.tokens_[id])];
        slot == kNone && !bpe.tokens_[id].empty()) {
      slot = static_cast<int32_t>(id);
    }
  }
  for (int byte = 0; byte < 256; ++byte) {
    const auto character = static_cast<char>(byte);
    if (bpe.find({&character, 1}) < 0) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("a byte-level vocabulary has a token for each of the 256 bytes; this "
                              "one of {} tokens has none for byte 0x{:02X}",
                              bpe.tokens_.size(), byte));
    }
  }
  return bpe;
}

size_t ByteBpe::slot_of(std::string_view bytes) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = std::hash<std::string_view>()(bytes) & mask;
  while (slots_[slot] != kNone && tokens_[static_cast<size_t>(slots_[slot])] != bytes) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

int32_t ByteBpe::find(std::string_view bytes) const {
  return slots_[slot_of(bytes)];
}

void ByteBpe::encode_piece(std::string_view piece, std::vector<int32_t>& ids) const {
  if (const int32_t whole = find(piece); whole >= 0) {
    ids.push_back(whole);
    return;
  }
  PairJoins joins;
  for (uint32_t i = 0; i < piece.size(); ++i) {
    joins.add({.begin = i, .end = i + 1, .id = find(piece.substr(i, 1))});
  }
  const auto join = [&](const JoinPart& left, const JoinPart& right) {
    const int32_t id = find(piece.substr(left.begin, right.end - left.begin));
    return PairJoin{.order = static_cast<uint32_t>(id), .id = id};
  };
  for (const JoinPart& part : joins.join(join)) {
    ids.push_back(part.id);
  }
}

}  // namespace mynah
