#include "formats/gguf.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "formats/byte_reader.h"
#include "formats/ggml_types.h"
#include "formats/tensor_file_builder.h"

namespace mynah {
namespace {

Result<std::string_view> read_long_string(ByteReader& reader, std::string_view what) {
  MYNAH_TRY(const auto length, reader.read<uint64_t>(what));
  return reader.text(length, what);
}

template <class T>
Result<int64_t> read_integer(ByteReader& reader) {
  MYNAH_TRY(const T value, reader.read<T>("an integer"));
  if (!std::in_range<int64_t>(value)) {
    return reader.fail_here(fmt::format("wanted a value up to the largest int64, found {}", value));
  }
  return static_cast<int64_t>(value);
}

Result<int64_t> read_integer(ByteReader& reader, GgufType type) {
  switch (type) {
    case GgufType::U8:
    case GgufType::Bool:
      return read_integer<uint8_t>(reader);
    case GgufType::I8:
      return read_integer<int8_t>(reader);
    case GgufType::U16:
      return read_integer<uint16_t>(reader);
    case GgufType::I16:
      return read_integer<int16_t>(reader);
    case GgufType::U32:
      return read_integer<uint32_t>(reader);
    case GgufType::I32:
      return read_integer<int32_t>(reader);
    case GgufType::U64:
      return read_integer<uint64_t>(reader);
    default:
      return read_integer<int64_t>(reader);
  }
}

Result<double> read_float(ByteReader& reader, GgufType type) {
  if (type == GgufType::F64) {
    return reader.read<double>("a number");
  }
  return reader.read<float>("a number");
}

Result<MetadataValue> read_array(ByteReader& reader) {
  MYNAH_TRY(const auto raw_type, reader.read<uint32_t>("an array's type"));
  MYNAH_TRY(const auto count, reader.read<uint64_t>("an array's length"));
  const auto type = static_cast<GgufType>(raw_type);
  if (raw_type > static_cast<uint32_t>(GgufType::F64) || type == GgufType::Array) {
    return reader.fail_here(
        fmt::format("wanted an array of numbers or strings, found element type {}", raw_type),
        ErrorCode::Unsupported);
  }
  // Every element takes a byte at least: a count beyond that is refused before memory is asked for.
  if (count > reader.remaining()) {
    return reader.fail_here(fmt::format("wanted an array of {} elements, found {} bytes left",
                                        count, reader.remaining()));
  }
  if (type == GgufType::String) {
    std::vector<std::string> values;
    // Each takes the bytes of its length at least.
    values.reserve(std::min<uint64_t>(count, reader.remaining() / sizeof(uint64_t)));
    for (uint64_t i = 0; i < count; ++i) {
      MYNAH_TRY(const std::string_view value, read_long_string(reader, "a string of an array"));
      values.emplace_back(value);
    }
    return values;
  }
  if (type == GgufType::F32 || type == GgufType::F64) {
    std::vector<double> values;
    values.reserve(count);
    for (uint64_t i = 0; i < count; ++i) {
      MYNAH_TRY(const double value, read_float(reader, type));
      values.push_back(value);
    }
    return values;
  }
  std::vector<int64_t> values;
  values.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    MYNAH_TRY(const int64_t value, read_integer(reader, type));
    values.push_back(value);
  }
  return values;
}

Result<MetadataValue> read_value(ByteReader& reader) {
  MYNAH_TRY(const auto raw_type, reader.read<uint32_t>("a value's type"));
  const auto type = static_cast<GgufType>(raw_type);
  switch (type) {
    case GgufType::U8:
    case GgufType::I8:
    case GgufType::U16:
    case GgufType::I16:
    case GgufType::U32:
    case GgufType::I32:
    case GgufType::U64:
    case GgufType::I64: {
      MYNAH_TRY(const int64_t value, read_integer(reader, type));
      return value;
    }
    case GgufType::F32:
    case GgufType::F64: {
      MYNAH_TRY(const double value, read_float(reader, type));
      return value;
    }
    case GgufType::Bool: {
      MYNAH_TRY(const int64_t value, read_integer(reader, type));
      return value != 0;
    }
    case GgufType::String: {
      MYNAH_TRY(const std::string_view value, read_long_string(reader, "a string"));
      return std::string(value);
    }
    case GgufType::Array:
      return read_array(reader);
  }
  return reader.fail_here(fmt::format("wanted a value type from 0 to 12, found {}", raw_type));
}

struct TensorInfo {
  std::string_view name;
  std::vector<uint64_t> sizes;  // outermost first
  ElementType type;
  uint64_t offset = 0;  // from the beginning of the data
  uint64_t bytes = 0;
};

Result<TensorInfo> read_tensor_info(ByteReader& reader) {
  TensorInfo info;
  MYNAH_TRY(info.name, read_long_string(reader, "a tensor's name"));
  const auto complain = [&](std::string_view message, ErrorCode code = ErrorCode::InvalidInput) {
    return reader.fail_here(fmt::format("tensor {}: {}", in_quotes(info.name), message), code);
  };
  MYNAH_TRY(const auto rank, reader.read<uint32_t>("a tensor's number of dimensions"));
  if (rank > static_cast<uint32_t>(kMaxGgmlDimensions)) {
    return complain(
        fmt::format("wanted at most {} dimensions, found {}", kMaxGgmlDimensions, rank));
  }
  info.sizes.resize(rank);
  for (uint32_t i = 0; i < rank; ++i) {
    MYNAH_TRY(info.sizes[rank - 1 - i], reader.read<uint64_t>("a tensor's size"));
  }
  MYNAH_TRY(const auto ggml_type, reader.read<uint32_t>("a tensor's type"));
  const auto type = element_type_of_ggml(ggml_type);
  if (!type) {
    return complain(fmt::format("ggml type {} is none that mynah reads; requantise the model to "
                                "f16, q8_0 or one of q4_0 to q6_k",
                                ggml_type),
                    ErrorCode::Unsupported);
  }
  info.type = *type;
  MYNAH_TRY(info.offset, reader.read<uint64_t>("a tensor's offset"));
  const auto bytes = stored_bytes(info.type, info.sizes);
  if (!bytes) {
    return complain(bytes.error().message, bytes.error().code);
  }
  info.bytes = *bytes;
  return info;
}

Result<uint64_t> read_alignment(const TensorFile& file, const ByteReader& reader) {
  const auto found = file.metadata.find("general.alignment");
  if (found == file.metadata.end()) {
    return kGgufAlignment;
  }
  const auto* value = std::get_if<int64_t>(&found->second);
  constexpr int64_t kLargest = 1 << 20;
  if (value == nullptr || *value <= 0 || *value > kLargest || (*value & (*value - 1)) != 0) {
    return reader.fail_here("wanted general.alignment as a power of two up to 1048576");
  }
  return static_cast<uint64_t>(*value);
}

// Every tensor within the data, and none in another's bytes.
Status check_layout(std::vector<TensorInfo>& infos, uint64_t data_bytes, const ByteReader& reader) {
  std::ranges::sort(infos, {}, [](const TensorInfo& i) { return std::pair(i.offset, i.bytes); });
  uint64_t end = 0;
  for (const TensorInfo& info : infos) {
    if (info.offset > data_bytes || info.bytes > data_bytes - info.offset) {
      return reader.fail_here(fmt::format(
          "tensor {}: wanted {} bytes at data byte {}, found {} bytes of data; the file is cut "
          "short or not what it says it is",
          in_quotes(info.name), info.bytes, info.offset, data_bytes));
    }
    if (info.offset < end && info.bytes > 0) {
      return reader.fail_here(
          fmt::format("tensor {} begins at data byte {}, inside the one before, "
                      "which ends at {}: tensors overlap",
                      in_quotes(info.name), info.offset, end));
    }
    end = std::max(end, info.offset + info.bytes);
  }
  return {};
}

}  // namespace

