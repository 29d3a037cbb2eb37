#include "formats/byte_reader.h"

#include <algorithm>

#include <fmt/format.h>

namespace mynah {

std::optional<uint64_t> checked_multiply(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    return std::nullopt;
  }
  return product;
}

std::optional<uint64_t> checked_add(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    return std::nullopt;
  }
  return sum;
}

std::optional<std::span<const std::byte>> part_of(std::span<const std::byte> bytes, uint64_t offset,
                                                  uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) {
    return std::nullopt;
  }
  return bytes.subspan(offset, size);
}

std::optional<std::string_view> text_to_zero(std::span<const std::byte> bytes, uint64_t offset,
                                             size_t longest) {
  if (offset >= bytes.size()) {
    return std::nullopt;
  }
  const size_t most = std::min<uint64_t>(bytes.size() - offset, uint64_t{longest} + 1);
  const auto* begin = reinterpret_cast<const char*>(bytes.data() + offset);
  const void* end = std::memchr(begin, 0, most);
  if (end == nullptr) {
    return std::nullopt;
  }
  return std::string_view(begin, static_cast<size_t>(static_cast<const char*>(end) - begin));
}

std::string in_quotes(std::string_view name) {
  constexpr size_t kLongest = 80;
  std::string text = "\"";
  for (const char c : name.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += {'\\', c};
    } else if (byte < 0x20 || byte >= 0x7F) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  return text + (name.size() > kLongest ? "...\"" : "\"");
}

Result<std::span<const std::byte>> ByteReader::take(uint64_t count, std::string_view what) {
  if (count > remaining()) {
    return fail_here(
        fmt::format("wanted {} ({} bytes), found the end after {} bytes; the file is "
                    "cut short or not what it says it is",
                    what, count, remaining()));
  }
  const auto view = bytes_.subspan(at_, static_cast<size_t>(count));
  at_ += static_cast<size_t>(count);
  return view;
}

Result<std::string_view> ByteReader::text(uint64_t count, std::string_view what) {
  MYNAH_TRY(const std::span<const std::byte> raw, take(count, what));
  return std::string_view(reinterpret_cast<const char*>(raw.data()), raw.size());
}

std::unexpected<Error> ByteReader::fail_here(std::string_view message, ErrorCode code) const {
  return fail(code, fmt::format("{}, byte {}: {}", file_, offset(), message));
}

}  // namespace mynah
