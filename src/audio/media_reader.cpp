#include "audio/media_reader.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "audio/headerless.h"
#include "audio/media_stream.h"
#include "base/process.h"

namespace mynah {
namespace {

// The pipe from mynah-media, read with a limit on its silence, and up to a stop.
class PipeSource final : public ByteSource {
 public:
  PipeSource(UniqueFd fd, std::optional<std::chrono::milliseconds> patience, std::stop_token stop)
      : fd_(std::move(fd)), patience_(patience), stop_(std::move(stop)) {}

  Result<size_t> read(std::span<std::byte> out) override {
    MYNAH_TRY(const bool ready, wait_readable(fd_.get(), patience_, stop_));
    if (!ready) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("made its decoder give nothing for {} s, and it was stopped",
                              patience_->count() / 1000));
    }
    for (;;) {
      const ssize_t got = ::read(fd_.get(), out.data(), out.size());
      if (got >= 0) {
        return static_cast<size_t>(got);
      }
      if (errno != EINTR) {
        return fail(ErrorCode::Io,
                    std::string("cannot read from mynah-media: ") + std::strerror(errno));
      }
    }
  }

 private:
  UniqueFd fd_;
  std::optional<std::chrono::milliseconds> patience_;
  std::stop_token stop_;
};

// What a signal that ended mynah-media says of the recording.
std::string explain_signal(int signal) {
  switch (signal) {
    case SIGSYS:
      return "made its decoder ask the system for what decoding does not need, and it was stopped: "
             "the recording may be hostile";
    case SIGXCPU:
    case SIGKILL:
    case SIGABRT:
      return "made its decoder take too much time or memory, and it was stopped";
    default:
      return fmt::format("crashed its decoder (signal {}, {}): it is damaged or hostile", signal,
                         ::strsignal(signal));
  }
}

class MediaReader final : public FrameReader {
 public:
  MediaReader(std::string name, int cpu_s, Process process, MediaStream stream)
      : name_(std::move(name)),
        cpu_s_(cpu_s),
        process_(std::move(process)),
        stream_(std::move(stream)) {}

  Status start() {
    const auto format = stream_.read_format();
    if (!format) {
      return std::unexpected(explain(format.error()));
    }
    format_ = *format;
    position_ = format_.first_frame;
    believed_ = 0;
    told_ = stream_.sound_frames();
    return {};
  }

  [[nodiscard]] int rate_hz() const override { return static_cast<int>(format_.rate_hz); }

  [[nodiscard]] int channels() const override { return static_cast<int>(format_.channels); }

  [[nodiscard]] std::span<const Speaker> speakers() const override { return stream_.speakers(); }

  [[nodiscard]] AudioTracks tracks() const override {
    return {.count = static_cast<int>(format_.tracks), .heard = static_cast<int>(format_.track)};
  }

  [[nodiscard]] std::optional<int64_t> frames() const override {
    return format_.frames < 0 ? std::nullopt : std::optional(format_.frames);
  }

  Result<size_t> read(std::span<float> out) override {
    auto got = stream_.read_frames(out);
    if (!got) {
      return std::unexpected(explain(got.error()));
    }
    position_ += static_cast<int64_t>(*got);
    believed_ += static_cast<int64_t>(*got);
    heard_s_ +=
        static_cast<double>(stream_.sound_frames() - std::exchange(told_, stream_.sound_frames())) /
        format_.rate_hz;
    allow_time();
    return got;
  }

  Result<int64_t> skip(int64_t count) override {
    const int64_t before = position_ - believed_;
    if (before > count) {
      return fail(ErrorCode::Io, name_ + ": mynah-media began after the start that was asked for");
    }
    believed_ = position_;
    MYNAH_TRY(const int64_t skipped, skip_by_reading(*this, count - before));
    return before + skipped;
  }

  Result<bool> next() override {
    if (!stream_.has_next()) {
      return false;
    }
    MYNAH_TRY_STATUS(start());
    return true;
  }

 private:
  // Puts the recording's name in front, and names the signal that ended mynah-media where one did,
  // and the time. What mynah-media says of a recording has its time in it.
  Error explain(Error error) {
    const bool is_told = error.code == ErrorCode::InvalidInput;
    if (error.code == ErrorCode::Io) {
      const auto end = process_.wait(std::chrono::milliseconds(1000));
      if (end && *end && (*end)->signal != 0) {
        error = {.code = ErrorCode::InvalidInput, .message = explain_signal((*end)->signal)};
      }
    }
    const char* joint = error.code == ErrorCode::Io ? ": " : " ";
    error.message = name_ + joint + error.message;
    if (heard_s_ > 0 && !is_told) {
      error.message +=
          fmt::format(" (after {:.3f} s)", static_cast<double>(position_) / format_.rate_hz);
    }
    return error;
  }

