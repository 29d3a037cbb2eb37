#include "formats/npz.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "formats/byte_reader.h"
#include "formats/strided_copy.h"
#include "formats/tensor_file_builder.h"
#include "formats/zip.h"

namespace mynah {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";

struct NumpyType {
  std::string_view spelled;
  ElementType type;
  size_t bytes;
};

constexpr std::array<NumpyType, 12> kNumpyTypes = {{
    {"<f4", {DType::F32, Widening::None}, 4},
    {"<f2", {DType::F16, Widening::None}, 2},
    {"<f8", {DType::F32, Widening::F64ToF32}, 8},
    {"|i1", {DType::I8, Widening::None}, 1},
    {"|u1", {DType::U8, Widening::None}, 1},
    {"|b1", {DType::U8, Widening::None}, 1},
    {"<i2", {DType::I32, Widening::I16ToI32}, 2},
    {"<u2", {DType::I32, Widening::U16ToI32}, 2},
    {"<i4", {DType::I32, Widening::None}, 4},
    {"<u4", {DType::I64, Widening::U32ToI64}, 4},
    {"<i8", {DType::I64, Widening::None}, 8},
    {"<u8", {DType::I64, Widening::U64ToI64}, 8},
}};

struct Header {
  NumpyType type{};
  bool fortran_order = false;
  std::vector<uint64_t> sizes;
};

// The header is a Python dictionary of three known keys: only those are looked for.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const ByteReader& reader) : text_(text), reader_(reader) {}

  Result<Header> parse() {
    Header header;
    bool seen_type = false;
    bool seen_order = false;
    bool seen_shape = false;
    MYNAH_TRY_STATUS(expect('{'));
    while (!accept('}')) {
      MYNAH_TRY(const std::string_view key, parse_string());
      MYNAH_TRY_STATUS(expect(':'));
      if (key == "descr" && !seen_type) {
        MYNAH_TRY(header.type, parse_type());
        seen_type = true;
      } else if (key == "fortran_order" && !seen_order) {
        MYNAH_TRY(header.fortran_order, parse_bool());
        seen_order = true;
      } else if (key == "shape" && !seen_shape) {
        MYNAH_TRY(header.sizes, parse_shape());
        seen_shape = true;
      } else {
        return complain("descr, fortran_order and shape, each once");
      }
      if (!accept(',')) {
        MYNAH_TRY_STATUS(expect('}'));
        break;
      }
    }
    if (!seen_type || !seen_order || !seen_shape) {
      return complain("descr, fortran_order and shape");
    }
    return header;
  }

 private:
  [[nodiscard]] std::unexpected<Error> complain(std::string_view wanted) const {
    return reader_.fail_here(
        fmt::format("wanted {} in the array's header, found {}", wanted, in_quotes(text_)));
  }

  void skip_spaces() {
    const size_t end = text_.find_first_not_of(" \n");
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end);
  }

  bool accept(char c) {
    skip_spaces();
    if (!text_.starts_with(c)) {
      return false;
    }
    text_.remove_prefix(1);
    return true;
  }

  Status expect(char c) {
    if (!accept(c)) {
      return complain(std::string("'") + c + "'");
    }
    return {};
  }

  Result<std::string_view> parse_string() {
    skip_spaces();
    const char quote = text_.empty() ? '\0' : text_.front();
    const size_t end =
        quote == '\'' || quote == '"' ? text_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      return complain("a string");
    }
    const std::string_view value = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return value;
  }

  Result<NumpyType> parse_type() {
    skip_spaces();
    if (text_.starts_with('[')) {
      return reader_.fail_here("wanted an array of numbers, found one of records",
                               ErrorCode::Unsupported);
    }
    MYNAH_TRY(const std::string_view spelled, parse_string());
    const auto* const found = std::ranges::find(kNumpyTypes, spelled, &NumpyType::spelled);
    if (found == kNumpyTypes.end()) {
      return reader_.fail_here(fmt::format("element type {} is none that mynah reads; save the "
                                           "array as little-endian float32, float16 or integers",
                                           in_quotes(spelled)),
                               ErrorCode::Unsupported);
    }
    return *found;
  }

  Result<bool> parse_bool() {
    skip_spaces();
    for (const auto& [word, value] : {std::pair("True", true), std::pair("False", false)}) {
      if (text_.starts_with(word)) {
        text_.remove_prefix(std::string_view(word).size());
        return value;
      }
    }
    return complain("True or False");
  }

  Result<std::vector<uint64_t>> parse_shape() {
    MYNAH_TRY_STATUS(expect('('));
    std::vector<uint64_t> sizes;
    while (!accept(')')) {
      uint64_t size = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
      if (error != std::errc()) {
        return complain("a size");
      }
      text_.remove_prefix(static_cast<size_t>(end - text_.data()));
      sizes.push_back(size);
      if (!accept(',')) {
        MYNAH_TRY_STATUS(expect(')'));
        break;
      }
      skip_spaces();
    }
    return sizes;
  }

  std::string_view text_;
  const ByteReader& reader_;
};

