#include "audio/wav_writer.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "base/check.h"

namespace mynah {
namespace {

constexpr size_t kHeaderBytes = 44;
constexpr uint16_t kFormatPcm = 1;    // WAVE_FORMAT_PCM
constexpr uint16_t kFormatFloat = 3;  // WAVE_FORMAT_IEEE_FLOAT
constexpr size_t kBlockSamples = 16384;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

using File = std::unique_ptr<std::FILE, CloseFile>;

template <class T>
char* put(char* at, T value) {
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}

char* put_id(char* at, const char* id) {
  std::memcpy(at, id, 4);
  return at + 4;
}

std::array<char, kHeaderBytes> header(uint32_t data_bytes, int rate_hz, int channels,
                                      WavFormat format) {
  const auto sample_bytes = static_cast<uint16_t>(format == WavFormat::S16 ? 2 : 4);
  const auto frame_bytes = static_cast<uint16_t>(sample_bytes * channels);
  std::array<char, kHeaderBytes> bytes{};
  char* at = put_id(bytes.data(), "RIFF");
  at = put(at, static_cast<uint32_t>(data_bytes + kHeaderBytes - 8));
  at = put_id(put_id(at, "WAVE"), "fmt ");
  at = put(at, uint32_t{16});
  at = put(at, format == WavFormat::S16 ? kFormatPcm : kFormatFloat);
  at = put(at, static_cast<uint16_t>(channels));
  at = put(at, static_cast<uint32_t>(rate_hz));
  at = put(at, static_cast<uint32_t>(rate_hz) * frame_bytes);
  at = put(at, frame_bytes);
  at = put(at, static_cast<uint16_t>(8 * sample_bytes));
  put(put_id(at, "data"), data_bytes);
  return bytes;
}

bool write_samples(std::FILE* file, std::span<const float> samples, WavFormat format) {
  if (format == WavFormat::F32) {
    return std::fwrite(samples.data(), sizeof(float), samples.size(), file) == samples.size();
  }
  std::vector<int16_t> block;
  while (!samples.empty()) {
    const auto part = samples.first(std::min(samples.size(), kBlockSamples));
    block.resize(part.size());
    std::ranges::transform(part, block.begin(), [](float x) {
      return static_cast<int16_t>(std::lrint(std::clamp(x * 32768.0F, -32768.0F, 32767.0F)));
    });
    if (std::fwrite(block.data(), sizeof(int16_t), block.size(), file) != block.size()) {
      return false;
    }
    samples = samples.subspan(part.size());
  }
  return true;
}

}  // namespace

Status write_wav(const std::string& path, std::span<const float> samples, int rate_hz, int channels,
                 WavFormat format) {
  MYNAH_CHECK(channels > 0 && rate_hz > 0 && samples.size() % static_cast<size_t>(channels) == 0);
  const size_t sample_bytes = format == WavFormat::S16 ? 2 : 4;
  constexpr size_t kMostBytes = std::numeric_limits<uint32_t>::max() - kHeaderBytes;
  if (samples.size() > kMostBytes / sample_bytes) {
    return fail(ErrorCode::InvalidInput, path + ": more samples than a WAV file holds (4 GiB)");
  }
  const auto head =
      header(static_cast<uint32_t>(samples.size() * sample_bytes), rate_hz, channels, format);
  File file(std::fopen(path.c_str(), "wbe"));
  if (!file) {
    return fail(ErrorCode::Io, "cannot write " + path + ": " + std::strerror(errno));
  }
  const bool written = std::fwrite(head.data(), 1, head.size(), file.get()) == head.size() &&
                       write_samples(file.get(), samples, format);
  if (std::fclose(file.release()) != 0 || !written) {
    return fail(ErrorCode::Io, "cannot write " + path + ": " + std::strerror(errno));
  }
  return {};
}

}  // namespace mynah
