#include "models/kokoro/voice_pack.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "formats/byte_reader.h"
#include "formats/open.h"
#include "models/kokoro/sizes.h"
#include "tensor/quantize.h"

namespace mynah::kokoro {

namespace {

constexpr size_t kBothStyles = 2 * kStyle;
constexpr int64_t kMostRows = 1024;

// What readers and writers call a tensor that has no name of its own: mynah's reader a bare PyTorch
// tensor and a bare array, NumPy an unnamed one, mlx-audio a voice in safetensors.
constexpr std::array<std::string_view, 4> kNameless = {"tensor", "array", "arr_0", "voice"};

// The file's name without folders and extension.
std::string own_name(const std::string& path) {
  return std::filesystem::path(path).stem().string();
}

// Values without any header, no more of them than a pack has, and all as small as styles are: those
// of Kokoro's are below 4, while a magic or a text read as a float is past any of them.
bool is_bare(const MappedFile& file) {
  constexpr float kSmall = 100.0F;
  const size_t size = file.bytes().size();
  if (!file.path().ends_with(".bin") || size == 0 || size % (kBothStyles * sizeof(float)) != 0 ||
      size / (kBothStyles * sizeof(float)) > static_cast<size_t>(kMostRows)) {
    return false;
  }
  std::vector<float> values(size / sizeof(float));
  std::memcpy(values.data(), file.bytes().data(), size);
  return std::ranges::all_of(values, [](float value) { return std::abs(value) < kSmall; });
}

bool is_a_voice(const Shape& shape) {
  const bool flat = shape.rank() == 2 && shape[1] == static_cast<int64_t>(kBothStyles);
  const bool like_kokoros =
      shape.rank() == 3 && shape[1] == 1 && shape[2] == static_cast<int64_t>(kBothStyles);
  return (flat || like_kokoros) && shape[0] >= 1 && shape[0] <= kMostRows;
}

// `what` names the tensor in errors.
Result<VoicePack> pack_of(const StoredTensor& tensor, const std::string& what) {
  const bool numbers =
      tensor.dtype == DType::F32 || tensor.dtype == DType::F16 || tensor.dtype == DType::BF16;
  if (!numbers || !is_a_voice(tensor.shape)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted a Kokoro voice, float32 of shape (510, 1, {}), found {} of "
                            "shape {}",
                            what, kBothStyles, name(tensor.dtype), tensor.shape.str()));
  }
  VoicePack pack{.styles = std::vector<float>(static_cast<size_t>(tensor.shape.elements())),
                 .rows = static_cast<size_t>(tensor.shape[0])};
  dequantize(tensor.dtype, tensor.bytes.data(), pack.styles);
  const auto bad = std::ranges::find_if(pack.styles, [](float v) { return !std::isfinite(v); });
  if (bad != pack.styles.end()) {
    const auto at = static_cast<size_t>(bad - pack.styles.begin());
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted numbers, found {} in row {}; the file is damaged", what,
                            *bad, at / kBothStyles));
  }
  return pack;
}

Result<std::vector<NamedVoice>> read_bare(const MappedFile& file) {
  const auto rows = static_cast<int64_t>(file.bytes().size() / (kBothStyles * sizeof(float)));
  const StoredTensor values{.name = "voice",
                            .dtype = DType::F32,
                            .shape = {rows, static_cast<int64_t>(kBothStyles)},
                            .bytes = file.bytes(),
                            .row_scales = {}};
  MYNAH_TRY(VoicePack pack, pack_of(values, file.path()));
  std::vector<NamedVoice> voices;
  voices.push_back({.name = own_name(file.path()), .pack = std::move(pack)});
  return voices;
}

}  // namespace

std::span<const float> VoicePack::style(size_t phonemes) const {
  MYNAH_CHECK(rows > 0 && styles.size() == rows * kBothStyles, "[kokoro] an empty voice");
  const size_t row = std::min(std::max<size_t>(phonemes, 1), rows) - 1;
  return std::span(styles).subspan(row * kBothStyles, kBothStyles);
}

Result<std::vector<NamedVoice>> read_voice_packs(const std::shared_ptr<const MappedFile>& file) {
  if (is_bare(*file)) {
    return read_bare(*file);
  }
  MYNAH_TRY(const TensorFile tensors, read_tensor_file(file));
  if (tensors.tensors.empty()) {
    return fail(ErrorCode::InvalidInput, file->path() + ": wanted voices, found no tensor");
  }
  std::vector<NamedVoice> voices;
  for (const StoredTensor& tensor : tensors.tensors) {
    const bool nameless = std::ranges::find(kNameless, tensor.name) != kNameless.end();
    MYNAH_TRY(VoicePack pack,
              pack_of(tensor, nameless ? file->path()
                                       : file->path() + ", tensor " + in_quotes(tensor.name)));
    voices.push_back(
        {.name = nameless ? own_name(file->path()) : tensor.name, .pack = std::move(pack)});
  }
  return voices;
}

Result<std::vector<NamedVoice>> read_voice_packs(const std::string& path) {
  MYNAH_TRY(const auto file, MappedFile::open(path));
  return read_voice_packs(file);
}

Result<VoicePack> read_voice_pack(const std::string& path, std::string_view name) {
  MYNAH_TRY(std::vector<NamedVoice> voices, read_voice_packs(path));
  if (name.empty() && voices.size() == 1) {
    return std::move(voices.front().pack);
  }
  const auto found = std::ranges::find(voices, name, &NamedVoice::name);
  if (!name.empty() && found != voices.end()) {
    return std::move(found->pack);
  }
  std::vector<std::string> names;
  names.reserve(voices.size());
  for (const NamedVoice& voice : voices) {
    names.push_back(voice.name);
  }
  return fail(ErrorCode::NotFound,
              fmt::format("{}: {}; it holds {}", path,
                          name.empty() ? std::string("wanted the name of one of its voices")
                                       : "no voice is called " + in_quotes(name),
                          fmt::join(names, ", ")));
}

}  // namespace mynah::kokoro
