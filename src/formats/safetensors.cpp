#include "formats/safetensors.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "formats/byte_reader.h"
#include "formats/json.h"
#include "formats/tensor_file_builder.h"

namespace mynah {
namespace {

using Json = nlohmann::json;

// The reference reader's own limit on the table.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;

std::optional<ElementType> element_type(std::string_view name) {
  static const std::map<std::string_view, ElementType> kTypes = {
      {"F32", {DType::F32, Widening::None}},     {"F16", {DType::F16, Widening::None}},
      {"BF16", {DType::BF16, Widening::None}},   {"F64", {DType::F32, Widening::F64ToF32}},
      {"I8", {DType::I8, Widening::None}},       {"U8", {DType::U8, Widening::None}},
      {"BOOL", {DType::U8, Widening::None}},     {"I16", {DType::I32, Widening::I16ToI32}},
      {"U16", {DType::I32, Widening::U16ToI32}}, {"I32", {DType::I32, Widening::None}},
      {"U32", {DType::I64, Widening::U32ToI64}}, {"I64", {DType::I64, Widening::None}},
      {"U64", {DType::I64, Widening::U64ToI64}},
  };
  const auto found = kTypes.find(name);
  return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}

struct Entry {
  std::string name;
  ElementType type;
  std::vector<uint64_t> sizes;
  uint64_t begin = 0;  // in the bytes after the table
  uint64_t end = 0;
};

std::optional<std::vector<uint64_t>> unsigned_array(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) {
    return std::nullopt;
  }
  std::vector<uint64_t> values;
  for (const Json& value : *found) {
    if (!value.is_number_unsigned()) {
      return std::nullopt;
    }
    values.push_back(value.get<uint64_t>());
  }
  return values;
}

Result<Entry> parse_entry(const std::string& name, const Json& value, std::string_view file) {
  const auto complain = [&](std::string_view message, ErrorCode code = ErrorCode::InvalidInput) {
    return fail(code, fmt::format("{}, tensor {}: {}", file, in_quotes(name), message));
  };
  if (!value.is_object()) {
    return complain("wanted an object with dtype, shape and data_offsets");
  }
  const auto dtype = value.find("dtype");
  if (dtype == value.end() || !dtype->is_string()) {
    return complain("wanted a string \"dtype\"");
  }
  const auto& spelled = dtype->get_ref<const std::string&>();
  const auto type = element_type(spelled);
  if (!type) {
    return complain("element type " + in_quotes(spelled) +
                        " is none that mynah reads; save the tensor as F32, F16, BF16 or I8",
                    ErrorCode::Unsupported);
  }
  auto sizes = unsigned_array(value, "shape");
  if (!sizes) {
    return complain("wanted \"shape\" as an array of sizes");
  }
  const auto offsets = unsigned_array(value, "data_offsets");
  if (!offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1]) {
    return complain("wanted \"data_offsets\" as [begin, end]");
  }
  return Entry{name, *type, std::move(*sizes), (*offsets)[0], (*offsets)[1]};
}

Result<std::vector<Entry>> parse_table(const Json& table, TensorFileBuilder& builder) {
  const std::string& path = builder.file().path;
  if (!table.is_object()) {
    return fail(ErrorCode::InvalidInput, path + ": wanted a JSON object of tensors as the header");
  }
  std::vector<Entry> entries;
  for (const auto& [name, value] : table.items()) {
    if (name == "__metadata__") {
      if (!value.is_object()) {
        return fail(ErrorCode::InvalidInput, path + ": wanted an object as __metadata__");
      }
      for (const auto& [key, text] : value.items()) {
        if (!text.is_string()) {
          return fail(ErrorCode::InvalidInput, path + ": wanted strings in __metadata__");
        }
        MYNAH_TRY_STATUS(builder.set(key, text.get<std::string>()));
      }
      continue;
    }
    MYNAH_TRY(Entry entry, parse_entry(name, value, path));
    entries.push_back(std::move(entry));
  }
  std::ranges::sort(entries, {}, [](const Entry& e) { return std::pair(e.begin, e.end); });
  return entries;
}

}  // namespace

Result<TensorFile> read_safetensors(const std::shared_ptr<const MappedFile>& file) {
  ByteReader reader(file->bytes(), file->path());
  TensorFileBuilder builder("safetensors", file);
  MYNAH_TRY(const uint64_t header_bytes, reader.read<uint64_t>("the header's length"));
  if (header_bytes > kMaxHeaderBytes) {
    return reader.fail_here(fmt::format("wanted a header of at most {} bytes, found {}",
                                        kMaxHeaderBytes, header_bytes));
  }
  MYNAH_TRY(const std::string_view header, reader.text(header_bytes, "the header"));
  MYNAH_TRY(const Json table, parse_json(header, file->path()));
  MYNAH_TRY(const std::vector<Entry> entries, parse_table(table, builder));
  uint64_t expected = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != expected) {
      return reader.fail_here(
          fmt::format("tensor {} should begin at data byte {}, after the one before; its "
                      "data_offsets say {}: tensors {}",
                      in_quotes(entry.name), expected, entry.begin,
                      entry.begin < expected ? "overlap" : "leave a gap"));
    }
    MYNAH_TRY(const std::span<const std::byte> bytes,
              reader.take(entry.end - entry.begin, "tensor " + in_quotes(entry.name)));
    MYNAH_TRY_STATUS(builder.add(entry.name, entry.type, entry.sizes, bytes));
    expected = entry.end;
  }
  if (!reader.at_end()) {
    return reader.fail_here(fmt::format("wanted the end after the last tensor, found {} more bytes",
                                        reader.remaining()));
  }
  return std::move(builder).finish();
}

}  // namespace mynah
