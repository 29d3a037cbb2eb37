#include "store/convert.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <fmt/core.h>

#include "base/atomic_file.h"
#include "base/mapped_file.h"
#include "formats/gguf_writer.h"
#include "formats/json.h"
#include "formats/open.h"
#include "models/bert/checkpoint.h"
#include "models/bert/config.h"
#include "models/kokoro/checkpoint.h"
#include "models/whisper/stored_form.h"
#include "store/catalogue_embeddings.h"
#include "store/catalogue_language.h"
#include "store/files.h"
#include "tensor/quantize.h"
#include "text/vocabulary.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

constexpr std::array kStorageTypes = {DType::F32,  DType::F16,  DType::BF16,
                                      DType::I8,   DType::Q4_0, DType::Q4_1,
                                      DType::Q5_0, DType::Q5_1, DType::Q8_0};

constexpr std::string_view kTokensKey = "tokenizer.ggml.tokens";

// What a family makes of a file: its tensors under the names to write, and what goes with them.
struct Plan {
  std::string family;
  std::vector<StoredTensor> tensors;
  GgufWriter::Metadata metadata;
  // The type that a tensor is written in where the user wants one for the matrices; null: nothing
  // of the family is rounded.
  DType (*storage_of)(const StoredTensor& tensor, DType wanted) = nullptr;
  std::shared_ptr<const void> owner = {};  // of tensors' bytes that are not the file's
};

bool is_float(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
}

// Elements of a row, all dimensions but the first.
int64_t columns_of(const StoredTensor& tensor) {
  return tensor.shape[0] == 0 ? 0 : tensor.shape.elements() / tensor.shape[0];
}

// Matrices of a product: linear layers and the token embedding. Positions are only added, and
// convolution kernels and norms are small.
bool is_matrix(const StoredTensor& tensor) {
  return tensor.shape.rank() == 2 && tensor.name.ends_with("weight") &&
         (is_float(tensor.dtype) || is_block_type(tensor.dtype) || !tensor.row_scales.empty());
}

// The token embedding is looked up row by row as well as multiplied with, for which there is no
// int8 form; f16 loses nothing of the published models.
DType storage_in_whisper(const StoredTensor& tensor, DType wanted) {
  DType storage = is_matrix(tensor) ? wanted : tensor.dtype;
  if (storage == DType::I8 && tensor.name == "decoder.token_embedding.weight") {
    storage = tensor.dtype == DType::I8 ? DType::I8 : DType::F16;
  }
  const bool whole_blocks =
      storage == tensor.dtype || tensor.shape[1] % block_elements(storage) == 0;
  return whole_blocks ? storage : tensor.dtype;
}

// Matrices and kernels, two thirds of Kokoro. Kernels have rows of a few taps, which are no whole
// blocks: with a block type they are int8. Rows of fewer than 16 (pools, curves, the harmonics'
// mix) gain nothing by scales of their own, and embeddings are small.
DType storage_in_kokoro(const StoredTensor& tensor, DType wanted) {
  constexpr int64_t kLeastColumns = 16;
  const int rank = tensor.shape.rank();
  const size_t dot = tensor.name.rfind('.');
  const bool weight = (rank == 2 || rank == 3) && dot != std::string::npos &&
                      tensor.name.compare(dot, 7, ".weight") == 0;
  const bool table =
      tensor.name.ends_with("embedding.weight") || tensor.name.ends_with("embeddings.weight");
  if (!weight || table || columns_of(tensor) < kLeastColumns) {
    return tensor.dtype;
  }
  if (is_block_type(wanted) && (rank != 2 || tensor.shape[1] % block_elements(wanted) != 0)) {
    return DType::I8;
  }
  return wanted;
}

// Positions and kinds of sentences are only added. Words are looked up row by row, for which there
// is no int8 form.
DType storage_in_bert(const StoredTensor& tensor, DType wanted) {
  const bool table = tensor.name == "token_embd.weight";
  const bool added = tensor.name == "position_embd.weight" || tensor.name == "token_types.weight";
  const DType storage = table && wanted == DType::I8 ? DType::F16 : wanted;
  const bool rounded = is_matrix(tensor) && !added &&
                       (!is_block_type(storage) || tensor.shape[1] % block_elements(storage) == 0);
  return rounded ? storage : tensor.dtype;
}

