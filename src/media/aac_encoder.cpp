#include "media/aac_encoder.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include <unistd.h>

#include "audio/media_protocol.h"

namespace mynah::media {
namespace {

// The samplingFrequencyIndex of a rate is its place here (ISO/IEC 14496-3, table 1.18).
constexpr std::array kRates = {96000, 88200, 64000, 48000, 44100, 32000, 24000,
                               22050, 16000, 12000, 11025, 8000,  7350};
// Enough for speech that nobody tells from the original (HE-AAC would need less).
constexpr int64_t kBitsPerSecond = 64000;

// Fills `out` from the input; fewer bytes at its end only.
size_t read_full(std::span<std::byte> out) {
  size_t filled = 0;
  while (filled < out.size()) {
    const ssize_t got = ::read(kMediaInputFd, out.data() + filled, out.size() - filled);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    filled += static_cast<size_t>(got);
  }
  return filled;
}

bool write_all(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(kMediaOutputFd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote <= 0) {
      return false;
    }
    bytes = bytes.subspan(static_cast<size_t>(wrote));
  }
  return true;
}

}  // namespace

bool AacEncoder::open(int rate_hz, bool global_header) {
  const AVCodec* codec = avcodec_find_encoder_by_name("aac");
  if (codec == nullptr || std::ranges::find(kRates, rate_hz) == kRates.end()) {
    return false;
  }
  codec_.reset(avcodec_alloc_context3(codec));
  frame_.reset(av_frame_alloc());
  packet_.reset(av_packet_alloc());
  if (!codec_ || !frame_ || !packet_) {
    return false;
  }
  codec_->sample_rate = rate_hz;
  codec_->sample_fmt = AV_SAMPLE_FMT_FLTP;
  codec_->bit_rate = kBitsPerSecond;
  codec_->thread_count = 1;
  codec_->time_base = {.num = 1, .den = rate_hz};
  if (global_header) {
    codec_->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  }
  av_channel_layout_default(&codec_->ch_layout, 1);
  if (avcodec_open2(codec_.get(), codec, nullptr) < 0) {
    return false;
  }
  frame_->format = codec_->sample_fmt;
  frame_->nb_samples = codec_->frame_size;
  frame_->sample_rate = rate_hz;
  av_channel_layout_default(&frame_->ch_layout, 1);
  return av_frame_get_buffer(frame_.get(), 0) >= 0;
}

bool AacEncoder::run(const Take& take) {
  for (int64_t at = 0;;) {
    if (av_frame_make_writable(frame_.get()) < 0) {
      return false;
    }
    const std::span samples(reinterpret_cast<float*>(frame_->data[0]),
                            static_cast<size_t>(codec_->frame_size));
    const size_t bytes = read_full(std::as_writable_bytes(samples));
    const size_t count = bytes / sizeof(float);
    if (count == 0) {
      return encode(nullptr, take);
    }
    std::ranges::fill(samples.subspan(count), 0.0F);
    frame_->pts = at;
    at += codec_->frame_size;
    if (!encode(frame_.get(), take)) {
      return false;
    }
  }
}

// Without a frame: what the encoder still holds.
bool AacEncoder::encode(const AVFrame* frame, const Take& take) {
  if (avcodec_send_frame(codec_.get(), frame) < 0) {
    return false;
  }
  for (;;) {
    const int got = avcodec_receive_packet(codec_.get(), packet_.get());
    if (got == AVERROR(EAGAIN) || got == AVERROR_EOF) {
      return true;
    }
    if (got < 0 || !take(*packet_)) {
      return false;
    }
    av_packet_unref(packet_.get());
  }
}

bool write_adts(const AVPacket& packet, int rate_hz) {
  // adts_fixed_header and adts_variable_header (ISO/IEC 14496-3, 1.A.2.2): syncword of 12 bits,
  // MPEG-4, layer 0, no CRC; profile LC, rate, one channel; length with the header, a full buffer,
  // one frame.
  constexpr size_t kHeaderBytes = 7;
  constexpr uint32_t kProfileLc = 1;
  constexpr uint32_t kChannels = 1;
  const auto length = static_cast<uint32_t>(packet.size) + static_cast<uint32_t>(kHeaderBytes);
  const auto rate = static_cast<uint32_t>(std::ranges::find(kRates, rate_hz) - kRates.begin());
  const std::array<uint8_t, kHeaderBytes> header = {
      0xFF,
      0xF1,
      static_cast<uint8_t>(kProfileLc << 6U | rate << 2U | kChannels >> 2U),
      static_cast<uint8_t>((kChannels & 3U) << 6U | length >> 11U),
      static_cast<uint8_t>(length >> 3U),
      static_cast<uint8_t>((length & 7U) << 5U | 0x1FU),
      0xFC};
  return write_all(header) && write_all({packet.data, static_cast<size_t>(packet.size)});
}

}  // namespace mynah::media
