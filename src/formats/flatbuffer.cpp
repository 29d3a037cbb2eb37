#include "formats/flatbuffer.h"

#include <fmt/format.h>

#include "formats/byte_reader.h"

namespace mynah {
namespace {

constexpr uint64_t kOffsetBytes = sizeof(uint32_t);
constexpr uint64_t kPlaceBytes = sizeof(uint16_t);

std::unexpected<Error> fail_at(std::string_view file, uint64_t at, std::string_view message,
                               ErrorCode code = ErrorCode::InvalidInput) {
  return fail(code, fmt::format("{}, byte {}: {}", file, at, message));
}

}  // namespace

Result<FlatTable> FlatTable::root(std::span<const std::byte> bytes, std::string_view file,
                                  std::string_view identifier) {
  const auto found = part_of(bytes, kOffsetBytes, identifier.size());
  if (!found || std::memcmp(found->data(), identifier.data(), identifier.size()) != 0) {
    return fail_at(
        file, kOffsetBytes,
        fmt::format("wanted the identifier {}; the file is cut short or of another format",
                    identifier));
  }
  return at(bytes, file, FlatTable(bytes, file).value_at<uint32_t>(0));
}

Result<FlatTable> FlatTable::at(std::span<const std::byte> bytes, std::string_view file,
                                uint64_t at) {
  if (!part_of(bytes, at, sizeof(int32_t))) {
    return fail_at(file, at, "wanted a table, found the end; the file is cut short or damaged");
  }
  FlatTable table(bytes, file);
  table.begin_ = at;
  // The table of fields lies before or behind: its offset is subtracted.
  const int64_t fields = static_cast<int64_t>(at) - table.value_at<int32_t>(at);
  if (fields < 0 || !part_of(bytes, static_cast<uint64_t>(fields), 2 * kPlaceBytes)) {
    return fail_at(file, at, "wanted a table's list of fields inside the file; it is damaged");
  }
  const auto list = static_cast<uint64_t>(fields);
  const uint64_t list_bytes = table.value_at<uint16_t>(list);
  table.size_ = table.value_at<uint16_t>(list + kPlaceBytes);
  if (list_bytes < 2 * kPlaceBytes || list_bytes % kPlaceBytes != 0 ||
      !part_of(bytes, list, list_bytes) || !part_of(bytes, at, table.size_)) {
    return fail_at(file, at,
                   "wanted a table and its list of fields inside the file; it is damaged");
  }
  table.fields_ = list + (2 * kPlaceBytes);
  table.stored_ = (list_bytes / kPlaceBytes) - 2;
  return table;
}

Result<uint64_t> FlatTable::place_of(int field, uint64_t size) const {
  const auto number = static_cast<uint64_t>(field);
  if (number >= stored_) {
    return 0;
  }
  const uint64_t place = value_at<uint16_t>(fields_ + (number * kPlaceBytes));
  if (place == 0) {
    return 0;
  }
  if (place < sizeof(int32_t) || place + size > size_) {
    return fail_here(fmt::format("wanted field {} inside its table of {} bytes, found it at {}",
                                 field, size_, place));
  }
  return begin_ + place;
}

Result<uint64_t> FlatTable::follow(uint64_t at, uint64_t size) const {
  const uint64_t target = at + value_at<uint32_t>(at);
  if (target == at || !part_of(bytes_, target, size)) {
    return fail_at(file_, at, "wanted an offset to something inside the file; it is damaged");
  }
  return target;
}

Result<std::span<const std::byte>> FlatTable::vector(int field, uint64_t element) const {
  MYNAH_TRY(const uint64_t at, place_of(field, kOffsetBytes));
  if (at == 0) {
    return std::span<const std::byte>();
  }
  MYNAH_TRY(const uint64_t begin, follow(at, kOffsetBytes));
  const uint64_t count = value_at<uint32_t>(begin);
  const auto raw = part_of(bytes_, begin + kOffsetBytes, count * element);
  if (!raw) {
    return fail_at(file_, begin, fmt::format("wanted a list of {} elements, found the end", count));
  }
  return *raw;
}

Result<std::string_view> FlatTable::text(int field) const {
  MYNAH_TRY(const std::span<const std::byte> raw, vector(field, 1));
  // A view of bytes as what they are; nothing is written through it.
  return std::string_view(reinterpret_cast<const char*>(raw.data()), raw.size());
}

Result<std::optional<FlatTable>> FlatTable::table(int field) const {
  MYNAH_TRY(const uint64_t place, place_of(field, kOffsetBytes));
  if (place == 0) {
    return std::optional<FlatTable>();
  }
  MYNAH_TRY(const uint64_t target, follow(place, sizeof(int32_t)));
  MYNAH_TRY(const FlatTable found, at(bytes_, file_, target));
  return found;
}

Result<std::vector<FlatTable>> FlatTable::tables(int field, size_t most) const {
  MYNAH_TRY(const std::span<const std::byte> raw, vector(field, kOffsetBytes));
  const size_t count = raw.size() / kOffsetBytes;
  if (count > most) {
    return fail_here(fmt::format("wanted at most {} tables in a list, found {}", most, count));
  }
  std::vector<FlatTable> tables;
  tables.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const auto place =
        static_cast<uint64_t>(raw.data() - bytes_.data()) + (uint64_t{i} * kOffsetBytes);
    MYNAH_TRY(const uint64_t target, follow(place, sizeof(int32_t)));
    MYNAH_TRY(const FlatTable found, at(bytes_, file_, target));
    tables.push_back(found);
  }
  return tables;
}

std::unexpected<Error> FlatTable::fail_here(std::string_view message, ErrorCode code) const {
  return fail_at(file_, begin_, message, code);
}

}  // namespace mynah
