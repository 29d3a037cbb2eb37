#include "audio/media_writer.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "audio/media_protocol.h"
#include "audio/media_reader.h"
#include "base/process.h"

namespace mynah {
namespace {

constexpr std::array kAacRates = {7350,  8000,  11025, 12000, 16000, 22050, 24000,
                                  32000, 44100, 48000, 64000, 88200, 96000};
// A book may take hours to encode; the limit is there against what never ends.
constexpr int kCpu_s = 24 * 3600;
constexpr int kPatience_ms = 60000;

class MediaWriter final : public SoundWriter {
 public:
  MediaWriter(ByteSink& sink, Process process, UniqueFd samples, UniqueFd bytes)
      : sink_(sink),
        process_(std::move(process)),
        samples_(std::move(samples)),
        bytes_(std::move(bytes)) {}

  Status write(std::span<const float> samples) override { return exchange(std::as_bytes(samples)); }

  Status finish() override {
    samples_.reset();
    MYNAH_TRY_STATUS(exchange({}));
    MYNAH_TRY(const auto end, process_.wait(std::chrono::milliseconds(kPatience_ms)));
    if (!end || !end->ok()) {
      return failed();
    }
    return {};
  }

 private:
  // Gives the encoder what it takes and takes what it gives, whichever it waits for. Without
  // samples: to its end.
  Status exchange(std::span<const std::byte> samples) {
    std::array<std::byte, 1 << 14> block{};
    while (samples_ ? !samples.empty() : true) {
      std::array<pollfd, 2> ends = {pollfd{.fd = bytes_.get(), .events = POLLIN, .revents = 0},
                                    pollfd{.fd = samples_.get(), .events = POLLOUT, .revents = 0}};
      const int ready = ::poll(ends.data(), samples_ ? 2 : 1, kPatience_ms);
      if (ready < 0 && errno == EINTR) {
        continue;
      }
      if (ready <= 0) {
        return failed();
      }
      if (ends[0].revents != 0) {
        const ssize_t got = ::read(bytes_.get(), block.data(), block.size());
        if (got == 0 && !samples_) {
          return {};
        }
        if (got <= 0) {
          return failed();
        }
        MYNAH_TRY_STATUS(sink_.write(std::span(block).first(static_cast<size_t>(got))));
      }
      if (samples_ && ends[1].revents != 0) {
        const ssize_t took = ::write(samples_.get(), samples.data(), samples.size());
        if (took < 0 && errno != EAGAIN && errno != EINTR) {
          return failed();
        }
        samples = samples.subspan(static_cast<size_t>(std::max<ssize_t>(took, 0)));
      }
    }
    return {};
  }

  Status failed() {
    process_.kill(SIGKILL);
    return fail(
        ErrorCode::Environment,
        "mynah-media did not encode AAC: this machine's FFmpeg may lack the encoder; wanted "
        "another --format, such as mp3");
  }

  ByteSink& sink_;
  Process process_;
  UniqueFd samples_;  // to the encoder; does not block
  UniqueFd bytes_;    // from it
};

}  // namespace

std::span<const int> media_writer_rates() {
  return kAacRates;
}

Result<std::unique_ptr<SoundWriter>> make_media_writer(ByteSink& sink, int rate_hz,
                                                       const std::string& program) {
  ProcessSpec spec;
  spec.program = program;
  if (program.empty()) {
    MYNAH_TRY(spec.program, find_media_program());
  }
  MYNAH_TRY(Pipe in, Pipe::create());
  MYNAH_TRY(Pipe out, Pipe::create());
  spec.arguments = {"--cpu", std::to_string(kCpu_s), "--encode-aac", std::to_string(rate_hz)};
  spec.descriptors = {{in.read_end.get(), kMediaInputFd}, {out.write_end.get(), kMediaOutputFd}};
  auto process = Process::spawn(spec);
  if (!process) {
    return fail(ErrorCode::Environment, process.error().message);
  }
  in.read_end.reset();
  out.write_end.reset();
  ::fcntl(in.write_end.get(), F_SETFL, O_NONBLOCK);
  return std::make_unique<MediaWriter>(sink, std::move(*process), std::move(in.write_end),
                                       std::move(out.read_end));
}

}  // namespace mynah
