#include "text/byte_bpe.h"

#include <cstddef>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace mynah {
namespace {

// A part of the piece: its bytes reach from its own index to `end`. Parts form a linked list.
struct Part {
  size_t end = 0;       // 0: joined into the part on its left
  size_t previous = 0;  // the start of the part on the left; meaningless for the first
};

// Two neighbours that could be joined. Out of date once either has changed, which its ends tell.
struct Candidate {
  int32_t id = 0;
  size_t begin = 0;
  size_t middle = 0;
  size_t end = 0;

  bool operator>(const Candidate& other) const {
    return std::tie(id, begin) > std::tie(other.id, other.begin);
  }
};

using Candidates = std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>>;

void propose(const ByteBpe& bpe, std::string_view piece, size_t begin, size_t middle, size_t end,
             Candidates& candidates) {
  if (const int32_t id = bpe.find(piece.substr(begin, end - begin)); id >= 0) {
    candidates.push({.id = id, .begin = begin, .middle = middle, .end = end});
  }
}

// Where every part ends, indexed by where it begins.
std::vector<Part> join_parts(const ByteBpe& bpe, std::string_view piece) {
  std::vector<Part> parts(piece.size());
  Candidates candidates;
  for (size_t i = 0; i < piece.size(); ++i) {
    parts[i] = {.end = i + 1, .previous = i - 1};
    if (i + 1 < piece.size()) {
      propose(bpe, piece, i, i + 1, i + 2, candidates);
    }
  }
  while (!candidates.empty()) {
    const Candidate best = candidates.top();
    candidates.pop();
    if (parts[best.begin].end != best.middle || parts[best.middle].end != best.end) {
      continue;
    }
    parts[best.begin].end = best.end;
    parts[best.middle].end = 0;
    if (best.end < piece.size()) {
      parts[best.end].previous = best.begin;
      propose(bpe, piece, best.begin, best.end, parts[best.end].end, candidates);
    }
    if (best.begin > 0) {
      propose(bpe, piece, parts[best.begin].previous, best.begin, best.end, candidates);
    }
  }
  return parts;
}

}  // namespace

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
  const std::vector<Part> parts = join_parts(*this, piece);
  for (size_t begin = 0; begin < piece.size(); begin = parts[begin].end) {
    ids.push_back(find(piece.substr(begin, parts[begin].end - begin)));
  }
}

}  // namespace mynah
