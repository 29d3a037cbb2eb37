#include "formats/protobuf.h"

#include <fmt/format.h>

namespace mynah {
namespace {

constexpr int kMaxVarintBytes = 10;

Result<uint64_t> read_varint(ByteReader& reader) {
  uint64_t value = 0;
  for (int i = 0; i < kMaxVarintBytes; ++i) {
    MYNAH_TRY(const auto byte, reader.read<uint8_t>("a varint"));
    // The tenth byte holds the 64th bit only.
    if (i == kMaxVarintBytes - 1 && byte > 1) {
      break;
    }
    value |= static_cast<uint64_t>(byte & 0x7F) << (7 * i);
    if ((byte & 0x80) == 0) {
      return value;
    }
  }
  return reader.fail_here("wanted a varint of at most 64 bits");
}

Result<uint64_t> read_number(ByteReader& reader, WireType type) {
  switch (type) {
    case WireType::Fixed32:
      return reader.read<uint32_t>("a 32-bit field");
    case WireType::Fixed64:
      return reader.read<uint64_t>("a 64-bit field");
    default:
      return read_varint(reader);
  }
}

}  // namespace

Result<std::optional<ProtoField>> ProtoReader::next() {
  if (reader_.at_end()) {
    return std::nullopt;
  }
  MYNAH_TRY(const uint64_t tag, read_varint(reader_));
  constexpr uint64_t kMaxTag = (uint64_t{1} << 32U) - 1;
  const auto raw_type = static_cast<uint8_t>(tag & 7U);
  const bool known = raw_type <= 2 || raw_type == 5;
  if (tag > kMaxTag || tag >> 3U == 0 || !known) {
    return reader_.fail_here(fmt::format(
        "wanted a protobuf field's tag, found {}; the file is damaged or no protobuf", tag));
  }
  ProtoField field{.number = static_cast<uint32_t>(tag >> 3U),
                   .type = static_cast<WireType>(raw_type),
                   .value = 0,
                   .bytes = {},
                   .offset = 0};
  if (field.type == WireType::Bytes) {
    MYNAH_TRY(const uint64_t length, read_varint(reader_));
    field.offset = reader_.offset();
    MYNAH_TRY(field.bytes, reader_.take(length, fmt::format("protobuf field {}", field.number)));
  } else {
    MYNAH_TRY(field.value, read_number(reader_, field.type));
  }
  return field;
}

Status ProtoReader::expect(const ProtoField& field, WireType type, std::string_view what) const {
  if (field.type != type) {
    return reader_.fail_here(fmt::format("{}: wanted protobuf wire type {}, found {}", what,
                                         static_cast<int>(type), static_cast<int>(field.type)));
  }
  return {};
}

Status ProtoReader::append_numbers(const ProtoField& field, WireType element,
                                   std::vector<uint64_t>& values) {
  if (field.type == element) {
    values.push_back(field.value);
    return {};
  }
  MYNAH_TRY_STATUS(expect(field, WireType::Bytes, "packed numbers"));
  ByteReader packed(field.bytes, reader_.file(), field.offset);
  while (!packed.at_end()) {
    MYNAH_TRY(const uint64_t value, read_number(packed, element));
    values.push_back(value);
  }
  return {};
}

}  // namespace mynah
