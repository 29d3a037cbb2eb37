#include "media/message_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <unistd.h>

namespace mynah::media {
namespace {

void write_all(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(kMediaOutputFd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote <= 0) {
      ::_exit(1);
    }
    bytes = bytes.subspan(static_cast<size_t>(wrote));
  }
}

}  // namespace

void MessageWriter::send(MediaKind kind, std::span<const std::byte> payload) {
  const MediaHeader header{.kind = kind, .payload_bytes = static_cast<uint32_t>(payload.size())};
  write_all(std::as_bytes(std::span(&header, 1)));
  write_all(payload);
}

void MessageWriter::format(const MediaFormat& format, std::span<const Speaker> speakers) {
  flush();
  if (std::exchange(any_, true)) {
    send(MediaKind::Next, {});
  }
  frame_samples_ = format.channels;
  std::vector<std::byte> payload(sizeof format);
  std::memcpy(payload.data(), &format, sizeof format);
  const auto bytes = std::as_bytes(speakers);
  payload.insert(payload.end(), bytes.begin(), bytes.end());
  send(MediaKind::Format, payload);
}

void MessageWriter::silence(int64_t frames) {
  flush();
  send(MediaKind::Silence, std::as_bytes(std::span(&frames, 1)));
}

void MessageWriter::note(std::string_view text) {
  flush();
  send(MediaKind::Note, std::as_bytes(std::span(text.substr(0, kMostMediaErrorBytes))));
}

void MessageWriter::frames(std::span<const float> samples) {
  const size_t most = kMostMediaDataBytes / sizeof(float) / frame_samples_ * frame_samples_;
  while (!samples.empty()) {
    const size_t count = std::min(samples.size(), most - gathered_.size());
    gathered_.insert(gathered_.end(), samples.begin(),
                     samples.begin() + static_cast<std::ptrdiff_t>(count));
    samples = samples.subspan(count);
    if (gathered_.size() == most) {
      flush();
    }
  }
}

void MessageWriter::flush() {
  if (!gathered_.empty()) {
    send(MediaKind::Data, std::as_bytes(std::span(gathered_)));
    gathered_.clear();
  }
}

void MessageWriter::error(std::string_view text) {
  flush();
  send(MediaKind::Error, std::as_bytes(std::span(text.substr(0, kMostMediaErrorBytes))));
}

void MessageWriter::end() {
  flush();
  send(MediaKind::End, {});
}

}  // namespace mynah::media
