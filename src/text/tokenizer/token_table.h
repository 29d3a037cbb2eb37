// TokenTable: the bytes of each token and the tokens by their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mynah {

enum class TokenKind : uint8_t {
  Text,     // a part of text, which encoding makes of what was given
  Byte,     // stands for one byte that nothing else spells
  Added,    // a text that is cut out before all else: runs of spaces, <table>
  Mark,     // the template's or the model's to write, and shown: <think>
  Control,  // the template's or the model's to write, and not shown
  Unused,   // never made of a text
};

class TokenTable {
 public:
  static constexpr int32_t kNone = -1;

  // Memory for so many tokens of so many bytes in all.
  void reserve(size_t tokens, size_t bytes);

  // The next id. All tokens together are at most 4 GB.
  void add(std::string_view bytes, TokenKind kind);

  [[nodiscard]] int32_t size() const { return static_cast<int32_t>(kinds_.size()); }

  // These require 0 <= id < size().
  [[nodiscard]] std::string_view bytes(int32_t id) const {
    const auto at = static_cast<size_t>(id);
    return std::string_view(bytes_).substr(begins_[at], begins_[at + 1] - begins_[at]);
  }

  [[nodiscard]] TokenKind kind(int32_t id) const { return kinds_[static_cast<size_t>(id)]; }

  void set_kind(int32_t id, TokenKind kind) { kinds_[static_cast<size_t>(id)] = kind; }

  // Makes tokens of this kind known to `find`; of several that are spelt alike the first. To be
  // called once all are added.
  void index(TokenKind kind);

  // The indexed token of exactly these bytes, or kNone.
  [[nodiscard]] int32_t find(std::string_view bytes) const;

 private:
  // A token and a part of its hash, which spares most looks at the bytes of another.
  struct Slot {
    int32_t id = kNone;
    uint32_t tag = 0;
  };

  // Where these bytes stand in slots_, or where they would.
  [[nodiscard]] size_t slot_of(std::string_view bytes, uint32_t& tag) const;

  std::string bytes_;
  std::vector<uint32_t> begins_ = {0};
  std::vector<TokenKind> kinds_;
  // By hash, the next free slot where one is taken; at most two thirds are.
  std::vector<Slot> slots_;
};

}  // namespace mynah
