// The headers of MPEG audio frames, each beside what FFmpeg's parser makes of it.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>

extern "C" {
#include <libavcodec/avcodec.h>
}

#include "media/mpeg_frame.h"

namespace {

constexpr size_t kHeaderBytes = 4;
// MPEG 2, layer III, 8 kb/s at 24 kHz; MPEG 2.5, layer II, 160 kb/s at 8 kHz with padding.
constexpr size_t kLeastFrameBytes = 24;
constexpr size_t kMostFrameBytes = 2881;

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

struct Free {
  void operator()(AVCodecContext* codec) const { avcodec_free_context(&codec); }

  void operator()(AVCodecParserContext* parser) const { av_parser_close(parser); }
};

// The bytes of the frame that begins with this header, as FFmpeg cuts them off.
std::optional<size_t> ffmpeg_frame_bytes(std::span<const uint8_t, kHeaderBytes> header) {
  const std::unique_ptr<AVCodecContext, Free> codec(avcodec_alloc_context3(nullptr));
  const std::unique_ptr<AVCodecParserContext, Free> parser(av_parser_init(AV_CODEC_ID_MP3));
  const auto parse = [&](const uint8_t* bytes, size_t size) {
    uint8_t* frame = nullptr;
    int frame_bytes = 0;
    av_parser_parse2(parser.get(), codec.get(), &frame, &frame_bytes, bytes, static_cast<int>(size),
                     AV_NOPTS_VALUE, AV_NOPTS_VALUE, 0);
    return static_cast<size_t>(frame_bytes);
  };
  std::array<uint8_t, kHeaderBytes + AV_INPUT_BUFFER_PADDING_SIZE> bytes{};
  std::ranges::copy(header, bytes.begin());
  parse(bytes.data(), kHeaderBytes);
  if (codec->sample_rate == 0) {
    return std::nullopt;
  }
  static constexpr std::array<uint8_t, kMostFrameBytes + AV_INPUT_BUFFER_PADDING_SIZE> kRest{};
  return parse(kRest.data(), kMostFrameBytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::span<const uint8_t> left(data, size);
  while (!left.empty()) {
    const auto frame_bytes = mynah::media::mpeg_frame_bytes(left);
    if (frame_bytes) {
      require(left.size() >= kHeaderBytes && !mynah::media::is_tag(left));
    }
    if (left.size() >= kHeaderBytes) {
      const auto expected = ffmpeg_frame_bytes(left.first<kHeaderBytes>());
      // FFmpeg cannot read a frame whose header leaves its length open, and takes it for none.
      const bool is_open = !expected && left[2] >> 4U == 0;
      require(is_open ? frame_bytes.value_or(0) == 0 : frame_bytes == expected);
    }
    const size_t step = std::max<size_t>(frame_bytes.value_or(0), 1);
    require(step == 1 || (step >= kLeastFrameBytes && step <= kMostFrameBytes));
    left = left.subspan(std::min(step, left.size()));
  }
  return 0;
}
