#include "cli/speak/sound_output.h"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audio/book_writer.h"

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

class WrittenSound final : public SoundOutput {
 public:
  WrittenSound(std::string name, NamedOutput output)
      : name_(std::move(name)), output_(std::move(output)) {}

  Status open(const SoundWriterOptions& options) {
    MYNAH_TRY(writer_, make_sound_writer(output_.sink(), options));
    return {};
  }

  Status write(std::span<const float> samples) override { return writer_->write(samples); }

  Status finish() override {
    MYNAH_TRY_STATUS(writer_->finish());
    return output_.commit();
  }

  Result<std::optional<std::string>> keep_part() override {
    MYNAH_TRY_STATUS(writer_->finish());
    return output_.keep_part();
  }

  [[nodiscard]] std::string name() const override { return name_; }

 private:
  std::string name_;
  NamedOutput output_;
  std::unique_ptr<SoundWriter> writer_;
};

class PlayerOutput final : public SoundOutput {
 public:
  PlayerOutput(std::string program, Process process, UniqueFd samples)
      : program_(std::move(program)),
        process_(std::move(process)),
        sink_(std::move(samples), program_) {}

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

  // What was said is said; what is not yet played is not waited for.
  Result<std::optional<std::string>> keep_part() override { return std::nullopt; }

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
  DescriptorSink sink_;
  std::unique_ptr<SoundWriter> writer_;
};

class BookSound final : public SoundOutput {
 public:
  BookSound(std::string name, BookWriter writer)
      : name_(std::move(name)), writer_(std::move(writer)) {}

  Status write(std::span<const float> samples) override { return writer_.write(samples); }

  Status finish() override { return writer_.finish(); }

  // A file that is not finished cannot be played.
  Result<std::optional<std::string>> keep_part() override { return std::nullopt; }

  [[nodiscard]] std::string name() const override { return name_; }

 private:
  std::string name_;
  BookWriter writer_;
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

Result<std::unique_ptr<SoundOutput>> open_sound_output(const std::string& path, OutputStream& out,
                                                       const SoundWriterOptions& options) {
  MYNAH_TRY(NamedOutput output, NamedOutput::open(path, out));
  auto sound =
      std::make_unique<WrittenSound>(path == "-" ? "standard output" : path, std::move(output));
  MYNAH_TRY_STATUS(sound->open(options));
  return sound;
}

Result<std::unique_ptr<SoundOutput>> open_book_output(const std::string& path, int rate_hz) {
  MYNAH_TRY(BookWriter writer, BookWriter::create(path, rate_hz, {}));
  return std::make_unique<BookSound>(path, std::move(writer));
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
