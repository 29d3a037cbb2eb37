#include "formats/ctranslate2.h"

#include <array>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "formats/byte_reader.h"
#include "formats/json.h"
#include "formats/tensor_file_builder.h"

namespace mynah {
namespace {

constexpr uint32_t kBinaryVersion = 6;

// include/ctranslate2/types.h, enum class DataType, in order.
constexpr std::array<ElementType, 6> kElementTypes = {{
    {DType::F32, Widening::None},
    {DType::I8, Widening::None},
    {DType::I32, Widening::I16ToI32},
    {DType::I32, Widening::None},
    {DType::F16, Widening::None},
    {DType::BF16, Widening::None},
}};

// Two bytes of length, then that many bytes of which the last is NUL.
Result<std::string_view> read_short_string(ByteReader& reader, std::string_view what) {
  MYNAH_TRY(const auto length, reader.read<uint16_t>(what));
  MYNAH_TRY(const std::string_view text, reader.text(length, what));
  if (text.empty() || text.find('\0') != text.size() - 1) {
    return reader.fail_here(fmt::format("wanted {} that ends with its only NUL byte", what));
  }
  return text.substr(0, text.size() - 1);
}

Status read_variable(ByteReader& reader, TensorFileBuilder& builder) {
  MYNAH_TRY(const std::string_view name, read_short_string(reader, "a variable's name"));
  MYNAH_TRY(const auto rank, reader.read<uint8_t>("a variable's rank"));
  std::vector<uint64_t> sizes;
  for (int i = 0; i < rank; ++i) {
    MYNAH_TRY(const auto size, reader.read<uint32_t>("a variable's size"));
    sizes.push_back(size);
  }
  MYNAH_TRY(const auto type, reader.read<uint8_t>("a variable's type"));
  if (type >= kElementTypes.size()) {
    return reader.fail_here(
        fmt::format("variable {}: wanted an element type from 0 to {}, found {}", in_quotes(name),
                    kElementTypes.size() - 1, type));
  }
  MYNAH_TRY(const auto byte_count, reader.read<uint32_t>("a variable's number of bytes"));
  MYNAH_TRY(const std::span<const std::byte> bytes,
            reader.take(byte_count, "variable " + in_quotes(name)));
  return builder.add(name, kElementTypes[type], sizes, bytes);
}

Status read_aliases(ByteReader& reader, TensorFileBuilder& builder) {
  MYNAH_TRY(const auto count, reader.read<uint32_t>("the number of aliases"));
  for (uint32_t i = 0; i < count; ++i) {
    MYNAH_TRY(const std::string_view alias, read_short_string(reader, "an alias"));
    MYNAH_TRY(const std::string_view target, read_short_string(reader, "an alias's target"));
    if (!builder.contains(target)) {
      return reader.fail_here("alias " + in_quotes(alias) + " stands for " + in_quotes(target) +
                              ", which the file does not have");
    }
    MYNAH_TRY_STATUS(builder.set("alias." + std::string(alias), std::string(target)));
  }
  return {};
}

std::string_view as_text(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// The tokens of the first vocabulary file that is there, or nothing.
Result<std::optional<std::vector<std::string>>> read_vocabulary(
    const std::filesystem::path& folder) {
  for (const char* name :
       {"vocabulary.json", "vocabulary.txt", "shared_vocabulary.json", "shared_vocabulary.txt"}) {
    const std::filesystem::path path = folder / name;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
      continue;
    }
    MYNAH_TRY(const auto file, MappedFile::open(path.string()));
    if (path.extension() == ".txt") {
      return lines_of(as_text(*file));
    }
    MYNAH_TRY(const nlohmann::json json, parse_json(as_text(*file), file->path()));
    std::vector<std::string> tokens;
    if (!json.is_array()) {
      return fail(ErrorCode::InvalidInput, file->path() + ": wanted a JSON array of tokens");
    }
    for (const nlohmann::json& token : json) {
      if (!token.is_string()) {
        return fail(ErrorCode::InvalidInput, file->path() + ": wanted a JSON array of strings");
      }
      tokens.push_back(token.get<std::string>());
    }
    return tokens;
  }
  return std::nullopt;
}

}  // namespace

Result<TensorFile> read_ctranslate2(const std::shared_ptr<const MappedFile>& model_bin) {
  ByteReader reader(model_bin->bytes(), model_bin->path());
  TensorFileBuilder builder("ctranslate2", model_bin);
  MYNAH_TRY(const auto version, reader.read<uint32_t>("the binary version"));
  if (version != kBinaryVersion) {
    return reader.fail_here(
        fmt::format(
            "wanted CTranslate2 binary version {}, found {}; convert the model again with a "
            "CTranslate2 converter of 2.0 or later",
            kBinaryVersion, version),
        ErrorCode::Unsupported);
  }
  MYNAH_TRY(const std::string_view spec, read_short_string(reader, "the specification's name"));
  MYNAH_TRY(const auto revision, reader.read<uint32_t>("the specification's revision"));
  MYNAH_TRY_STATUS(builder.set("ctranslate2.spec", std::string(spec)));
  MYNAH_TRY_STATUS(builder.set("ctranslate2.revision", static_cast<int64_t>(revision)));
  MYNAH_TRY(const auto count, reader.read<uint32_t>("the number of variables"));
  for (uint32_t i = 0; i < count; ++i) {
    MYNAH_TRY_STATUS(read_variable(reader, builder));
  }
  MYNAH_TRY_STATUS(read_aliases(reader, builder));
  if (!reader.at_end()) {
    return reader.fail_here(
        fmt::format("wanted the end after the aliases, found {} more bytes", reader.remaining()));
  }
  MYNAH_TRY_STATUS(builder.attach_row_scales("_scale", TensorFileBuilder::Inverse::Yes));
  return std::move(builder).finish();
}

Result<TensorFile> read_ctranslate2_folder(const std::string& folder) {
  const std::filesystem::path root(folder);
  MYNAH_TRY(const auto model_bin, MappedFile::open((root / "model.bin").string()));
  MYNAH_TRY(TensorFile result, read_ctranslate2(model_bin));
  result.path = folder;
  std::error_code ignored;
  const std::filesystem::path config_path = root / "config.json";
  if (std::filesystem::exists(config_path, ignored)) {
    MYNAH_TRY(const auto config_file, MappedFile::open(config_path.string()));
    MYNAH_TRY(const nlohmann::json config, parse_json(as_text(*config_file), config_file->path()));
    add_json_metadata(config, "", result.metadata);
  }
  MYNAH_TRY(auto vocabulary, read_vocabulary(root));
  if (vocabulary) {
    result.metadata.insert_or_assign("vocabulary", std::move(*vocabulary));
  }
  return result;
}

}  // namespace mynah
