// Workload: the models whose stages are to be placed, as they lie on disk.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "place/terms/another_mynah.h"
#include "place/terms/stage.h"
#include "speech/voice_loading.h"
#include "tensor/backend.h"

namespace mynah::place {

// A Silero file.
struct DetectorFile {
  std::string path;
  int rate_hz = 16000;

  bool operator==(const DetectorFile&) const = default;
};

// A Whisper file.
struct WindowsFile {
  std::string path;
  Precision precision = Precision::Fast;
  std::string cache_folder;  // for packed weights and silence; empty: none

  bool operator==(const WindowsFile&) const = default;
};

// A voice of any family that has weights.
struct VoiceModelFile {
  std::string family;  // of a row of families.cpp
  std::string path;
  std::string config;             // Piper's; "": beside the network
  std::vector<VoiceFile> voices;  // Kokoro's
  std::string name;               // what the model is called
  Precision precision = Precision::Fast;
  std::string cache_folder;

  bool operator==(const VoiceModelFile&) const = default;
};

// A language model's GGUF file.
struct LanguageFile {
  std::string path;
  Precision precision = Precision::Fast;
  std::string cache_folder;  // for packed weights; empty: none
  int64_t context = 0;       // positions that a text may have; 0: what it was trained for
  // What is taken in place of that where memory is short, half of it, a quarter and so on, but no
  // less than this; 0: nothing is.
  int64_t least_context = 0;
  // Layers, the first ones, that are on another device than the rest where that is better, or was
  // asked for; 0: the model is whole wherever it is (Placer::cut()).
  int64_t lower_layers = 0;

  bool operator==(const LanguageFile&) const = default;
};

// A model that makes vectors of texts: a GGUF file, or a folder of sentence-transformers.
struct EmbeddingFile {
  std::string path;
  Precision precision = Precision::Fast;
  std::string cache_folder;  // for packed weights; empty: none

  bool operator==(const EmbeddingFile&) const = default;
};

// A model of any kind: the stages of one group. Their order is that of kinds().
using ModelFile =
    std::variant<DetectorFile, WindowsFile, VoiceModelFile, LanguageFile, EmbeddingFile>;

[[nodiscard]] inline StageGroup group_of(const ModelFile& file) {
  return static_cast<StageGroup>(file.index());
}

// The kind that models of this type of file are of.
template <class File>
[[nodiscard]] consteval StageGroup group_of_files() {
  return []<size_t... kAt>(std::index_sequence<kAt...>) {
    size_t number = 0;
    ((std::is_same_v<File, std::variant_alternative_t<kAt, ModelFile>> ? void(number = kAt)
                                                                       : void()),
     ...);
    return static_cast<StageGroup>(number);
  }(std::make_index_sequence<std::variant_size_v<ModelFile>>());
}

// Its file or folder.
[[nodiscard]] const std::string& path_of(const ModelFile& file);

// The same with f32 arithmetic, or as fast as its weights allow. A detector is always exact.
[[nodiscard]] ModelFile with_precision(ModelFile file, Precision precision);

// Whether f32 arithmetic is wanted of it, where that can be chosen.
[[nodiscard]] bool is_wanted_exact(const ModelFile& file);

// Of a language model LanguageFile::lower_layers; of others 0.
[[nodiscard]] int64_t lower_layers_of(const ModelFile& file);

// Where one stage computes, and with weights of which type (none: the file's own).
struct StageDevice {
  std::string device = "cpu";
  std::optional<DType> storage;

  auto operator<=>(const StageDevice&) const = default;
};

// Where the stages of a group are.
using StagePlaces = std::map<Stage, StageDevice>;

// All stages of a group on one device.
[[nodiscard]] StagePlaces all_on(StageGroup group, const StageDevice& where);

// "cuda:0"; "cuda:0,cpu" where stages are apart.
[[nodiscard]] std::string devices_of(const StagePlaces& places);

// Whether the stages are on several devices.
[[nodiscard]] bool is_apart(const StagePlaces& places);

// Whether it computes in this process: on the processor, which mynah trusts as it trusts itself.
[[nodiscard]] bool is_here(const StagePlaces& places);

// Names the worker that these places need: their devices but the processor.
[[nodiscard]] std::string worker_key(const StagePlaces& places);

// What opening a device needs to know of the user's environment, which cli/ reads.
struct DeviceSettings {
  std::string cuda_driver;                     // MYNAH_CUDA_DRIVER; "": the usual places
  std::optional<std::string> visible_devices;  // CUDA_VISIBLE_DEVICES
  int cuda_level = 0;                          // MYNAH_CUDA_LEVEL; 0: what suits the card
  std::string image_folder;                    // of compiled kernels
  int threads = 1;                             // of the processor
  std::vector<AnotherMynah> mynahs{};          // elsewhere, that --device names
};

}  // namespace mynah::place
