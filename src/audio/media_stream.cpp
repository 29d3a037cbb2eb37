#include "audio/media_stream.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace mynah {
namespace {

std::unexpected<Error> broken(const std::string& what) {
  return fail(ErrorCode::Io, "mynah-media answered with " + what);
}

}  // namespace

Status MediaStream::read_exactly(std::span<std::byte> out) {
  while (!out.empty()) {
    MYNAH_TRY(const size_t got, bytes_->read(out));
    if (got == 0) {
      return fail(ErrorCode::Io, "mynah-media ended in the middle of its answer");
    }
    out = out.subspan(got);
  }
  return {};
}

Result<MediaHeader> MediaStream::read_header() {
  MediaHeader header{};
  MYNAH_TRY_STATUS(read_exactly(std::as_writable_bytes(std::span(&header, 1))));
  return header;
}

Result<std::string> MediaStream::read_text(uint32_t bytes) {
  std::string text(std::min<size_t>(bytes, kMostMediaErrorBytes), '\0');
  MYNAH_TRY_STATUS(read_exactly(std::as_writable_bytes(std::span(text))));
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  return text;
}

Error MediaStream::read_error(uint32_t bytes) {
  auto text = read_text(bytes);
  return text ? Error{.code = ErrorCode::InvalidInput, .message = std::move(*text)} : text.error();
}

Status MediaStream::take_note(uint32_t bytes) {
  if (bytes > kMostMediaErrorBytes || ++notes_ > kMostMediaNotes) {
    return broken("too many or too long notes");
  }
  MYNAH_TRY(const std::string text, read_text(bytes));
  if (note_) {
    note_(text);
  }
  return {};
}

Status MediaStream::take_silence(uint32_t bytes) {
  int64_t frames = 0;
  if (bytes != sizeof frames) {
    return broken(fmt::format("a silence of {} bytes", bytes));
  }
  MYNAH_TRY_STATUS(read_exactly(std::as_writable_bytes(std::span(&frames, 1))));
  silence_s_ += static_cast<double>(frames) / rate_hz_;
  // A second more: both ends add up with roundings of their own.
  if (frames <= 0 || silence_s_ > static_cast<double>(kMostMediaSilence_s) + 1) {
    return broken(fmt::format("a silence of {} frames", frames));
  }
  silence_left_ = frames;
  return {};
}

Result<MediaFormat> MediaStream::read_format() {
  MYNAH_TRY(MediaHeader header, read_header());
  while (header.kind == MediaKind::Note) {
    MYNAH_TRY_STATUS(take_note(header.payload_bytes));
    MYNAH_TRY(header, read_header());
  }
  if (header.kind == MediaKind::Error) {
    return std::unexpected(read_error(header.payload_bytes));
  }
  MediaFormat format{};
  if (header.kind != MediaKind::Format || header.payload_bytes < sizeof format) {
    return broken(fmt::format("a message of kind {:#x} where its format was wanted",
                              static_cast<uint32_t>(header.kind)));
  }
  MYNAH_TRY_STATUS(read_exactly(std::as_writable_bytes(std::span(&format, 1))));
  if (format.channels < 1 || format.channels > kMostMediaChannels) {
    return broken(fmt::format("{} channels", format.channels));
  }
  if (format.rate_hz < 1 || format.rate_hz > 1U << 30U) {
    return broken(fmt::format("a sample rate of {} Hz", format.rate_hz));
  }
  if (format.frames < -1 || format.first_frame < 0) {
    return broken("a length below 0");
  }
  if (format.track < 1 || format.track > format.tracks) {
    return broken(fmt::format("track {} of {}", format.track, format.tracks));
  }
  const size_t speakers = header.payload_bytes - sizeof format;
  if (speakers != 0 && speakers != format.channels) {
    return broken(fmt::format("{} speakers for {} channels", speakers, format.channels));
  }
  speakers_.resize(speakers);
  MYNAH_TRY_STATUS(read_exactly(std::as_writable_bytes(std::span(speakers_))));
  rate_hz_ = format.rate_hz;
  frame_bytes_ = format.channels * sizeof(float);
  ending_.reset();
  return format;
}

// Reads up to sound, silence or the end.
Status MediaStream::next_data() {
  for (;;) {
    MYNAH_TRY(const MediaHeader header, read_header());
    switch (header.kind) {
      case MediaKind::Data:
        if (header.payload_bytes == 0 || header.payload_bytes > kMostMediaDataBytes ||
            header.payload_bytes % frame_bytes_ != 0) {
          return broken(fmt::format("a block of {} bytes for frames of {}", header.payload_bytes,
                                    frame_bytes_));
        }
        data_left_ = header.payload_bytes;
        return {};
      case MediaKind::Silence:
        return take_silence(header.payload_bytes);
      case MediaKind::Note:
        MYNAH_TRY_STATUS(take_note(header.payload_bytes));
        break;
      case MediaKind::Error:
        return std::unexpected(read_error(header.payload_bytes));
      case MediaKind::End:
      case MediaKind::Next:
        ending_ = header.kind;
        return {};
      default:
        return broken(
            fmt::format("an unknown message of kind {:#x}", static_cast<uint32_t>(header.kind)));
    }
  }
}

Result<size_t> MediaStream::read_frames(std::span<float> out) {
  if (data_left_ == 0 && silence_left_ == 0 && !ending_) {
    MYNAH_TRY_STATUS(next_data());
  }
  if (ending_) {
    return 0;
  }
  if (silence_left_ > 0) {
    const size_t channels = frame_bytes_ / sizeof(float);
    const auto count =
        std::min<int64_t>(static_cast<int64_t>(out.size() / channels), silence_left_);
    std::ranges::fill(out.first(static_cast<size_t>(count) * channels), 0.0F);
    silence_left_ -= count;
    return static_cast<size_t>(count);
  }
  const size_t room = out.size_bytes() / frame_bytes_ * frame_bytes_;
  const size_t count = std::min(room, data_left_);
  MYNAH_TRY_STATUS(read_exactly(std::as_writable_bytes(out).first(count)));
  data_left_ -= count;
  sound_frames_ += static_cast<int64_t>(count / frame_bytes_);
  return count / frame_bytes_;
}

}  // namespace mynah