Result<TensorFile> read_gguf(const std::shared_ptr<const MappedFile>& file) {
  ByteReader reader(file->bytes(), file->path());
  TensorFileBuilder builder("gguf", file);
  MYNAH_TRY(const std::string_view magic, reader.text(kGgufMagic.size(), "the magic"));
  if (magic != kGgufMagic) {
    return fail(ErrorCode::InvalidInput, fmt::format("{}, byte 0: wanted the magic GGUF, found {}",
                                                     file->path(), in_quotes(magic)));
  }
  MYNAH_TRY(const auto version, reader.read<uint32_t>("the version"));
  if (version != 2 && version != 3) {
    return reader.fail_here(
        fmt::format("wanted GGUF version 2 or 3, little-endian, found {}; convert the file anew",
                    version),
        ErrorCode::Unsupported);
  }
  MYNAH_TRY(const auto tensor_count, reader.read<uint64_t>("the number of tensors"));
  MYNAH_TRY(const auto value_count, reader.read<uint64_t>("the number of key-values"));
  for (uint64_t i = 0; i < value_count; ++i) {
    MYNAH_TRY(const std::string_view key, read_long_string(reader, "a key"));
    MYNAH_TRY(MetadataValue value, read_value(reader));
    MYNAH_TRY_STATUS(builder.set(key, std::move(value)));
  }
  std::vector<TensorInfo> infos;
  for (uint64_t i = 0; i < tensor_count; ++i) {
    MYNAH_TRY(TensorInfo info, read_tensor_info(reader));
    infos.push_back(std::move(info));
  }
  MYNAH_TRY(const uint64_t alignment, read_alignment(builder.file(), reader));
  // A file without tensors may end before the padding.
  const uint64_t header_end = (reader.offset() + alignment - 1) / alignment * alignment;
  const auto data = file->bytes().subspan(std::min<uint64_t>(header_end, file->bytes().size()));
  MYNAH_TRY_STATUS(check_layout(infos, data.size(), reader));
  for (const TensorInfo& info : infos) {
    MYNAH_TRY_STATUS(
        builder.add(info.name, info.type, info.sizes, data.subspan(info.offset, info.bytes)));
  }
  MYNAH_TRY_STATUS(builder.attach_row_scales(kGgufScaleSuffix, TensorFileBuilder::Inverse::No));
  return std::move(builder).finish();
}

}  // namespace mynah
