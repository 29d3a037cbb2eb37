#include "text/phonemes/string_index.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "base/check.h"

namespace mynah {

namespace {

constexpr size_t kFewestSlots = 64;
constexpr int kHashWidth = 8;
constexpr uint32_t kHashBits = (1U << kHashWidth) - 1;
constexpr size_t kMostStrings = (size_t{1} << (32 - kHashWidth)) - 1;

size_t hash_of(std::string_view key) {
  return std::hash<std::string_view>{}(key);
}

// The uppermost ones: the lower ones say where the slot is.
uint32_t hash_bits(size_t hash) {
  return static_cast<uint32_t>(hash >> (8 * sizeof(hash) - kHashWidth));
}

uint32_t filled(uint32_t number_plus_one, size_t hash) {
  return (number_plus_one << kHashWidth) | hash_bits(hash);
}

}  // namespace

std::string_view StringIndex::at(uint32_t number) const {
  const uint32_t begin = number == 0 ? 0 : ends_[number - 1];
  return std::string_view(bytes_).substr(begin, ends_[number] - begin);
}

size_t StringIndex::slot_of(std::string_view key, size_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot] != 0 && ((slots_[slot] & kHashBits) != hash_bits(hash) ||
                               at((slots_[slot] >> kHashWidth) - 1) != key)) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

std::optional<uint32_t> StringIndex::find(std::string_view key) const {
  if (slots_.empty()) {
    return std::nullopt;
  }
  const uint32_t found = slots_[slot_of(key, hash_of(key))];
  return found == 0 ? std::nullopt : std::optional((found >> kHashWidth) - 1);
}

uint32_t StringIndex::add(std::string_view key) {
  if (2 * (size() + 1) > slots_.size()) {
    rebuild(std::max(kFewestSlots, 2 * slots_.size()));
  }
  const size_t hash = hash_of(key);
  uint32_t& slot = slots_[slot_of(key, hash)];
  if (slot == 0) {
    MYNAH_CHECK(bytes_.size() + key.size() <= UINT32_MAX && size() < kMostStrings,
                "an index of too many strings");
    bytes_ += key;
    ends_.push_back(static_cast<uint32_t>(bytes_.size()));
    slot = filled(static_cast<uint32_t>(size()), hash);
  }
  return (slot >> kHashWidth) - 1;
}

void StringIndex::reserve(size_t strings) {
  ends_.reserve(strings);
  if (2 * strings > slots_.size()) {
    rebuild(std::max(kFewestSlots, std::bit_ceil(2 * strings)));
  }
}

void StringIndex::rebuild(size_t slots) {
  slots_.assign(slots, 0);
  for (uint32_t number = 0; number < size(); ++number) {
    const size_t hash = hash_of(at(number));
    slots_[slot_of(at(number), hash)] = filled(number + 1, hash);
  }
}

void StringIndex::shrink_to_fit() {
  bytes_.shrink_to_fit();
  ends_.shrink_to_fit();
}

}  // namespace mynah
