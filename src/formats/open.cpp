#include "formats/open.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "formats/byte_reader.h"
#include "formats/ctranslate2.h"
#include "formats/ggml_bin.h"
#include "formats/gguf.h"
#include "formats/json.h"
#include "formats/npz.h"
#include "formats/onnx.h"
#include "formats/pytorch.h"
#include "formats/safetensors.h"
#include "formats/zip.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

std::string_view as_text(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

bool looks_like_safetensors(std::string_view text) {
  return text.size() > 8 && text[8] == '{';
}

// A version, then a string that its length says ends with NUL.
bool looks_like_ctranslate2(std::string_view text) {
  if (text.size() < 8 || text[0] == 0 || text[0] > 9 ||
      text.substr(1, 3) != std::string_view("\0\0\0", 3)) {
    return false;
  }
  const size_t length =
      static_cast<unsigned char>(text[4]) + 256U * static_cast<unsigned char>(text[5]);
  return length > 1 && text.size() >= 6 + length && text[6 + length - 1] == '\0';
}

// Field 1, ir_version, as a varint; writers put it first.
bool looks_like_onnx(std::string_view text) {
  return text.size() > 2 && text[0] == 0x08 && static_cast<unsigned char>(text[1]) < 0x80;
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

Status add_config(const fs::path& folder, TensorFile& file) {
  const fs::path path = folder / "config.json";
  if (!is_there(path)) {
    return {};
  }
  MYNAH_TRY(const auto mapped, MappedFile::open(path.string()));
  MYNAH_TRY(const nlohmann::json config, parse_json(as_text(*mapped), mapped->path()));
  add_json_metadata(config, "", file.metadata);
  return {};
}

Status merge_shard(TensorFile shard, TensorFile& into) {
  for (StoredTensor& tensor : shard.tensors) {
    if (into.find(tensor.name) != nullptr) {
      return fail(ErrorCode::InvalidInput, shard.path + ": tensor " + in_quotes(tensor.name) +
                                               " is in another shard already");
    }
    into.tensors.push_back(std::move(tensor));
  }
  into.metadata.merge(shard.metadata);
  into.owners.insert(into.owners.end(), shard.owners.begin(), shard.owners.end());
  into.mapped.insert(into.mapped.end(), shard.mapped.begin(), shard.mapped.end());
  return {};
}

// The files that model.safetensors.index.json names, each only by a name inside the folder.
Result<std::set<std::string>> shard_names(const fs::path& index) {
  MYNAH_TRY(const auto mapped, MappedFile::open(index.string()));
  MYNAH_TRY(const nlohmann::json json, parse_json(as_text(*mapped), mapped->path()));
  const auto map = json.is_object() ? json.find("weight_map") : json.end();
  if (map == json.end() || !map->is_object()) {
    return fail(ErrorCode::InvalidInput, mapped->path() + ": wanted an object \"weight_map\"");
  }
  std::set<std::string> names;
  for (const auto& [tensor, shard] : map->items()) {
    if (!shard.is_string() || fs::path(shard.get<std::string>()).has_parent_path()) {
      return fail(ErrorCode::InvalidInput,
                  mapped->path() + ": wanted a file's name for tensor " + in_quotes(tensor));
    }
    names.insert(shard.get<std::string>());
  }
  return names;
}

Result<TensorFile> read_shards(const fs::path& folder, const fs::path& index) {
  MYNAH_TRY(const std::set<std::string> names, shard_names(index));
  TensorFile result;
  result.format = "safetensors";
  for (const std::string& name : names) {
    MYNAH_TRY(const auto mapped, MappedFile::open((folder / name).string()));
    MYNAH_TRY(TensorFile shard, read_safetensors(mapped));
    MYNAH_TRY_STATUS(merge_shard(std::move(shard), result));
  }
  return result;
}

Result<TensorFile> open_folder(const fs::path& folder) {
  if (is_there(folder / "model.bin")) {
    return read_ctranslate2_folder(folder.string());
  }
  Result<TensorFile> result =
      fail(ErrorCode::NotFound,
           folder.string() +
               ": wanted a model's folder with model.bin, model.safetensors, "
               "model.safetensors.index.json or pytorch_model.bin, found none of them");
  if (is_there(folder / "model.safetensors")) {
    result = open_tensor_file((folder / "model.safetensors").string());
  } else if (is_there(folder / "model.safetensors.index.json")) {
    result = read_shards(folder, folder / "model.safetensors.index.json");
  } else if (is_there(folder / "pytorch_model.bin")) {
    result = open_tensor_file((folder / "pytorch_model.bin").string());
  }
  if (result) {
    result->path = folder.string();
    MYNAH_TRY_STATUS(add_config(folder, *result));
  }
  return result;
}

// A zip archive of arrays or of a checkpoint.
Result<TensorFile> read_archive(const std::shared_ptr<const MappedFile>& file) {
  MYNAH_TRY(const ZipArchive archive, ZipArchive::open(file));
  for (const ZipMember& member : archive.members()) {
    if (member.name.ends_with(".npy")) {
      return read_npz(file);
    }
    if (member.name.ends_with("data.pkl")) {
      return read_pytorch(file);
    }
  }
  return fail(ErrorCode::Unsupported,
              file->path() +
                  ": wanted a zip archive of NumPy arrays or a PyTorch checkpoint, found "
                  "neither .npy members nor a data.pkl");
}

}  // namespace

Result<TensorFile> read_tensor_file(const std::shared_ptr<const MappedFile>& file) {
  const std::string_view text = as_text(*file);
  if (text.starts_with(kGgufMagic)) {
    return read_gguf(file);
  }
  if (text.starts_with("lmgg")) {  // kGgmlMagic, little-endian
    return read_ggml_bin(file);
  }
  if (text.starts_with("\x93NUMPY")) {
    return read_npy(file);
  }
  if (text.starts_with("PK\x03\x04")) {
    return read_archive(file);
  }
  if (looks_like_safetensors(text)) {
    return read_safetensors(file);
  }
  if (looks_like_ctranslate2(text)) {
    return read_ctranslate2(file);
  }
  if (text.starts_with("\x80\x02")) {  // a pickle that no zip archive is around
    return fail(ErrorCode::Unsupported,
                file->path() +
                    ": PyTorch checkpoints from before 1.6 are not read; save it again "
                    "with a newer torch.save, or as safetensors");
  }
  constexpr size_t kTarMagicOffset = 257;  // POSIX ustar
  if (text.substr(std::min(kTarMagicOffset, text.size())).starts_with("ustar")) {
    return fail(ErrorCode::Unsupported,
                file->path() +
                    ": tar archives are not read: unpack it (tar xf) and give the model "
                    "inside, which in a .nemo is model_weights.ckpt");
  }
  if (text.starts_with("\x1f\x8b")) {
    return fail(ErrorCode::Unsupported,
                file->path() +
                    ": files packed with gzip are not read: unpack it (tar xzf a .nemo "
                    "or .tar.gz, gunzip anything else) and give the model inside");
  }
  if (looks_like_onnx(text)) {
    return read_onnx(file);
  }
  return fail(ErrorCode::Unsupported,
              fmt::format("{}: wanted a model (safetensors, GGUF, ggml, CTranslate2, PyTorch zip, "
                          "ONNX, npz), found {} bytes "
                          "that begin with {}",
                          file->path(), text.size(), in_quotes(text.substr(0, 8))));
}

Result<TensorFile> open_tensor_file(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    return open_folder(path);
  }
  MYNAH_TRY(const auto file, MappedFile::open(path));
  return read_tensor_file(file);
}

}  // namespace mynah