// Bytes of one tensor in another type, and its scales where that is int8.
struct Rounded {
  std::vector<std::byte> bytes;
  std::vector<std::byte> row_scales;
};

// Elements `row` of a matrix as numbers.
void read_row(const StoredTensor& tensor, int64_t row, std::span<float> out) {
  const size_t row_bytes = storage_bytes(tensor.dtype, columns_of(tensor));
  dequantize(tensor.dtype, tensor.bytes.data() + static_cast<size_t>(row) * row_bytes, out);
  if (!tensor.row_scales.empty()) {
    float scale = 0;
    std::memcpy(&scale, tensor.row_scales.data() + static_cast<size_t>(row) * sizeof(float),
                sizeof(float));
    std::ranges::for_each(out, [scale](float& value) { value *= scale; });
  }
}

Rounded round_matrix(const StoredTensor& tensor, DType storage) {
  const int64_t rows = tensor.shape[0];
  const int64_t columns = columns_of(tensor);
  const size_t row_bytes = storage_bytes(storage, columns);
  Rounded result;
  result.bytes.resize(static_cast<size_t>(rows) * row_bytes);
  std::vector<float> values(static_cast<size_t>(columns));
  for (int64_t row = 0; row < rows; ++row) {
    read_row(tensor, row, values);
    std::byte* out = result.bytes.data() + static_cast<size_t>(row) * row_bytes;
    if (storage == DType::I8) {
      const float scale = quantize_row_i8(values, reinterpret_cast<int8_t*>(out));
      const auto* bytes = reinterpret_cast<const std::byte*>(&scale);
      result.row_scales.insert(result.row_scales.end(), bytes, bytes + sizeof(scale));
    } else {
      quantize(storage, values, out);
    }
  }
  return result;
}

// A vocabulary in the file's own metadata: GGUF's, CTranslate2's, or ggml's.
std::optional<std::vector<std::string>> embedded_tokens(const TensorFile& file) {
  for (const std::string_view key : {kTokensKey, std::string_view("vocabulary")}) {
    const auto found = file.metadata.find(key);
    if (found != file.metadata.end()) {
      if (const auto* tokens = std::get_if<std::vector<std::string>>(&found->second)) {
        return *tokens;
      }
    }
  }
  return std::nullopt;
}

// A folder, or the one that a file is in.
std::string folder_of(const std::string& source) {
  std::error_code ignored;
  const fs::path path(source);
  return (fs::is_directory(path, ignored) ? path : fs::absolute(path, ignored).parent_path())
      .string();
}

// Tokens in GPT-2's printable spelling, as GGUF has them.
Result<std::vector<std::string>> tokens_of(const TensorFile& file, const std::string& source) {
  const std::string folder = folder_of(source);
  if (auto tokens = embedded_tokens(file)) {
    // ggml .bin files hold the tokens' bytes themselves.
    if (file.format == "ggml") {
      std::ranges::transform(*tokens, tokens->begin(),
                             [](const std::string& token) { return printable_of_bytes(token); });
    }
    return *tokens;
  }
  auto vocabulary = load_vocabulary(folder);
  if (!vocabulary) {
    return fail(vocabulary.error().code,
                fmt::format("a Whisper model needs its vocabulary (tokenizer.json, vocab.json or "
                            "vocabulary.txt) in {}: {}",
                            folder, vocabulary.error().message));
  }
  std::vector<std::string> printable;
  printable.reserve(vocabulary->size());
  for (const std::string& token : *vocabulary) {
    printable.push_back(printable_of_bytes(token));
  }
  return printable;
}

