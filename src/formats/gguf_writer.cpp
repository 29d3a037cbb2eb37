#include "formats/gguf_writer.h"

#include <concepts>
#include <cstring>
#include <limits>
#include <type_traits>
#include <unordered_set>

#include <fmt/format.h>

#include "base/check.h"
#include "formats/byte_reader.h"
#include "formats/ggml_types.h"
#include "formats/gguf.h"

namespace mynah {
namespace {

constexpr uint32_t kVersion = 3;
constexpr std::string_view kAlignmentKey = "general.alignment";

template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void append(std::string& out, std::string_view text) {
  append(out, static_cast<uint64_t>(text.size()));
  out += text;
}

template <class T>
void append_array(std::string& out, GgufType type, const std::vector<T>& values) {
  append(out, GgufType::Array);
  append(out, type);
  append(out, static_cast<uint64_t>(values.size()));
  for (const T& value : values) {
    append(out, value);
  }
}

// Readers elsewhere want the keys of the format itself as uint32.
bool wants_u32(std::string_view key, int64_t value) {
  return key.starts_with("general.") && value >= 0 && value <= std::numeric_limits<uint32_t>::max();
}

void append_value(std::string& out, std::string_view key, const MetadataValue& value) {
  std::visit(
      [&](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::same_as<T, bool>) {
          append(out, GgufType::Bool);
          append(out, static_cast<uint8_t>(v));
        } else if constexpr (std::same_as<T, int64_t>) {
          if (wants_u32(key, v)) {
            append(out, GgufType::U32);
            append(out, static_cast<uint32_t>(v));
          } else {
            append(out, GgufType::I64);
            append(out, v);
          }
        } else if constexpr (std::same_as<T, double>) {
          append(out, GgufType::F64);
          append(out, v);
        } else if constexpr (std::same_as<T, std::string>) {
          append(out, GgufType::String);
          append(out, std::string_view(v));
        } else if constexpr (std::same_as<T, std::vector<int64_t>>) {
          append_array(out, GgufType::I64, v);
        } else if constexpr (std::same_as<T, std::vector<double>>) {
          append_array(out, GgufType::F64, v);
        } else {
          append_array(out, GgufType::String, v);
        }
      },
      value);
}

std::unexpected<Error> fail_tensor(const GgufTensor& tensor, std::string_view message) {
  return fail(ErrorCode::Unsupported,
              fmt::format("writing GGUF, tensor {}: {}", in_quotes(tensor.name), message));
}

// Appends a line of the table and moves `offset` past the tensor.
Status append_info(std::string& out, const GgufTensor& tensor, uint64_t& offset) {
  const auto number = ggml_number(tensor.dtype);
  if (!number) {
    return fail_tensor(tensor, fmt::format("GGUF has no type {}", name(tensor.dtype)));
  }
  if (tensor.shape.rank() > kMaxGgmlDimensions) {
    return fail_tensor(tensor, fmt::format("wanted at most {} dimensions, found shape {}",
                                           kMaxGgmlDimensions, tensor.shape.str()));
  }
  std::vector<uint64_t> sizes(tensor.shape.sizes().begin(), tensor.shape.sizes().end());
  const auto bytes = stored_bytes({tensor.dtype, Widening::None}, sizes);
  if (!bytes) {
    return fail_tensor(tensor, bytes.error().message);
  }
  append(out, std::string_view(tensor.name));
  append(out, static_cast<uint32_t>(sizes.size()));
  for (size_t i = sizes.size(); i > 0; --i) {
    append(out, sizes[i - 1]);
  }
  append(out, *number);
  append(out, offset);
  const uint64_t padded =
      (*bytes + kGgufWriterAlignment - 1) / kGgufWriterAlignment * kGgufWriterAlignment;
  offset += padded;
  return {};
}

// The tensors of the file: those asked for, each followed by its scales where it has them.
Result<std::vector<GgufTensor>> with_scales(std::vector<GgufTensor> tensors) {
  std::vector<GgufTensor> all;
  std::unordered_set<std::string> names;
  for (GgufTensor& tensor : tensors) {
    const bool scaled = tensor.has_row_scales;
    GgufTensor scales;
    if (scaled) {
      MYNAH_CHECK(tensor.dtype == DType::I8 && tensor.shape.rank() > 0, "scales of no int8 rows");
      scales = {.name = tensor.name + std::string(kGgufScaleSuffix),
                .dtype = DType::F32,
                .shape = Shape({tensor.shape[0]})};
    }
    all.push_back(std::move(tensor));
    if (scaled) {
      all.push_back(std::move(scales));
    }
  }
  for (const GgufTensor& tensor : all) {
    if (!names.insert(tensor.name).second) {
      return fail(ErrorCode::InvalidInput,
                  "writing GGUF: tensor " + in_quotes(tensor.name) + " comes twice");
    }
  }
  return all;
}

}  // namespace

