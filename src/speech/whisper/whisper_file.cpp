// Opens a Whisper model of any format as a Recognizer.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "formats/open.h"
#include "models/whisper/names.h"
#include "speech/weight_cache.h"
#include "speech/whisper_recognizer.h"
#include "speech/window_decoder.h"
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

}  // namespace

Result<std::shared_ptr<const WindowModel>> load_whisper_windows(const std::string& path,
                                                                const WhisperLoadOptions& options,
                                                                Backend& backend) {
  MYNAH_TRY(TensorFile opened, open_tensor_file(path));
  const auto file = std::make_shared<const TensorFile>(std::move(opened));
  MYNAH_TRY_STATUS(check_is_no_detector(*file, path));
  MYNAH_TRY(Vocabulary vocabulary, find_vocabulary(*file, path));
  const StagePlace encoder{
      .backend = &backend, .storage = options.storage, .precision = options.precision};
  const StagePlace decoder = options.decoder.value_or(encoder).beside(backend);
  const StageCaches caches = open_stage_caches(path, options.cache_folder, encoder, decoder);
  const auto stage = [](const StagePlace& place, const std::shared_ptr<BlobCache>& cache) {
    return whisper::StageOptions{.backend = place.backend,
                                 .storage = place.storage,
                                 .precision = place.precision,
                                 .cache = cache};
  };
  try {
    MYNAH_TRY(auto model, whisper::Model::load(file, std::move(vocabulary),
                                               {.name = name_of(*file, path),
                                                .encoder = stage(encoder, caches.first),
                                                .decoder = stage(decoder, caches.second)}));
    return std::make_shared<const WhisperWindows>(std::move(model));
  } catch (const DeviceError& error) {
    return std::unexpected(error.error());
  }
}

Result<whisper::ModelHeader> read_whisper_header(const std::string& path) {
  MYNAH_TRY(const TensorFile file, open_tensor_file(path));
  MYNAH_TRY_STATUS(check_is_no_detector(file, path));
  MYNAH_TRY(Vocabulary vocabulary, find_vocabulary(file, path));
  const std::string name = name_of(file, path);
  MYNAH_TRY(const whisper::Checkpoint checkpoint, whisper::read_checkpoint(file, name));
  return whisper::ModelHeader::create(name, checkpoint.config, std::move(vocabulary), path);
}

std::shared_ptr<const Recognizer> make_recognizer(std::shared_ptr<const WindowModel> model,
                                                  std::shared_ptr<const VoiceDetector> voice) {
  return std::make_shared<const WhisperRecognizer>(
      std::move(model), voice == nullptr ? nullptr : with_automatic_level(std::move(voice)));
}

Result<std::shared_ptr<const Recognizer>> load_whisper(const std::string& path,
                                                       const WhisperLoadOptions& options,
                                                       Backend& backend,
                                                       std::shared_ptr<const VoiceDetector> voice) {
  MYNAH_TRY(auto model, load_whisper_windows(path, options, backend));
  return make_recognizer(std::move(model), std::move(voice));
}

}  // namespace mynah