// Hugging Face keeps the alignment heads beside the model, in generation_config.json.
Status add_generation_config(const std::string& source, TensorFile& file) {
  const std::string path = (fs::path(source) / "generation_config.json").string();
  const auto text = read_text_file(path);
  if (!text) {
    return {};
  }
  MYNAH_TRY(const nlohmann::json config, parse_json(*text, path));
  if (config.is_object() && config.contains("alignment_heads")) {
    add_json_metadata({{"alignment_heads", config["alignment_heads"]}}, "", file.metadata);
  }
  return {};
}

Result<Plan> plan_whisper(TensorFile& file, const std::string& source, const std::string& name) {
  MYNAH_TRY_STATUS(add_generation_config(source, file));
  MYNAH_TRY(StoredWhisper stored, read_stored_whisper(file, name));
  Plan plan{.family = "whisper",
            .tensors = std::move(stored.tensors),
            .metadata = std::move(stored.metadata),
            .storage_of = storage_in_whisper};
  MYNAH_TRY(std::vector<std::string> tokens, tokens_of(file, source));
  plan.metadata.insert_or_assign("tokenizer.ggml.model", std::string("gpt2"));
  plan.metadata.insert_or_assign(std::string(kTokensKey), std::move(tokens));
  return plan;
}

// The phonemes of a config.json or vocab.json in the source's folder, as Kokoro's repositories have
// it; nothing where there is none. A file of that name without a vocabulary is another model's.
Result<std::optional<kokoro::Phonemes>> phonemes_beside(const std::string& source) {
  for (const char* name : {"config.json", "vocab.json"}) {
    const std::string path = (fs::path(folder_of(source)) / name).string();
    const auto text = read_text_file(path);
    if (text && text->contains("\"vocab\"")) {
      MYNAH_TRY(kokoro::Phonemes phonemes, kokoro::Phonemes::of_json(*text, path));
      return std::optional(std::move(phonemes));
    }
  }
  return std::optional<kokoro::Phonemes>();
}

Result<Plan> plan_kokoro(const TensorFile& file, const std::string& source) {
  MYNAH_TRY(kokoro::Checkpoint checkpoint, kokoro::read_checkpoint(file));
  if (!checkpoint.phonemes) {
    MYNAH_TRY(checkpoint.phonemes, phonemes_beside(source));
  }
  const kokoro::Phonemes phonemes = checkpoint.phonemes.value_or(kokoro::Phonemes::of_kokoro_82m());
  return Plan{.family = "kokoro",
              .tensors = std::move(checkpoint.tensors),
              .metadata = {{std::string(kTokensKey), phonemes.tokens()}},
              .storage_of = storage_in_kokoro,
              .owner = std::move(checkpoint.owner)};
}

Result<Plan> plan_bert(TensorFile& file) {
  MYNAH_TRY(file, bert::as_gguf(std::move(file)));
  MYNAH_TRY_STATUS(bert::Config::read(file));
  return Plan{.family = std::string(kEmbeddingFamily),
              .tensors = file.tensors,
              .metadata = {file.metadata.begin(), file.metadata.end()},
              .storage_of = storage_in_bert};
}

Plan plan_silero(const TensorFile& file) {
  // Silero is small, and its weights are computed with in f32.
  Plan plan{.family = "silero", .tensors = {}, .metadata = {}};
  std::ranges::copy_if(file.tensors, std::back_inserter(plan.tensors),
                       [](const StoredTensor& tensor) { return is_float(tensor.dtype); });
  return plan;
}

// The basis of the spectrum under its two names: silero_vad's own and tinygrad's.
bool looks_like_silero(const TensorFile& file) {
  return std::ranges::any_of(file.tensors, [](const StoredTensor& tensor) {
    return tensor.name.ends_with("forward_basis_buffer") || tensor.name == "stft_conv.weight";
  });
}

