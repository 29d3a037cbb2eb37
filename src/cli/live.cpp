#include "cli/live.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace mynah::cli {

namespace {

// Short enough that text follows speech closely, long enough that a session is not called for
// nothing.
constexpr double kChunk_s = 0.1;

std::unexpected<Error> io_error(std::string_view what) {
  return fail(ErrorCode::Io, fmt::format("{}: {}", what, std::strerror(errno)));
}

bool write_all(int fd, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(fd, data, size);
    if (written < 0 && errno != EINTR) {
      return false;
    }
    if (written > 0) {
      data += written;
      size -= static_cast<size_t>(written);
    }
  }
  return true;
}

Status recognise(Recognizer::Session& session, AudioSource& source, Transcript& transcript,
                 TranscriptSink& sink, size_t job) {
  std::vector<float> samples(static_cast<size_t>(source.rate_hz() * kChunk_s));
  double heard_s = 0;
  const auto take = [&](const LiveText& text) {
    for (const Segment& segment : text.committed) {
      sink.on_segment(job, segment);
    }
    sink.show_partial(text.partial);
    if (!text.language.empty()) {
      transcript.language = text.language;
      transcript.language_probability = text.language_probability;
    }
  };
  std::optional<Error> broken;
  while (true) {
    const auto got = source.read(samples);
    if (!got) {
      broken = got.error();  // what came before is recognised all the same
      break;
    }
    if (*got == 0) {
      break;
    }
    heard_s += static_cast<double>(*got) / source.rate_hz();
    MYNAH_TRY(const LiveText text, session.push(std::span(samples).first(*got)));
    take(text);
  }
  MYNAH_TRY(const LiveText rest, session.flush());
  take(rest);
  transcript.duration_s = heard_s;
  if (broken) {
    return std::unexpected(*broken);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<InterruptibleInput>> InterruptibleInput::create(
    const std::stop_token& stop) {
  std::unique_ptr<InterruptibleInput> input(new InterruptibleInput());
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) {
    return io_error("a pipe for standard input");
  }
  const UniqueFd read_end(fds[0]);
  input->pipe_ = UniqueFd(fds[1]);
  input->input_ = UniqueFd(::fcntl(0, F_DUPFD_CLOEXEC, 3));
  input->wake_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  if (!input->input_ || !input->wake_ || ::dup2(read_end.get(), 0) != 0) {
    return io_error("standard input");
  }
  input->on_stop_ =
      std::make_unique<std::stop_callback<std::function<void()>>>(stop, [fd = input->wake_.get()] {
        const uint64_t one = 1;
        [[maybe_unused]] const ssize_t written = ::write(fd, &one, sizeof(one));
      });
  input->thread_ = std::thread([raw = input.get()] { raw->pump(); });
  return input;
}

InterruptibleInput::~InterruptibleInput() {
  on_stop_.reset();
  if (input_) {
    ::dup2(input_.get(), 0);  // closes the pipe's reading end: a pump that waits to write goes on
  }
  if (thread_.joinable()) {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof(one));
    thread_.join();
  }
}

void InterruptibleInput::pump() {
  std::vector<char> buffer(1 << 16);
  std::array<pollfd, 2> fds = {{{.fd = input_.get(), .events = POLLIN, .revents = 0},
                                {.fd = wake_.get(), .events = POLLIN, .revents = 0}}};
  while (true) {
    if (::poll(fds.data(), fds.size(), -1) < 0) {
      if (errno == EINTR) {
        continue;
      }
      break;
    }
    if (fds[1].revents != 0) {
      break;
    }
    const ssize_t got = ::read(input_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0 || !write_all(pipe_.get(), buffer.data(), static_cast<size_t>(got))) {
      break;
    }
  }
  pipe_.reset();  // the reader sees the end
}

void run_live(const Recognizer& recognizer, const RecognizerOptions& options, AudioSource& source,
              Transcript transcript, TranscriptSink& sink, size_t job) {
  const auto begin = std::chrono::steady_clock::now();
  RecognizerOptions wanted = options;
  wanted.partial_text = sink.shows_partial();
  const auto session = recognizer.session(wanted);
  const Status status = recognise(*session, source, transcript, sink, job);
  // First, as a stop cuts the recording off.
  if (sink.stop().stop_requested()) {
    sink.on_done(job, fail(ErrorCode::Cancelled, "stopped while audio was still coming"));
    return;
  }
  if (!status) {
    sink.on_done(job, std::unexpected(status.error()));
    return;
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  transcript.timings.push_back(
      {.stage = "live", .device = transcript.device, .milliseconds = took.count()});
  sink.on_done(job, std::move(transcript));
}

}  // namespace mynah::cli
