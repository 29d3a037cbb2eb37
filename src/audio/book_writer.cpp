#include "audio/book_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "audio/media_protocol.h"
#include "audio/media_reader.h"

namespace mynah {
namespace {

// Ten hours take some minutes; the limit is there against what never ends.
constexpr int kCpu_s = 24 * 3600;

std::string on_one_line(std::string text) {
  std::ranges::replace_if(text, [](unsigned char c) { return c < 0x20; }, ' ');
  return text;
}

// What media/m4b_writer.h reads.
std::string lines_of(const BookTags& tags) {
  std::string lines;
  if (!tags.title.empty()) {
    lines += "title " + on_one_line(tags.title) + "\nalbum " + on_one_line(tags.title) + "\n";
  }
  if (!tags.author.empty()) {
    lines += "artist " + on_one_line(tags.author) + "\n";
  }
  lines += "genre Audiobook\n";
  for (const BookTags::Chapter& chapter : tags.chapters) {
    lines += fmt::format("chapter {} {} {}\n", chapter.begin_ms, chapter.end_ms,
                         on_one_line(chapter.title));
  }
  return lines;
}

Result<UniqueFd> in_memory(const std::string& text) {
  UniqueFd fd(::memfd_create("tags", MFD_CLOEXEC));
  if (!fd || ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::lseek(fd.get(), 0, SEEK_SET) != 0) {
    return fail(ErrorCode::Io, std::string("cannot keep the chapters: ") + std::strerror(errno));
  }
  return fd;
}

Status failed() {
  return fail(ErrorCode::Environment,
              "mynah-media did not write the M4B: this machine's FFmpeg may lack its AAC encoder; "
              "wanted another --format, such as mp3");
}

}  // namespace

Result<BookWriter> BookWriter::create(const std::string& path, int rate_hz, const BookTags& tags,
                                      const std::string& program) {
  ProcessSpec spec;
  spec.program = program;
  if (program.empty()) {
    MYNAH_TRY(spec.program, find_media_program());
  }
  MYNAH_TRY(AtomicFile file, AtomicFile::create(path));
  MYNAH_TRY(const UniqueFd lines, in_memory(lines_of(tags)));
  MYNAH_TRY(Pipe samples, Pipe::create());
  spec.arguments = {"--cpu", std::to_string(kCpu_s), "--encode-m4b", std::to_string(rate_hz)};
  spec.descriptors = {{samples.read_end.get(), kMediaInputFd},
                      {file.descriptor(), kMediaOutputFd},
                      {lines.get(), kMediaSpoolFd}};
  auto process = Process::spawn(spec);
  if (!process) {
    return fail(ErrorCode::Environment, process.error().message);
  }
  return BookWriter(std::move(file), std::move(*process), std::move(samples.write_end));
}

Status BookWriter::write(std::span<const float> samples) {
  auto bytes = std::as_bytes(samples);
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(samples_.get(), bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote < 0) {
      return failed();
    }
    bytes = bytes.subspan(static_cast<size_t>(wrote));
  }
  return {};
}

Status BookWriter::finish() {
  samples_.reset();
  MYNAH_TRY(const auto end, process_.wait(std::nullopt));
  if (!end || !end->ok()) {
    return failed();
  }
  return file_.commit();
}

}  // namespace mynah