  // Lets the decoder run on as long as it gives sound. It cannot raise its own limit.
  void allow_time() {
    const int64_t allowed_s = cpu_s_ + static_cast<int64_t>(heard_s_);
    if (allowed_s < allowed_s_ + cpu_s_ / 2) {
      return;
    }
    allowed_s_ = allowed_s;
    rlimit limit{};
    if (::prlimit(process_.pid(), RLIMIT_CPU, nullptr, &limit) == 0) {
      limit.rlim_cur = std::min(limit.rlim_max, static_cast<rlim_t>(allowed_s));
      ::prlimit(process_.pid(), RLIMIT_CPU, &limit, nullptr);
    }
  }

  std::string name_;
  int cpu_s_;
  Process process_;
  MediaStream stream_;
  MediaFormat format_{};
  int64_t position_ = 0;   // frame of the recording that comes next
  int64_t believed_ = 0;   // the same as the caller counts it: before skip(), a start at 0
  int64_t told_ = 0;       // frames of sound, as the stream counted them last
  double heard_s_ = 0;     // sound received; silence that is told costs the decoder nothing
  int64_t allowed_s_ = 0;  // what was last set
};

// A file without a name, on disk. None where no folder takes one: only a piped MP4 needs it.
UniqueFd open_spool(const std::string& folder) {
  UniqueFd spool(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!spool) {
    spool = UniqueFd(::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  }
  return spool;
}

// A file in memory that holds what was read of a pipe already.
Result<UniqueFd> open_head(const std::vector<std::byte>& bytes) {
  UniqueFd head(::memfd_create("head", MFD_CLOEXEC));
  if (!head ||
      ::write(head.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
      ::lseek(head.get(), 0, SEEK_SET) != 0) {
    return fail(ErrorCode::Io,
                std::string("cannot keep what was read of a pipe: ") + std::strerror(errno));
  }
  return head;
}

}  // namespace

Result<std::string> find_media_program() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    const auto folder = self.parent_path();
    for (const char* place : {"mynah-media", "../libexec/mynah-media"}) {
      std::string path = (folder / place).lexically_normal();
      if (::access(path.c_str(), X_OK) == 0) {
        return path;
      }
    }
  }
  return fail(
      ErrorCode::Environment,
      "wanted the program mynah-media beside mynah or in ../libexec, found none: install it "
      "(it decodes mp3, ogg, m4a, webm and the like, and what comes through a pipe), or give wav "
      "or flac files");
}

Result<std::unique_ptr<FrameReader>> open_with_media(InputFile input, const MediaOptions& options) {
  std::string program = options.program;
  if (program.empty()) {
    MYNAH_TRY(program, find_media_program());
  }
  MYNAH_TRY(Pipe pipe, Pipe::create());
  ProcessSpec spec;
  spec.program = std::move(program);
  spec.arguments = {"--cpu", std::to_string(options.cpu_s), "--start",
                    fmt::format("{:.6f}", options.start_s)};
  constexpr size_t kMostLetters = 8;
  const std::string letters = file_extension(input.name);
  if (!letters.empty() && letters.size() <= kMostLetters && options.offset == 0) {
    spec.arguments.insert(spec.arguments.end(), {"--extension", letters});
  }
  if (options.offset > 0 || options.bytes > 0) {
    spec.arguments.insert(spec.arguments.end(), {"--offset", std::to_string(options.offset),
                                                 "--bytes", std::to_string(options.bytes)});
  }
  if (!options.track.empty()) {
    spec.arguments.insert(spec.arguments.end(), {"--track", options.track});
  }
  spec.descriptors = {{input.fd.get(), kMediaInputFd}, {pipe.write_end.get(), kMediaOutputFd}};
  UniqueFd spool;
  if (input.seekable) {
    ::lseek(input.fd.get(), 0, SEEK_SET);
  } else if (spool = open_spool(options.spool_folder); spool) {
    spec.descriptors.emplace_back(spool.get(), kMediaSpoolFd);
  }
  UniqueFd head;
  if (!input.head.empty()) {
    MYNAH_TRY(head, open_head(input.head));
    spec.descriptors.emplace_back(head.get(), kMediaHeadFd);
  }
  auto process = Process::spawn(spec);
  if (!process) {
    return fail(ErrorCode::Environment, process.error().message);
  }
  pipe.write_end.reset();
  const auto patience = input.seekable ? std::optional(options.patience) : std::nullopt;
  MediaStream stream(std::make_unique<PipeSource>(std::move(pipe.read_end), patience, input.stop),
                     options.note);
  auto reader = std::make_unique<MediaReader>(input.name, options.cpu_s, std::move(*process),
                                              std::move(stream));
  MYNAH_TRY_STATUS(reader->start());
  return reader;
}

}  // namespace mynah
