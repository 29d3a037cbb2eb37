#include "audio/plain_writer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "audio/pcm.h"

namespace mynah {
namespace {

constexpr size_t kHeaderBytes = 44;
constexpr uint16_t kFormatPcm = 1;  // WAVE_FORMAT_PCM
constexpr uint32_t kUnknown = std::numeric_limits<uint32_t>::max();

template <class T>
std::byte* put(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}

std::byte* put_id(std::byte* at, const char* id) {
  std::memcpy(at, id, 4);
  return at + 4;
}

// `data_bytes` of samples; kUnknown: that many, and the file as long.
std::array<std::byte, kHeaderBytes> wav_header(uint32_t data_bytes, int rate_hz) {
  constexpr uint16_t kSampleBytes = sizeof(int16_t);
  std::array<std::byte, kHeaderBytes> bytes{};
  std::byte* at = put_id(bytes.data(), "RIFF");
  at = put(
      at, data_bytes == kUnknown ? kUnknown : static_cast<uint32_t>(data_bytes + kHeaderBytes - 8));
  at = put_id(put_id(at, "WAVE"), "fmt ");
  at = put(at, uint32_t{16});
  at = put(at, kFormatPcm);
  at = put(at, uint16_t{1});
  at = put(at, static_cast<uint32_t>(rate_hz));
  at = put(at, static_cast<uint32_t>(rate_hz) * kSampleBytes);
  at = put(at, kSampleBytes);
  at = put(at, static_cast<uint16_t>(8 * kSampleBytes));
  put(put_id(at, "data"), data_bytes);
  return bytes;
}

class PcmWriter : public SoundWriter {
 public:
  explicit PcmWriter(ByteSink& sink) : sink_(sink) {}

  Status write(std::span<const float> samples) override {
    block_.resize(samples.size());
    std::ranges::transform(samples, block_.begin(), to_s16);
    bytes_ += block_.size() * sizeof(int16_t);
    return sink_.write(std::as_bytes(std::span(block_)));
  }

  Status finish() override { return {}; }

 protected:
  [[nodiscard]] ByteSink& sink() const { return sink_; }

  // Of samples, so far.
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

 private:
  ByteSink& sink_;
  std::vector<int16_t> block_;
  uint64_t bytes_ = 0;
};

class WavWriter final : public PcmWriter {
 public:
  WavWriter(ByteSink& sink, int rate_hz) : PcmWriter(sink), rate_hz_(rate_hz) {}

  Status write(std::span<const float> samples) override {
    MYNAH_TRY_STATUS(begin());
    return PcmWriter::write(samples);
  }

  Status finish() override {
    MYNAH_TRY_STATUS(begin());
    if (!sink().keeps()) {
      return {};
    }
    if (bytes() > kUnknown - kHeaderBytes) {
      return fail(ErrorCode::InvalidInput,
                  "the sound is longer than a WAV holds (4 GiB); wanted another format, such as "
                  "flac");
    }
    return sink().overwrite(0, wav_header(static_cast<uint32_t>(bytes()), rate_hz_));
  }

 private:
  // The header goes out with the first samples, so that an output that fails before has nothing.
  Status begin() {
    if (begun_) {
      return {};
    }
    begun_ = true;
    return sink().write(wav_header(kUnknown, rate_hz_));
  }

  int rate_hz_;
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<SoundWriter> make_wav_writer(ByteSink& sink, int rate_hz) {
  return std::make_unique<WavWriter>(sink, rate_hz);
}

std::unique_ptr<SoundWriter> make_pcm_writer(ByteSink& sink) {
  return std::make_unique<PcmWriter>(sink);
}

}  // namespace mynah
