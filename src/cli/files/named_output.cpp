#include "cli/files/named_output.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/file_name.h"

namespace mynah::cli {

namespace {

namespace fs = std::filesystem;

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (is_device_or_pipe(a)) {
    return false;
  }
  return fs::weakly_canonical(fs::absolute(a, error), error) ==
             fs::weakly_canonical(fs::absolute(b, error), error) ||
         fs::equivalent(a, b, error);
}

}  // namespace

void StreamSink::begin() {
  begun_ = true;
  out_.flush();
  const int fd = out_.descriptor();
  struct stat facts{};
  if (fd < 0 || ::fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return;
  }
  // Linux appends whatever is written through a descriptor that was opened to append, wherever it
  // is told to (pwrite(2), "Bugs"), and its settings and place are shared with whoever gave it.
  const bool appends = (::fcntl(fd, F_GETFL) & O_APPEND) != 0;
  const off_t at = appends ? facts.st_size : ::lseek(fd, 0, SEEK_CUR);
  if (at >= 0) {
    begin_ = static_cast<uint64_t>(at);
    file_ = UniqueFd(::open(fmt::format("/proc/self/fd/{}", fd).c_str(), O_WRONLY | O_CLOEXEC));
  }
}

Status StreamSink::write(std::span<const std::byte> bytes) {
  if (!begun_) {
    begin();
  }
  out_.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  out_.flush();
  if (out_.failed()) {
    return fail(ErrorCode::Io,
                std::string("cannot write to standard output: ") + std::strerror(out_.error()));
  }
  return {};
}

Status StreamSink::overwrite(uint64_t offset, std::span<const std::byte> bytes) {
  MYNAH_CHECK(keeps(), "a stream does not keep");
  while (!bytes.empty()) {
    const ssize_t wrote =
        ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(begin_ + offset));
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote < 0) {
      return fail(ErrorCode::Io,
                  std::string("cannot write to standard output: ") + std::strerror(errno));
    }
    bytes = bytes.subspan(static_cast<size_t>(wrote));
    offset += static_cast<uint64_t>(wrote);
  }
  return {};
}

Status DescriptorSink::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd_.get(), bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote < 0) {
      return fail(ErrorCode::Io,
                  fmt::format("cannot write to {}: {}", name_, std::strerror(errno)));
    }
    bytes = bytes.subspan(static_cast<size_t>(wrote));
  }
  return {};
}

Status DescriptorSink::overwrite(uint64_t /*offset*/, std::span<const std::byte> /*bytes*/) {
  MYNAH_CHECK(false, "a pipe does not keep");
  return {};
}

Result<NamedOutput> NamedOutput::open(const std::string& path, OutputStream& out) {
  if (path == "-") {
    return NamedOutput(std::make_unique<StreamSink>(out), nullptr, path);
  }
  if (is_device_or_pipe(path)) {
    UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd) {
      return fail(ErrorCode::Io, fmt::format("cannot open {}: {}", path, std::strerror(errno)));
    }
    return NamedOutput(std::make_unique<DescriptorSink>(std::move(fd), path), nullptr, path);
  }
  MYNAH_TRY(AtomicFile file, AtomicFile::create(path));
  auto sink = std::make_unique<FileSink>(std::move(file));
  FileSink* const written = sink.get();
  return NamedOutput(std::move(sink), written, path);
}

Status NamedOutput::commit() {
  return file_ == nullptr ? Status{} : file_->commit();
}

Result<std::optional<std::string>> NamedOutput::keep_part() {
  if (file_ == nullptr) {
    return std::nullopt;
  }
  std::string name = with_ending(path_, ".partial");
  MYNAH_TRY_STATUS(file_->commit_as(name));
  return name;
}

Status check_distinct(const std::vector<NamedPath>& inputs, const std::vector<NamedPath>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const NamedPath& output = outputs[i];
    for (const NamedPath& input : inputs) {
      if (output.path != "-" && input.path != "-" && is_same_file(output.path, input.path)) {
        return fail(ErrorCode::Usage,
                    fmt::format("{} and {} are one file, {}: what is in it would be lost",
                                input.option, output.option, output.path));
      }
    }
    for (size_t other = 0; other < i; ++other) {
      if (outputs[other].path == "-" ? output.path == "-"
                                     : is_same_file(outputs[other].path, output.path)) {
        return fail(ErrorCode::Usage,
                    fmt::format("{} and {} both want {}: name another for one of them",
                                outputs[other].option, output.option,
                                output.path == "-" ? "standard output" : output.path));
      }
    }
  }
  return {};
}

}  // namespace mynah::cli
