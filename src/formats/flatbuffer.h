// FlatTable: a table of a FlatBuffers file (google/flatbuffers, docs "Internals"), read from bytes
// that nobody vouches for: every offset is checked before it is followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"

namespace mynah {

// A view; the bytes and the name must outlive it. Fields are called by their number in the schema,
// from 0. Nothing here goes deeper than the caller asks, so no file makes it loop; a caller that
// follows tables in tables bounds how many, since many offsets may lead to one.
class FlatTable {
 public:
  // The root of a file whose identifier (four bytes from the fifth on) is `identifier`. `file`
  // names the bytes in messages.
  static Result<FlatTable> root(std::span<const std::byte> bytes, std::string_view file,
                                std::string_view identifier);

  // A number, or `absent` where the field is not stored.
  template <class T>
  Result<T> number(int field, T absent) const {
    static_assert(std::is_arithmetic_v<T>);
    MYNAH_TRY(const uint64_t at, place_of(field, sizeof(T)));
    return at == 0 ? absent : value_at<T>(at);
  }

  // Numbers of a vector; none where the field is not stored.
  template <class T>
  Result<std::vector<T>> numbers(int field) const {
    static_assert(std::is_arithmetic_v<T>);
    MYNAH_TRY(const std::span<const std::byte> raw, vector(field, sizeof(T)));
    std::vector<T> values(raw.size() / sizeof(T));
    if (!raw.empty()) {
      std::memcpy(values.data(), raw.data(), raw.size());
    }
    return values;
  }

  // The elements of a vector of `element` bytes each, as they lie; none where the field is not
  // stored.
  [[nodiscard]] Result<std::span<const std::byte>> vector(int field, uint64_t element) const;

  // "" where the field is not stored.
  [[nodiscard]] Result<std::string_view> text(int field) const;

  // Nothing where the field is not stored.
  [[nodiscard]] Result<std::optional<FlatTable>> table(int field) const;

  // The tables of a vector, `most` at most.
  [[nodiscard]] Result<std::vector<FlatTable>> tables(int field, size_t most) const;

  // "FILE, byte OFFSET: message", of where this table begins.
  [[nodiscard]] std::unexpected<Error> fail_here(std::string_view message,
                                                 ErrorCode code = ErrorCode::InvalidInput) const;

 private:
  FlatTable(std::span<const std::byte> bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  // The table that begins at `at`, its own table of fields looked up and found to be inside.
  static Result<FlatTable> at(std::span<const std::byte> bytes, std::string_view file, uint64_t at);

  template <class T>
  [[nodiscard]] T value_at(uint64_t at) const {
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof(T));
    return value;
  }

  // Where a field of `size` bytes lies; 0: it is not stored.
  [[nodiscard]] Result<uint64_t> place_of(int field, uint64_t size) const;
  // What the offset that is stored at `at` leads to: `size` bytes must be there.
  [[nodiscard]] Result<uint64_t> follow(uint64_t at, uint64_t size) const;

  std::span<const std::byte> bytes_;
  std::string_view file_;
  uint64_t begin_ = 0;   // of the table
  uint64_t size_ = 0;    // of it, bytes
  uint64_t fields_ = 0;  // where the places of its fields begin
  uint64_t stored_ = 0;  // fields that have one
};

}  // namespace mynah