Result<Plan> make_plan(TensorFile& file, const std::string& source, const std::string& name) {
  if (kokoro::looks_like_kokoro(file)) {
    return plan_kokoro(file, source);
  }
  if (looks_like_whisper(file)) {
    return plan_whisper(file, source, name);
  }
  if (looks_like_silero(file)) {
    return plan_silero(file);
  }
  if (bert::looks_like_folder(file)) {
    return plan_bert(file);
  }
  return fail(ErrorCode::Unsupported,
              fmt::format("{}: wanted a Whisper, Silero or Kokoro model, an embedding "
                          "model's folder or a language model's GGUF, found {} tensors that are "
                          "none's, the first named '{}'",
                          source, file.tensors.size(),
                          file.tensors.empty() ? "" : file.tensors.front().name));
}

// GGUF is the form that language models are published in, with all that goes with them.
bool looks_like_language(const TensorFile& file) {
  return file.format == "gguf" && file.metadata.contains("tokenizer.ggml.model") &&
         std::ranges::find(file.tensors, "token_embd.weight", &StoredTensor::name) !=
             file.tensors.end();
}

// Copies a file as it is.
Status copy_whole(const std::string& source, const std::string& target, StoreObserver& observer,
                  const std::stop_token& stop) {
  constexpr size_t kPiece = size_t{8} << 20;
  MYNAH_TRY(const auto file, MappedFile::open(source));
  const std::span<const std::byte> bytes = file->bytes();
  MYNAH_TRY_STATUS(check_disk_space(target, bytes.size()));
  MYNAH_TRY(AtomicFile whole, AtomicFile::create(target));
  for (size_t done = 0; done < bytes.size(); done += kPiece) {
    if (stop.stop_requested()) {
      return fail(ErrorCode::Cancelled, "stopped");
    }
    MYNAH_TRY_STATUS(whole.write(bytes.subspan(done, std::min(kPiece, bytes.size() - done))));
    observer.on_progress("copying", std::min(done + kPiece, bytes.size()), bytes.size());
  }
  return whole.commit();
}

// The type that holds most of the bytes: matrices, in any model.
std::string main_type(const std::vector<StoredTensor>& tensors) {
  std::map<DType, size_t> bytes;
  for (const StoredTensor& tensor : tensors) {
    bytes[tensor.dtype] += tensor.bytes.size();
  }
  const auto most =
      std::ranges::max_element(bytes, {}, [](const auto& entry) { return entry.second; });
  return std::string(name(most == bytes.end() ? DType::F32 : most->first));
}

Status write_plan(const Plan& plan, const std::string& target, std::optional<DType> wanted,
                  StoreObserver& observer, const std::stop_token& stop) {
  std::vector<GgufTensor> table;
  uint64_t total = 0;
  for (const StoredTensor& tensor : plan.tensors) {
    const DType storage = wanted ? plan.storage_of(tensor, *wanted) : tensor.dtype;
    const bool scales =
        storage == DType::I8 && (storage != tensor.dtype || !tensor.row_scales.empty());
    table.push_back(
        {.name = tensor.name, .dtype = storage, .shape = tensor.shape, .has_row_scales = scales});
    total += storage_bytes(storage, tensor.shape.elements());
  }
  MYNAH_TRY_STATUS(check_disk_space(target, total));
  MYNAH_TRY(GgufWriter writer, GgufWriter::create(target, plan.metadata, table));
  uint64_t done = 0;
  for (size_t i = 0; i < table.size(); ++i) {
    if (stop.stop_requested()) {
      return fail(ErrorCode::Cancelled, "stopped");
    }
    const StoredTensor& tensor = plan.tensors[i];
    if (table[i].dtype == tensor.dtype) {
      MYNAH_TRY_STATUS(writer.write(tensor.name, tensor.bytes, tensor.row_scales));
    } else {
      const Rounded rounded = round_matrix(tensor, table[i].dtype);
      MYNAH_TRY_STATUS(writer.write(tensor.name, rounded.bytes, rounded.row_scales));
    }
    done += storage_bytes(table[i].dtype, tensor.shape.elements());
    observer.on_progress("converting", done, total);
  }
  return writer.finish();
}

