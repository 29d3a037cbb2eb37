// ByteReader: a cursor over bytes from outside that never reads past their end and says where it
// stood.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/result.h"

namespace mynah {

static_assert(std::endian::native == std::endian::little,
              "every format read here is little-endian, and values are read as they lie");

// The product and the sum of two sizes from a file, or nothing where 64 bits do not hold them.
[[nodiscard]] std::optional<uint64_t> checked_multiply(uint64_t a, uint64_t b);
[[nodiscard]] std::optional<uint64_t> checked_add(uint64_t a, uint64_t b);

// The part of `bytes` that begins there, or nothing where it lies outside of them.
[[nodiscard]] std::optional<std::span<const std::byte>> part_of(std::span<const std::byte> bytes,
                                                                uint64_t offset, uint64_t size);

// The text from `offset` to the zero byte behind it, or nothing where none comes within `longest`
// bytes of text.
[[nodiscard]] std::optional<std::string_view> text_to_zero(std::span<const std::byte> bytes,
                                                           uint64_t offset, size_t longest);

// A name from a file as a message may print it: in quotes, all but printable ASCII escaped, at
// most 80 bytes of it.
[[nodiscard]] std::string in_quotes(std::string_view name);

// Reads little-endian values in order. Views stay valid as long as the bytes do.
class ByteReader {
 public:
  // `file` names the bytes in messages; `base_offset` is where they begin in that file.
  explicit ByteReader(std::span<const std::byte> bytes, std::string file, uint64_t base_offset = 0)
      : bytes_(bytes), file_(std::move(file)), base_offset_(base_offset) {}

  // Of the next byte, in the file.
  [[nodiscard]] uint64_t offset() const { return base_offset_ + at_; }

  [[nodiscard]] size_t remaining() const { return bytes_.size() - at_; }

  [[nodiscard]] bool at_end() const { return at_ == bytes_.size(); }

  [[nodiscard]] const std::string& file() const { return file_; }

  // The next value; `what` names it in the error.
  template <class T>
  Result<T> read(std::string_view what) {
    static_assert(std::is_arithmetic_v<T>);
    MYNAH_TRY(const std::span<const std::byte> raw, take(sizeof(T), what));
    T value;
    std::memcpy(&value, raw.data(), sizeof(T));
    return value;
  }

  // The next `count` bytes.
  Result<std::span<const std::byte>> take(uint64_t count, std::string_view what);

  // The next `count` bytes as text, in whatever encoding they are.
  Result<std::string_view> text(uint64_t count, std::string_view what);

  // "FILE, byte OFFSET: message": for what is wrong at the cursor.
  [[nodiscard]] std::unexpected<Error> fail_here(std::string_view message,
                                                 ErrorCode code = ErrorCode::InvalidInput) const;

 private:
  std::span<const std::byte> bytes_;
  std::string file_;
  uint64_t base_offset_;
  size_t at_ = 0;
};

}  // namespace mynah
