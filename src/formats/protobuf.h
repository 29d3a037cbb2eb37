// The wire format of protocol buffers: fields by number, without a schema compiler.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/byte_reader.h"

namespace mynah {

// How a field lies in the bytes (protobuf.dev, encoding, section Message Structure). Groups, which
// nothing has written for long, are refused.
enum class WireType : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

struct ProtoField {
  uint32_t number = 0;
  WireType type = WireType::Varint;
  uint64_t value = 0;                // of a varint or a fixed field
  std::span<const std::byte> bytes;  // of a length-delimited field
  uint64_t offset = 0;               // of those bytes, in the file

  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

// Reads the fields of one message in order.
class ProtoReader {
 public:
  ProtoReader(std::span<const std::byte> message, std::string file, uint64_t offset = 0)
      : reader_(message, std::move(file), offset) {}

  // The message inside a length-delimited field of this one.
  [[nodiscard]] ProtoReader nested(const ProtoField& field) const {
    return {field.bytes, reader_.file(), field.offset};
  }

  // The next field, or nothing at the end of the message.
  Result<std::optional<ProtoField>> next();

  // Fails unless the field has that wire type.
  Status expect(const ProtoField& field, WireType type, std::string_view what) const;

  // Appends a repeated number: one value, or many packed ones. Varints as they are, fixed fields as
  // their bits.
  Status append_numbers(const ProtoField& field, WireType element, std::vector<uint64_t>& values);

  [[nodiscard]] std::unexpected<Error> fail_here(std::string_view message,
                                                 ErrorCode code = ErrorCode::InvalidInput) const {
    return reader_.fail_here(message, code);
  }

 private:
  ByteReader reader_;
};

}  // namespace mynah