// What general.file_type of GGUF counts: mixtures of types by llama.cpp's names for them. "": a
// number that stands for none, or is not known here.
std::string name_of_mixture(const TensorFile& file) {
  constexpr std::array<std::string_view, 39> kNames = {
      "f32",    "f16",    "q4_0",  "q4_1",    "",       "",       "",       "q8_0",
      "q5_0",   "q5_1",   "q2_k",  "q3_k_s",  "q3_k_m", "q3_k_l", "q4_k_s", "q4_k_m",
      "q5_k_s", "q5_k_m", "q6_k",  "iq2_xxs", "iq2_xs", "q2_k_s", "iq3_xs", "iq3_xxs",
      "iq1_s",  "iq4_nl", "iq3_s", "iq3_m",   "iq2_s",  "iq2_m",  "iq4_xs", "iq1_m",
      "bf16",   "",       "",      "",        "tq1_0",  "tq2_0",  "mxfp4"};
  const auto found = file.metadata.find("general.file_type");
  const auto* const number =
      found == file.metadata.end() ? nullptr : std::get_if<int64_t>(&found->second);
  const bool is_known =
      number != nullptr && *number >= 0 && *number < static_cast<int64_t>(kNames.size());
  return is_known ? std::string(kNames[static_cast<size_t>(*number)]) : std::string();
}

// Whether the file says how a conversation is written.
bool has_chat_template(const TensorFile& file) {
  const auto found = file.metadata.find("tokenizer.chat_template");
  const auto* const text =
      found == file.metadata.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text != nullptr && !text->empty();
}

}  // namespace

Result<Converted> convert_model(const std::string& source, const std::string& target,
                                const ConvertOptions& options, StoreObserver& observer,
                                const std::stop_token& stop) {
  MYNAH_TRY(TensorFile file, open_tensor_file(source));
  constexpr const char* kLicenceKey = "general.license";
  std::string licence = options.licence;
  if (const auto own = file.metadata.find(kLicenceKey);
      licence.empty() && own != file.metadata.end()) {
    const auto* text = std::get_if<std::string>(&own->second);
    licence = text != nullptr ? *text : "";
  }
  if (looks_like_language(file)) {
    const bool encodes = bert::is_encoder(file);
    if (encodes) {
      MYNAH_TRY_STATUS(bert::Config::read(file));
    }
    if (options.storage) {
      return fail(ErrorCode::Unsupported,
                  fmt::format("{}: {} keeps the types that its file has; wanted none with --type, "
                              "or a file of that type",
                              source, encodes ? "an embedding model" : "a language model"));
    }
    MYNAH_TRY_STATUS(copy_whole(source, target, observer, stop));
    const std::string mixture = name_of_mixture(file);
    return Converted{.family = std::string(encodes ? kEmbeddingFamily : kLanguageFamily),
                     .storage = mixture.empty() ? main_type(file.tensors) : mixture,
                     .licence = std::move(licence),
                     .converses = encodes || has_chat_template(file)};
  }
  MYNAH_TRY(Plan plan, make_plan(file, source, options.name));
  plan.metadata.emplace("general.architecture", plan.family);  // bert's own is its architecture
  plan.metadata.insert_or_assign("general.name", options.name);
  if (!licence.empty()) {
    plan.metadata.insert_or_assign(kLicenceKey, licence);
  }
  const std::optional<DType> storage = plan.storage_of == nullptr ? std::nullopt : options.storage;
  MYNAH_TRY_STATUS(write_plan(plan, target, storage, observer, stop));
  return Converted{.family = plan.family,
                   .storage = storage ? std::string(name(*storage)) : main_type(plan.tensors),
                   .licence = std::move(licence)};
}

Result<DType> parse_storage(const std::string& text) {
  const auto dtype = text == "int8" ? DType::I8 : parse_dtype(text);
  if (dtype && std::ranges::find(kStorageTypes, *dtype) != kStorageTypes.end()) {
    return *dtype;
  }
  std::string names;
  for (const DType known : kStorageTypes) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name(known));
  }
  return fail(ErrorCode::InvalidInput,
              fmt::format("wanted a storage type of {}; found '{}'", names, text));
}

}  // namespace mynah
