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

Error MediaStream::read_error(uint32_t bytes) {
  std::string text(std::min<size_t>(bytes, kMostMediaErrorBytes), '\0');
  if (const Status read = read_exactly(std::as_writable_bytes(std::span(text))); !read) {
    return read.error();
  }
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  return {.code = ErrorCode::InvalidInput, .message = std::move(text)};
}

Result<MediaFormat> MediaStream::read_format() {
  MYNAH_TRY(const MediaHeader header, read_header());
  if (header.kind == MediaKind::Error) {
    return std::unexpected(read_error(header.payload_bytes));
  }
  MediaFormat format{};
  if (header.kind != MediaKind::Format || header.payload_bytes != sizeof format) {
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
  frame_bytes_ = format.channels * sizeof(float);
  return format;
}

// Reads the next header; ended_ says that there was none.
Status MediaStream::next_data() {
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
    case MediaKind::Error:
      return std::unexpected(read_error(header.payload_bytes));
    case MediaKind::End:
      ended_ = true;
      return {};
    default:
      return broken(
          fmt::format("an unknown message of kind {:#x}", static_cast<uint32_t>(header.kind)));
  }
}

Result<size_t> MediaStream::read_frames(std::span<float> out) {
  if (data_left_ == 0 && !ended_) {
    MYNAH_TRY_STATUS(next_data());
  }
  if (ended_) {
    return 0;
  }
  const size_t room = out.size_bytes() / frame_bytes_ * frame_bytes_;
  const size_t count = std::min(room, data_left_);
  MYNAH_TRY_STATUS(read_exactly(std::as_writable_bytes(out).first(count)));
  data_left_ -= count;
  return count / frame_bytes_;
}

}  // namespace mynah
