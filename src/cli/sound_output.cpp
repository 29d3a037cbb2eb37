#include "cli/sound_output.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"

namespace mynah::cli {

namespace {

// A program that plays what comes on its standard input.
struct Player {
  std::string_view program;
  std::vector<std::string> arguments;
};

// PipeWire, PulseAudio, ALSA, FFmpeg.
const std::array<Player, 4>& players() {
  static const std::array<Player, 4> kPlayers = {{
      {.program = "pw-play", .arguments = {"-"}},
      {.program = "paplay", .arguments = {}},
      {.program = "aplay", .arguments = {"-q", "-"}},
      {.program = "ffplay",
       .arguments = {"-nodisp", "-autoexit", "-loglevel", "error", "-i", "pipe:0"}},
  }};
  return kPlayers;
}

class SoundFile final : public SoundOutput {
 public:
  SoundFile(std::string path, AtomicFile file) : path_(std::move(path)), sink_(std::move(file)) {}

  Status open(const SoundWriterOptions& options) {
    MYNAH_TRY(writer_, make_sound_writer(sink_, options));
    return {};
  }

  Status write(std::span<const float> samples) override { return writer_->write(samples); }

  Status finish() override {
    MYNAH_TRY_STATUS(writer_->finish());
    return sink_.commit();
  }

  [[nodiscard]] std::string name() const override { return path_; }

 private:
  std::string path_;
  FileSink sink_;
  std::unique_ptr<SoundWriter> writer_;
};

class SoundStream final : public SoundOutput {
 public:
  explicit SoundStream(OutputStream& out) : sink_(out) {}

  Status open(const SoundWriterOptions& options) {
    MYNAH_TRY(writer_, make_sound_writer(sink_, options));
    return {};
  }

  Status write(std::span<const float> samples) override { return writer_->write(samples); }

  Status finish() override { return writer_->finish(); }

  [[nodiscard]] std::string name() const override { return "standard output"; }

 private:
  StreamSink sink_;
  std::unique_ptr<SoundWriter> writer_;
};

// A pipe to a child, whose end is told by the child's.
class PipeSink final : public ByteSink {
 public:
  explicit PipeSink(UniqueFd fd) : fd_(std::move(fd)) {}

  Status write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t wrote = ::write(fd_.get(), bytes.data(), bytes.size());
      if (wrote < 0 && errno == EINTR) {
        continue;
      }
      if (wrote < 0) {
        return fail(ErrorCode::Io, std::strerror(errno));
      }
      bytes = bytes.subspan(static_cast<size_t>(wrote));
    }
    return {};
  }

  [[nodiscard]] bool keeps() const override { return false; }

  Status overwrite(uint64_t /*offset*/, std::span<const std::byte> /*bytes*/) override {
    MYNAH_CHECK(false, "a pipe does not keep");
    return {};
  }

  void close() { fd_.reset(); }

 private:
  UniqueFd fd_;
};

class PlayerOutput final : public SoundOutput {
 public:
  PlayerOutput(std::string program, Process process, UniqueFd samples)
      : program_(std::move(program)), process_(std::move(process)), sink_(std::move(samples)) {}

  Status open(int rate_hz) {
    MYNAH_TRY(writer_, make_sound_writer(sink_, {.format = SoundFormat::Wav, .rate_hz = rate_hz}));
    return {};
  }

  Status write(std::span<const float> samples) override {
    return writer_->write(samples) ? Status{} : failed();
  }

  Status finish() override {
    if (!writer_->finish()) {
      return failed();
    }
    sink_.close();
    MYNAH_TRY(const auto end, process_.wait(std::nullopt));
    return end && end->ok() ? Status{} : failed();
  }

  [[nodiscard]] std::string name() const override { return program_; }

 private:
  [[nodiscard]] Status failed() const {
    return fail(ErrorCode::Environment,
                fmt::format("{} did not play: is there a sound device? `--out speech.wav` writes a "
                            "file instead",
                            program_));
  }

  std::string program_;
  Process process_;
  PipeSink sink_;
  std::unique_ptr<SoundWriter> writer_;
};

Result<Player> find_player(const std::string& wanted) {
  if (!wanted.empty()) {
    return Player{.program = wanted, .arguments = {}};
  }
  std::vector<std::string_view> names;
  for (const Player& player : players()) {
    if (find_program(std::string(player.program))) {
      return player;
    }
    names.push_back(player.program);
  }
  return fail(
      ErrorCode::Environment,
      fmt::format("nothing here plays sound: wanted one of {}; install one, or write a file "
                  "with --out speech.wav",
                  fmt::join(names, ", ")));
}

}  // namespace

Status StreamSink::write(std::span<const std::byte> bytes) {
  out_.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  out_.flush();
  if (out_.failed()) {
    return fail(ErrorCode::Io,
                std::string("cannot write to standard output: ") + std::strerror(out_.error()));
  }
  return {};
}

Status StreamSink::overwrite(uint64_t /*offset*/, std::span<const std::byte> /*bytes*/) {
  MYNAH_CHECK(false, "a stream does not keep");
  return {};
}

Result<std::unique_ptr<SoundOutput>> open_sound_file(const std::string& path,
                                                     const SoundWriterOptions& options) {
  MYNAH_TRY(AtomicFile file, AtomicFile::create(path));
  auto output = std::make_unique<SoundFile>(path, std::move(file));
  MYNAH_TRY_STATUS(output->open(options));
  return output;
}

Result<std::unique_ptr<SoundOutput>> open_sound_stream(OutputStream& out,
                                                       const SoundWriterOptions& options) {
  auto output = std::make_unique<SoundStream>(out);
  MYNAH_TRY_STATUS(output->open(options));
  return output;
}

Result<std::unique_ptr<SoundOutput>> open_player(const std::string& player, int rate_hz) {
  MYNAH_TRY(const Player found, find_player(player));
  MYNAH_TRY(Pipe pipe, Pipe::create());
  ProcessSpec spec;
  const auto program = find_program(std::string(found.program));
  spec.program = program.value_or(std::string(found.program));
  spec.arguments = found.arguments;
  spec.descriptors = {{pipe.read_end.get(), 0}};
  spec.environment = inherited_environment();  // where the desktop's sound server is
  auto process = Process::spawn(spec);
  if (!process) {
    return fail(ErrorCode::Environment, process.error().message);
  }
  pipe.read_end.reset();
  auto output = std::make_unique<PlayerOutput>(std::string(found.program), std::move(*process),
                                               std::move(pipe.write_end));
  MYNAH_TRY_STATUS(output->open(rate_hz));
  return output;
}

}  // namespace mynah::cli
