#include "cli/memory_advice.h"

#include <array>

#include <fmt/format.h>

#include "formats/open.h"
#include "models/whisper/names.h"
#include "store/files.h"

namespace mynah::cli {

namespace {

// What the driver keeps of a card for itself and a program of kernels, and the logits.
constexpr uint64_t kLeastBeside = 64ULL << 20;

constexpr std::array kTypes = {DType::F16, DType::Q8_0, DType::Q5_0, DType::Q4_0};

// Elements of matrices, which take the storage type, and of all the rest, which are f32.
struct Elements {
  int64_t matrices = 0;
  int64_t others = 0;
};

Elements elements_of(const TensorFile& file) {
  Elements elements;
  for (const StoredTensor& tensor : file.tensors) {
    (tensor.shape.rank() >= 2 ? elements.matrices : elements.others) += tensor.shape.elements();
  }
  return elements;
}

uint64_t weight_bytes(const Elements& elements, DType type) {
  const int64_t blocks = (elements.matrices + block_elements(type) - 1) / block_elements(type);
  return storage_bytes(type, blocks * block_elements(type)) +
         static_cast<uint64_t>(elements.others) * sizeof(float);
}

// Beside the weights, for one window at a time: the decoder's keys and values of the window and of
// silence in f16, and of the encoder's layers a dozen rows of its width a position in f32 (queries,
// keys and values side by side, the four times wider middle of the feed-forward, input and output).
uint64_t beside_bytes(const whisper::Config& config) {
  constexpr int64_t kRows = 12;
  const int64_t positions = config.n_audio_ctx * config.n_audio_state;
  const int64_t keys_values = 2 * positions * config.n_text_layer * 2;
  return static_cast<uint64_t>(2 * keys_values + kRows * positions * 4) + kLeastBeside;
}

}  // namespace

Error with_what_fits(Error error, const std::string& model_path, const std::string& device,
                     const DeviceMemory& memory) {
  if (error.code != ErrorCode::OutOfMemory || memory.total == 0) {
    return error;
  }
  const auto file = open_tensor_file(model_path);
  if (!file) {
    return error;
  }
  const auto checkpoint = whisper::read_checkpoint(*file, "");
  if (!checkpoint) {
    return error;
  }
  const Elements elements = elements_of(*file);
  const uint64_t beside = beside_bytes(checkpoint->config);
  const uint64_t wanted = weight_bytes(elements, DType::F16) + beside;
  const bool f16_fits = wanted <= memory.free;  // by this count, which what was tried proved wrong
  std::string fits;
  for (const DType type : kTypes) {
    const uint64_t weights = weight_bytes(elements, type);
    if (weights + beside <= memory.free && !(f16_fits && type == DType::F16)) {
      fits = fmt::format("--storage {} --batch 1 would fit ({} of weights)", name(type),
                         human_bytes(weights));
      break;
    }
  }
  if (fits.empty()) {
    fits = "no storage type of this model would fit: take a smaller model";
  }
  const std::string missing =
      f16_fits ? std::string()
               : fmt::format(" ({} are missing)", human_bytes(wanted - memory.free));
  error.message = fmt::format(
      "{} has too little memory for this model: as f16 it takes about {}, {} are free{}; {}, or "
      "compute with --device cpu ({})",
      device, human_bytes(wanted), human_bytes(memory.free), missing, fits, error.message);
  return error;
}

}  // namespace mynah::cli
