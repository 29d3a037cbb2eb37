#include "formats/onnx_tensor.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace mynah {
namespace {

// Where a type's values lie when they are not raw bytes.
enum class ValueField : uint8_t { Float, Int32, Int64, Double, Uint64 };

struct OnnxType {
  uint64_t number;  // onnx.proto, TensorProto.DataType
  ElementType type;
  size_t bytes;
  ValueField field;
};

constexpr std::array<OnnxType, 13> kOnnxTypes = {{
    {1, {DType::F32, Widening::None}, 4, ValueField::Float},
    {2, {DType::U8, Widening::None}, 1, ValueField::Int32},
    {3, {DType::I8, Widening::None}, 1, ValueField::Int32},
    {4, {DType::I32, Widening::U16ToI32}, 2, ValueField::Int32},
    {5, {DType::I32, Widening::I16ToI32}, 2, ValueField::Int32},
    {6, {DType::I32, Widening::None}, 4, ValueField::Int32},
    {7, {DType::I64, Widening::None}, 8, ValueField::Int64},
    {9, {DType::U8, Widening::None}, 1, ValueField::Int32},
    {10, {DType::F16, Widening::None}, 2, ValueField::Int32},
    {11, {DType::F32, Widening::F64ToF32}, 8, ValueField::Double},
    {12, {DType::I64, Widening::U32ToI64}, 4, ValueField::Uint64},
    {13, {DType::I64, Widening::U64ToI64}, 8, ValueField::Uint64},
    {16, {DType::BF16, Widening::None}, 2, ValueField::Int32},
}};

struct Parsed {
  std::string_view name;
  std::vector<uint64_t> sizes;
  uint64_t type = 0;
  bool has_raw = false;
  std::span<const std::byte> raw;
  std::array<std::vector<uint64_t>, 5> values;  // by ValueField
};

Status parse_field(ProtoReader& message, const ProtoField& field, Parsed& tensor) {
  const auto values = [&](ValueField kind, WireType element) {
    return message.append_numbers(field, element, tensor.values[static_cast<size_t>(kind)]);
  };
  switch (field.number) {
    case 1:
      return message.append_numbers(field, WireType::Varint, tensor.sizes);
    case 2:
      tensor.type = field.value;
      return message.expect(field, WireType::Varint, "data_type");
    case 3:
      return message.fail_here("a tensor in segments is not read", ErrorCode::Unsupported);
    case 4:
      return values(ValueField::Float, WireType::Fixed32);
    case 5:
      return values(ValueField::Int32, WireType::Varint);
    case 6:
      return message.fail_here("a tensor of strings is not read", ErrorCode::Unsupported);
    case 7:
      return values(ValueField::Int64, WireType::Varint);
    case 8:
      tensor.name = field.text();
      return message.expect(field, WireType::Bytes, "a tensor's name");
    case 9:
      tensor.has_raw = true;
      tensor.raw = field.bytes;
      return message.expect(field, WireType::Bytes, "raw_data");
    case 10:
      return values(ValueField::Double, WireType::Fixed64);
    case 11:
      return values(ValueField::Uint64, WireType::Varint);
    case 13:
      return message.fail_here(
          "the tensor's bytes are in another file, which is not read; save the model as one file",
          ErrorCode::Unsupported);
    default:
      return {};
  }
}

// The values as the bytes that raw_data would hold: the low bytes of each.
std::shared_ptr<const std::vector<std::byte>> pack(const std::vector<uint64_t>& values,
                                                   size_t element_bytes) {
  std::vector<std::byte> out(values.size() * element_bytes);
  for (size_t i = 0; i < values.size(); ++i) {
    std::memcpy(out.data() + i * element_bytes, &values[i], element_bytes);
  }
  return std::make_shared<const std::vector<std::byte>>(std::move(out));
}

// Whether a varint fits into the element that its low bytes become.
bool fits(uint64_t value, const OnnxType& type) {
  if (type.field == ValueField::Int32) {
    const auto number = static_cast<int64_t>(value);
    const int bits = static_cast<int>(type.bytes) * 8;
    return number >= -(int64_t{1} << (bits - 1)) && number < (int64_t{1} << bits);
  }
  return type.bytes == 8 || value >> (type.bytes * 8) == 0;
}

}  // namespace

Result<std::string> read_onnx_tensor(ProtoReader message, std::string_view scope,
                                     std::string_view name, TensorFileBuilder& builder) {
  Parsed tensor;
  while (true) {
    MYNAH_TRY(const auto field, message.next());
    if (!field) {
      break;
    }
    MYNAH_TRY_STATUS(parse_field(message, *field, tensor));
  }
  if (name.empty()) {
    name = tensor.name;
  }
  if (name.empty()) {
    return message.fail_here("wanted a name for each tensor, found one without");
  }
  std::string full(scope);
  full += name;
  const auto* const type = std::ranges::find(kOnnxTypes, tensor.type, &OnnxType::number);
  if (type == kOnnxTypes.end()) {
    return message.fail_here(fmt::format("tensor {}: ONNX element type {} is none that mynah reads",
                                         in_quotes(full), tensor.type),
                             ErrorCode::Unsupported);
  }
  if (tensor.has_raw) {
    MYNAH_TRY_STATUS(builder.add(full, type->type, tensor.sizes, tensor.raw));
    return full;
  }
  const std::vector<uint64_t>& values = tensor.values[static_cast<size_t>(type->field)];
  if (!std::ranges::all_of(values, [&](uint64_t value) { return fits(value, *type); })) {
    return message.fail_here("tensor " + in_quotes(full) + ": a value is outside of its type");
  }
  MYNAH_TRY_STATUS(builder.add_owned(full, type->type, tensor.sizes, pack(values, type->bytes)));
  return full;
}

}  // namespace mynah