Result<Header> read_header(ByteReader& reader) {
  MYNAH_TRY(const std::string_view magic, reader.text(kNpyMagic.size(), "the magic"));
  if (magic != kNpyMagic) {
    return reader.fail_here("wanted NumPy's magic, found " + in_quotes(magic));
  }
  MYNAH_TRY(const auto major, reader.read<uint8_t>("the version"));
  MYNAH_TRY_STATUS(reader.read<uint8_t>("the version"));
  if (major < 1 || major > 3) {
    return reader.fail_here(fmt::format("wanted .npy version 1 to 3, found {}", major),
                            ErrorCode::Unsupported);
  }
  uint64_t length = 0;
  if (major == 1) {
    MYNAH_TRY(length, reader.read<uint16_t>("the header's length"));
  } else {
    MYNAH_TRY(length, reader.read<uint32_t>("the header's length"));
  }
  MYNAH_TRY(const std::string_view text, reader.text(length, "the header"));
  return HeaderParser(text, reader).parse();
}

Status add_fortran(std::string_view name, const Header& header, std::span<const std::byte> bytes,
                   TensorFileBuilder& builder) {
  std::vector<uint64_t> strides;
  uint64_t stride = 1;
  for (const uint64_t size : header.sizes) {
    strides.push_back(stride);
    stride *= std::max<uint64_t>(size, 1);  // stored_bytes() has checked the product
  }
  auto copy = copy_strided(bytes, header.type.bytes, 0, header.sizes, strides);
  if (!copy) {
    return std::unexpected(
        std::move(copy).error().while_doing(builder.file().path + ", tensor " + in_quotes(name)));
  }
  return builder.add_owned(name, header.type.type, header.sizes, std::move(*copy));
}

// Adds the one array of `bytes`.
Status add_array(std::string_view name, std::span<const std::byte> bytes,
                 TensorFileBuilder& builder) {
  ByteReader reader(bytes, name == "array" ? builder.file().path
                                           : builder.file().path + ", member " + in_quotes(name));
  MYNAH_TRY(const Header header, read_header(reader));
  const auto wanted = stored_bytes(header.type.type, header.sizes);
  if (!wanted) {
    return reader.fail_here(wanted.error().message, wanted.error().code);
  }
  if (*wanted != reader.remaining()) {
    return reader.fail_here(
        fmt::format("wanted {} bytes of values, found {}", *wanted, reader.remaining()));
  }
  MYNAH_TRY(const std::span<const std::byte> values, reader.take(*wanted, "the values"));
  if (header.fortran_order && header.sizes.size() > 1) {
    return add_fortran(name, header, values, builder);
  }
  return builder.add(name, header.type.type, header.sizes, values);
}

}  // namespace

Result<TensorFile> read_npy(const std::shared_ptr<const MappedFile>& file) {
  TensorFileBuilder builder("npz", file);
  MYNAH_TRY_STATUS(add_array("array", file->bytes(), builder));
  return std::move(builder).finish();
}

Result<TensorFile> read_npz(const std::shared_ptr<const MappedFile>& file) {
  constexpr std::string_view kExtension = ".npy";
  TensorFileBuilder builder("npz", file);
  MYNAH_TRY(const ZipArchive archive, ZipArchive::open(file));
  for (const ZipMember& member : archive.members()) {
    std::string_view name = member.name;
    if (!name.ends_with(kExtension)) {
      return fail(ErrorCode::InvalidInput,
                  file->path() + ": wanted .npy members, found " + in_quotes(name));
    }
    name.remove_suffix(kExtension.size());
    MYNAH_TRY(ZipBytes bytes, archive.read(member));
    builder.unpacked(bytes.bytes.size());
    builder.keep(std::move(bytes.owner));
    MYNAH_TRY_STATUS(add_array(name, bytes.bytes, builder));
  }
  return std::move(builder).finish();
}

}  // namespace mynah
