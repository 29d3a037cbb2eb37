#include "speech/whisper/whisper_file.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "formats/open.h"
#include "models/whisper/names.h"
#include "speech/weight_cache.h"
#include "speech/whisper/whisper_header.h"
#include "speech/whisper/window_decoder.h"
#include "tensor/device_error.h"

namespace mynah {
namespace {

const std::vector<std::string>* find_strings(const TensorFile& file, std::string_view key) {
  const auto found = file.metadata.find(key);
  return found == file.metadata.end() ? nullptr
                                      : std::get_if<std::vector<std::string>>(&found->second);
}

// The vocabulary inside the file, or in a file beside it.
Result<Vocabulary> find_vocabulary(const TensorFile& file, const std::string& path) {
  if (const auto* printable = find_strings(file, "tokenizer.ggml.tokens")) {
    return vocabulary_of_printable(*printable);
  }
  // whisper.cpp's own format has the tokens' bytes as they are.
  if (const auto* tokens = find_strings(file, "vocabulary"); tokens && file.format == "ggml") {
    return Vocabulary(*tokens);
  }
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return load_vocabulary(folder ? path : parent.empty() ? "." : parent);
}

std::string name_of(const TensorFile& file, const std::string& path) {
  for (const std::string_view key : {"mynah.name", "general.name"}) {
    const auto found = file.metadata.find(key);
    if (found != file.metadata.end() && std::holds_alternative<std::string>(found->second)) {
      return std::get<std::string>(found->second);
    }
  }
  const std::filesystem::path clean = std::filesystem::path(path).lexically_normal();
  const std::filesystem::path last = clean.has_filename() ? clean : clean.parent_path();
  std::error_code ignored;
  return (std::filesystem::is_directory(last, ignored) ? last.filename() : last.stem()).string();
}

// Tells a voice detector by the basis of its spectrum, under silero_vad's name and tinygrad's: it
// is the model that users take for the other one.
Status check_is_no_detector(const TensorFile& file, const std::string& path) {
  const bool detector = std::ranges::any_of(file.tensors, [](const StoredTensor& tensor) {
    return tensor.name.ends_with("forward_basis_buffer") || tensor.name == "stft_conv.weight";
  });
  if (!detector) {
    return {};
  }
  return fail(ErrorCode::Unsupported,
              fmt::format("{}: {} is a voice detector, which finds speech but does not write it "
                          "(--vad-model takes it); wanted a Whisper model, such as tiny.en: `mynah "
                          "pull tiny.en`",
                          path, name_of(file, path)));
}

// Beside the weights, for one window at a time: what the driver keeps of a card for itself and a
// program of kernels, and the logits; the decoder's keys and values of the window and of silence in
// f16, and of the encoder's layers a dozen rows of its width a position in f32 (queries, keys and
// values side by side, the four times wider middle of the feed-forward, input and output).
uint64_t bytes_beside_weights(const whisper::Config& config) {
  constexpr uint64_t kLeast = 64ULL << 20;
  constexpr int64_t kRows = 12;
  const int64_t positions = config.n_audio_ctx * config.n_audio_state;
  const int64_t keys_values = 2 * positions * config.n_text_layer * 2;
  return static_cast<uint64_t>(2 * keys_values + kRows * positions * 4) + kLeast;
}

class WhisperFile final : public HearingFile {
 public:
  WhisperFile(std::string path, std::shared_ptr<const TensorFile> file,
              whisper::Checkpoint checkpoint, std::shared_ptr<const whisper::ModelHeader> model)
      : path_(std::move(path)),
        file_(std::move(file)),
        checkpoint_(std::move(checkpoint)),
        model_(std::move(model)),
        header_(std::make_shared<const WhisperHeader>(model_)) {}

  [[nodiscard]] std::shared_ptr<const HearingHeader> header() const override { return header_; }

  [[nodiscard]] uint64_t weight_bytes(DType storage) const override {
    int64_t matrices = 0;  // these take the storage type, and all the rest is f32
    int64_t others = 0;
    for (const StoredTensor& tensor : file_->tensors) {
      (tensor.shape.rank() >= 2 ? matrices : others) += tensor.shape.elements();
    }
    const int64_t blocks = (matrices + block_elements(storage) - 1) / block_elements(storage);
    return storage_bytes(storage, blocks * block_elements(storage)) +
           static_cast<uint64_t>(others) * sizeof(float);
  }

  [[nodiscard]] uint64_t window_bytes() const override {
    return bytes_beside_weights(model_->config);
  }

  [[nodiscard]] Result<std::shared_ptr<const WindowModel>> load(const HearingLoadOptions& options,
                                                                Backend& encoder) const override {
    const StagePlace first{
        .backend = &encoder, .storage = options.storage, .precision = options.precision};
    const StagePlace second = options.decoder.value_or(first).beside(encoder);
    const StageCaches caches = open_stage_caches(path_, options.cache_folder, first, second);
    const auto stage = [](const StagePlace& place, const std::shared_ptr<BlobCache>& cache) {
      return whisper::StageOptions{.backend = place.backend,
                                   .storage = place.storage,
                                   .precision = place.precision,
                                   .cache = cache};
    };
    return or_device_error([&]() -> Result<std::shared_ptr<const WindowModel>> {
      MYNAH_TRY(auto model, whisper::Model::load(*file_, checkpoint_, model_,
                                                 {.encoder = stage(first, caches.first),
                                                  .decoder = stage(second, caches.second)}));
      return std::make_shared<const WhisperWindows>(std::move(model), header_);
    });
  }

 private:
  std::string path_;
  std::shared_ptr<const TensorFile> file_;
  whisper::Checkpoint checkpoint_;
  std::shared_ptr<const whisper::ModelHeader> model_;
  std::shared_ptr<const HearingHeader> header_;
};

}  // namespace

Result<std::shared_ptr<const HearingFile>> open_whisper(const std::string& path) {
  MYNAH_TRY(TensorFile opened, open_tensor_file(path));
  const auto file = std::make_shared<const TensorFile>(std::move(opened));
  MYNAH_TRY_STATUS(check_is_no_detector(*file, path));
  MYNAH_TRY(Vocabulary vocabulary, find_vocabulary(*file, path));
  const std::string name = name_of(*file, path);
  MYNAH_TRY(whisper::Checkpoint checkpoint, whisper::read_checkpoint(*file, name));
  MYNAH_TRY(whisper::ModelHeader model,
            whisper::ModelHeader::create(name, checkpoint.config, std::move(vocabulary), path));
  return std::make_shared<const WhisperFile>(
      path, file, std::move(checkpoint),
      std::make_shared<const whisper::ModelHeader>(std::move(model)));
}

}  // namespace mynah