Result<GgufWriter> GgufWriter::create(const std::string& path, const Metadata& metadata,
                                      std::vector<GgufTensor> tensors) {
  MYNAH_TRY(std::vector<GgufTensor> all, with_scales(std::move(tensors)));
  Metadata values = metadata;
  values.insert_or_assign(std::string(kAlignmentKey), static_cast<int64_t>(kGgufWriterAlignment));
  std::string header(kGgufMagic);
  append(header, kVersion);
  append(header, static_cast<uint64_t>(all.size()));
  append(header, static_cast<uint64_t>(values.size()));
  for (const auto& [key, value] : values) {
    append(header, std::string_view(key));
    append_value(header, key, value);
  }
  uint64_t offset = 0;
  for (const GgufTensor& tensor : all) {
    MYNAH_TRY_STATUS(append_info(header, tensor, offset));
  }
  MYNAH_TRY(AtomicFile file, AtomicFile::create(path));
  MYNAH_TRY_STATUS(file.write(header));
  MYNAH_TRY_STATUS(file.pad_to(kGgufWriterAlignment));
  return GgufWriter(std::move(file), std::move(all));
}

Status GgufWriter::write(std::string_view name, std::span<const std::byte> bytes,
                         std::span<const std::byte> row_scales) {
  MYNAH_CHECK(next_ < tensors_.size(), "more tensors than the table has");
  const GgufTensor& tensor = tensors_[next_++];
  MYNAH_CHECK(tensor.name == name, "wanted tensor ", tensor.name, " next, got ", std::string(name));
  MYNAH_CHECK(bytes.size() == storage_bytes(tensor.dtype, tensor.shape.elements()),
              "wrong number of bytes for tensor ", tensor.name);
  MYNAH_CHECK(row_scales.empty() != tensor.has_row_scales,
              "scales and the table disagree about tensor ", tensor.name);
  MYNAH_TRY_STATUS(file_.write(bytes));
  MYNAH_TRY_STATUS(file_.pad_to(kGgufWriterAlignment));
  if (!tensor.has_row_scales) {
    return {};
  }
  const std::string scales = tensor.name + std::string(kGgufScaleSuffix);
  return write(scales, row_scales);
}

Status GgufWriter::finish() {
  MYNAH_CHECK(next_ == tensors_.size(), "tensors of the table were not written");
  return file_.commit();
}

Status write_gguf(const std::string& path, const TensorFile& source) {
  std::vector<GgufTensor> tensors;
  tensors.reserve(source.tensors.size());
  for (const StoredTensor& tensor : source.tensors) {
    tensors.push_back({tensor.name, tensor.dtype, tensor.shape, !tensor.row_scales.empty()});
  }
  MYNAH_TRY(GgufWriter writer, GgufWriter::create(path, source.metadata, std::move(tensors)));
  for (const StoredTensor& tensor : source.tensors) {
    MYNAH_TRY_STATUS(writer.write(tensor.name, tensor.bytes, tensor.row_scales));
  }
  return writer.finish();
}

}  // namespace mynah
