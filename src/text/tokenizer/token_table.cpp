#include "text/tokenizer/token_table.h"

#include <bit>
#include <functional>

namespace mynah {

void TokenTable::reserve(size_t tokens, size_t bytes) {
  bytes_.reserve(bytes);
  begins_.reserve(tokens + 1);
  kinds_.reserve(tokens);
}

void TokenTable::add(std::string_view bytes, TokenKind kind) {
  bytes_ += bytes;
  begins_.push_back(static_cast<uint32_t>(bytes_.size()));
  kinds_.push_back(kind);
}

void TokenTable::index(TokenKind kind) {
  if (slots_.empty()) {
    slots_.resize(std::bit_ceil(kinds_.size() * 3 / 2 + 2));
  }
  for (int32_t id = 0; id < size(); ++id) {
    if (kinds_[static_cast<size_t>(id)] != kind || bytes(id).empty()) {
      continue;
    }
    uint32_t tag = 0;
    if (Slot& slot = slots_[slot_of(bytes(id), tag)]; slot.id == kNone) {
      slot = {.id = id, .tag = tag};
    }
  }
}

size_t TokenTable::slot_of(std::string_view bytes, uint32_t& tag) const {
  const size_t hash = std::hash<std::string_view>()(bytes);
  const size_t mask = slots_.size() - 1;
  tag = static_cast<uint32_t>(hash >> 32);
  size_t slot = hash & mask;
  while (slots_[slot].id != kNone &&
         (slots_[slot].tag != tag || this->bytes(slots_[slot].id) != bytes)) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

int32_t TokenTable::find(std::string_view bytes) const {
  uint32_t tag = 0;
  return slots_.empty() ? kNone : slots_[slot_of(bytes, tag)].id;
}

}  // namespace mynah
