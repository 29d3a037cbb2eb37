#include "media/m4b_writer.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>

#include <unistd.h>

#include "audio/media_protocol.h"

namespace mynah::media {
namespace {

constexpr int kWriteBufferBytes = 1 << 16;
constexpr size_t kMostTagBytes = size_t{1} << 24;

int write_packet(void* /*self*/, uint8_t* bytes, int count) {
  int done = 0;
  while (done < count) {
    const ssize_t wrote = ::write(kMediaOutputFd, bytes + done, static_cast<size_t>(count - done));
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote <= 0) {
      return AVERROR(EIO);
    }
    done += static_cast<int>(wrote);
  }
  return count;
}

int64_t seek(void* /*self*/, int64_t offset, int whence) {
  if ((whence & AVSEEK_SIZE) != 0) {
    return AVERROR(ENOSYS);
  }
  const off_t at = ::lseek(kMediaOutputFd, offset, whence & ~AVSEEK_FORCE);
  return at < 0 ? AVERROR(errno) : at;
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> block{};
  for (ssize_t got = 0; text.size() < kMostTagBytes;) {
    got = ::read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    text.append(block.data(), static_cast<size_t>(got));
  }
  return text;
}

// The next word of a line, taken off it.
std::string_view take_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.size(), word.size() + 1));
  return word;
}

bool take_number(std::string_view& line, int64_t& number) {
  const std::string_view word = take_word(line);
  const auto end = std::from_chars(word.data(), word.data() + word.size(), number);
  return end.ec == std::errc() && end.ptr == word.data() + word.size();
}

}  // namespace

M4bWriter::~M4bWriter() {
  if (io_ != nullptr) {
    av_freep(static_cast<void*>(&io_->buffer));
    avio_context_free(&io_);
  }
}

bool M4bWriter::open(const AVCodecContext& codec) {
  AVFormatContext* format = nullptr;
  // "ipod" is MP4 as Apple's players want it, chapters with it.
  if (avformat_alloc_output_context2(&format, nullptr, "ipod", nullptr) < 0) {
    return false;
  }
  format_.reset(format);
  auto* buffer = static_cast<uint8_t*>(av_malloc(kWriteBufferBytes));
  io_ = buffer == nullptr ? nullptr
                          : avio_alloc_context(buffer, kWriteBufferBytes, 1, nullptr, nullptr,
                                               write_packet, seek);
  if (io_ == nullptr) {
    return false;
  }
  format_->pb = io_;
  format_->flags |= AVFMT_FLAG_CUSTOM_IO;
  stream_ = avformat_new_stream(format_.get(), nullptr);
  if (stream_ == nullptr || avcodec_parameters_from_context(stream_->codecpar, &codec) < 0) {
    return false;
  }
  time_base_ = codec.time_base;
  stream_->time_base = codec.time_base;
  return read_tags();
}

bool M4bWriter::read_tags() {
  const std::string text = read_all(kMediaSpoolFd);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (end > at && !add_tag(text.substr(at, end - at))) {
      return false;
    }
    at = end + 1;
  }
  return true;
}

bool M4bWriter::add_tag(const std::string& line) {
  std::string_view rest = line;
  const std::string key(take_word(rest));
  if (key == "chapter") {
    int64_t from_ms = 0;
    int64_t to_ms = 0;
    return take_number(rest, from_ms) && take_number(rest, to_ms) &&
           add_chapter(from_ms, to_ms, std::string(rest));
  }
  AVDictionary** tags = key == "language" ? &stream_->metadata : &format_->metadata;
  return av_dict_set(tags, key.c_str(), std::string(rest).c_str(), 0) >= 0;
}

bool M4bWriter::add_chapter(int64_t from_ms, int64_t to_ms, const std::string& title) {
  auto* chapter = static_cast<AVChapter*>(av_mallocz(sizeof(AVChapter)));
  if (chapter == nullptr) {
    return false;
  }
  chapter->id = format_->nb_chapters;
  chapter->time_base = {.num = 1, .den = 1000};
  chapter->start = from_ms;
  chapter->end = to_ms;
  if (av_dict_set(&chapter->metadata, "title", title.c_str(), 0) < 0 ||
      av_dynarray_add_nofree(static_cast<void*>(&format_->chapters),
                             reinterpret_cast<int*>(&format_->nb_chapters), chapter) < 0) {
    av_dict_free(&chapter->metadata);
    av_free(chapter);
    return false;
  }
  return true;
}

bool M4bWriter::begin() {
  return avformat_write_header(format_.get(), nullptr) >= 0;
}

bool M4bWriter::write(AVPacket& packet) {
  av_packet_rescale_ts(&packet, time_base_, stream_->time_base);
  packet.stream_index = stream_->index;
  return av_interleaved_write_frame(format_.get(), &packet) >= 0;
}

bool M4bWriter::finish() {
  const bool written = av_write_trailer(format_.get()) >= 0;
  avio_flush(io_);
  return written && io_->error >= 0;
}

}  // namespace mynah::media
