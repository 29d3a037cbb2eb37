// Little-endian bytes, for tests that make files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mynah::test {

class ByteBuilder {
 public:
  ByteBuilder& u8(uint64_t value) { return number(value, 1); }

  ByteBuilder& u16(uint64_t value) { return number(value, 2); }

  ByteBuilder& u32(uint64_t value) { return number(value, 4); }

  ByteBuilder& u64(uint64_t value) { return number(value, 8); }

  // An address of 4 or 8 bytes.
  ByteBuilder& word(int bits, uint64_t value) { return number(value, bits / 8); }

  ByteBuilder& text(std::string_view text) {
    bytes_ += text;
    return *this;
  }

  ByteBuilder& zeros(size_t count) {
    bytes_.append(count, '\0');
    return *this;
  }

  // Zeros up to a multiple.
  ByteBuilder& align(size_t to) { return zeros((to - bytes_.size() % to) % to); }

  [[nodiscard]] size_t size() const { return bytes_.size(); }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  ByteBuilder& number(uint64_t value, int size) {
    for (int i = 0; i < size; ++i) {
      bytes_ += static_cast<char>(value >> (8 * i));
    }
    return *this;
  }

  std::string bytes_;
};

}  // namespace mynah::test
