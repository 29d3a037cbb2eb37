#include "talk/tools/mcp/child_transport.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/ascii.h"
#include "talk/tools/mcp/message.h"
#include "text/utf8.h"

namespace mynah::talk {

namespace {

// What waits to be written to a server that does not read.
constexpr size_t kMostQueued = size_t{16} << 20;
// What a server may write before it is asked something again.
constexpr size_t kMostUnasked = size_t{16} << 20;
constexpr size_t kMostLastWords = 1000;
constexpr size_t kPieceOfPipe = 65536;

// What programs need to run, of the environment.
std::vector<std::string> child_environment(const McpCommand& command) {
  constexpr std::array<std::string_view, 16> kNeeded = {
      "HOME",   "LANG",       "LOGNAME",         "PATH",
      "SHELL",  "TERM",       "TMPDIR",          "TZ",
      "USER",   "http_proxy", "https_proxy",     "no_proxy",
      "LC_ALL", "LC_CTYPE",   "XDG_RUNTIME_DIR", "SSL_CERT_FILE"};
  std::vector<std::string> environment;
  for (const std::string& variable : inherited_environment()) {
    const std::string_view name = std::string_view(variable).substr(0, variable.find('='));
    const bool is_given =
        std::ranges::find(command.environment, name, &std::pair<std::string, std::string>::first) !=
        command.environment.end();
    if (!is_given && std::ranges::find(kNeeded, name) != kNeeded.end()) {
      environment.push_back(variable);
    }
  }
  for (const auto& [name, value] : command.environment) {
    environment.push_back(fmt::format("{}={}", name, value));
  }
  return environment;
}

void make_nonblocking(const UniqueFd& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

}  // namespace

Status ChildTransport::start(Take take) {
  take_ = std::move(take);
  const auto program = find_program(command_.command);
  if (!program) {
    return fail(ErrorCode::Environment, fmt::format("there is no program '{}'", command_.command));
  }
  MYNAH_TRY(Pipe in, Pipe::create());
  MYNAH_TRY(Pipe out, Pipe::create());
  MYNAH_TRY(Pipe err, Pipe::create());
  MYNAH_TRY(wake_, Pipe::create());
  MYNAH_TRY(process_, Process::spawn({.program = *program,
                                      .name = command_.command,
                                      .arguments = command_.arguments,
                                      .descriptors = {{in.read_end.get(), STDIN_FILENO},
                                                      {out.write_end.get(), STDOUT_FILENO},
                                                      {err.write_end.get(), STDERR_FILENO}},
                                      .environment = child_environment(command_),
                                      .group = ProcessGroup::Own}));
  input_ = std::move(in.write_end);
  output_ = std::move(out.read_end);
  errors_ = std::move(err.read_end);
  for (const UniqueFd* fd : {&input_, &output_, &errors_, &wake_.read_end, &wake_.write_end}) {
    make_nonblocking(*fd);
  }
  thread_ = std::jthread([this](const std::stop_token& stop) { exchange(stop); });
  return {};
}

Status ChildTransport::send(const McpOutgoing& outgoing) {
  {
    const std::scoped_lock lock(mutex_);
    if (!is_over_) {
      if (queue_.size() + outgoing.text.size() > kMostQueued) {
        return fail(ErrorCode::Busy, "the server does not read what it is told");
      }
      queue_.append(outgoing.text) += '\n';
      sent_ = true;
    }
  }
  MYNAH_TRY_STATUS(alive());
  static_cast<void>(::write(wake_.write_end.get(), "", 1));  // a full pipe wakes as well
  return {};
}

Status ChildTransport::alive() const {
  const std::scoped_lock lock(mutex_);
  if (!is_over_) {
    return {};
  }
  const std::string_view said = trimmed(last_words_);
  return fail(
      ErrorCode::Environment,
      said.empty() ? why_ : fmt::format("{}; it said: {}", why_, replace_invalid_utf8(said)));
}

void ChildTransport::end(std::string why) {
  const std::scoped_lock lock(mutex_);
  is_over_ = true;
  why_ = std::move(why);
  ended_.notify_all();
}

void ChildTransport::exchange(const std::stop_token& stop) {
  constexpr int kLook_ms = 100;  // how soon a stop is seen
  bool goes_on = true;
  while (goes_on && !stop.stop_requested()) {
    bool writes = false;
    {
      const std::scoped_lock lock(mutex_);
      writes = !queue_.empty() && input_;
      if (closes_input_ && queue_.empty()) {
        input_.reset();
      }
    }
    std::array<pollfd, 4> fds = {
        {{.fd = output_.get(), .events = POLLIN, .revents = 0},
         {.fd = errors_ ? errors_.get() : -1, .events = POLLIN, .revents = 0},
         {.fd = wake_.read_end.get(), .events = POLLIN, .revents = 0},
         {.fd = writes ? input_.get() : -1, .events = POLLOUT, .revents = 0}}};
    if (::poll(fds.data(), fds.size(), kLook_ms) <= 0) {
      continue;
    }
    if (fds[1].revents != 0) {
      read_stderr();
    }
    if (fds[2].revents != 0) {
      std::array<char, 64> woken{};
      static_cast<void>(::read(wake_.read_end.get(), woken.data(), woken.size()));
    }
    goes_on = (fds[3].revents == 0 || write_some()) && (fds[0].revents == 0 || read_some());
  }
}

bool ChildTransport::write_some() {
  std::unique_lock lock(mutex_);
  const ssize_t count = ::write(input_.get(), queue_.data(), std::min(queue_.size(), kPieceOfPipe));
  if (count > 0) {
    queue_.erase(0, static_cast<size_t>(count));
    return true;
  }
  if (errno == EAGAIN || errno == EINTR) {
    return true;
  }
  // It reads no more, but may have an answer yet.
  queue_.clear();
  input_.reset();
  return true;
}

bool ChildTransport::read_some() {
  std::array<char, kPieceOfPipe> piece{};
  const ssize_t count = ::read(output_.get(), piece.data(), piece.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
    return true;
  }
  if (count <= 0) {
    // What it said last is there by now.
    if (errors_) {
      read_stderr();
    }
    end("the server ended");
    return false;
  }
  {
    const std::scoped_lock lock(mutex_);
    unasked_bytes_ =
        (std::exchange(sent_, false) ? 0 : unasked_bytes_) + static_cast<size_t>(count);
  }
  if (unasked_bytes_ > kMostUnasked) {
    end(fmt::format("the server wrote more than {} bytes that nobody asked for", kMostUnasked));
    return false;
  }
  std::string_view rest(piece.data(), static_cast<size_t>(count));
  for (size_t newline = 0; (newline = rest.find('\n')) != std::string_view::npos;) {
    line_ += rest.substr(0, newline);
    rest.remove_prefix(newline + 1);
    if (!trimmed(line_).empty()) {
      take_(line_);
    }
    line_.clear();
  }
  line_ += rest;
  if (line_.size() > kMostMcpMessageBytes) {
    end(fmt::format("the server wrote a message of more than {} bytes", kMostMcpMessageBytes));
    return false;
  }
  return true;
}

void ChildTransport::read_stderr() {
  std::array<char, kPieceOfPipe> piece{};
  const ssize_t count = ::read(errors_.get(), piece.data(), piece.size());
  if (count == 0) {
    errors_.reset();
  }
  if (count <= 0) {
    return;
  }
  const std::scoped_lock lock(mutex_);
  last_words_.append(piece.data(), static_cast<size_t>(count));
  if (last_words_.size() > kMostLastWords) {
    last_words_.erase(0, last_words_.size() - kMostLastWords);
  }
}

void ChildTransport::close() {
  if (!process_) {
    return;
  }
  constexpr std::chrono::seconds kEndsByItself{2};
  constexpr std::chrono::seconds kEndsWhenAsked{1};
  const auto ends = [&](std::chrono::seconds limit) {
    std::unique_lock lock(mutex_);
    closes_input_ = true;
    static_cast<void>(::write(wake_.write_end.get(), "", 1));
    return ended_.wait_for(lock, limit, [&] { return is_over_; });
  };
  // Nothing reaps it before the last signal: its number, and its group's, is nobody else's.
  static_cast<void>(ends(kEndsByItself));
  process_->kill(SIGTERM);
  static_cast<void>(ends(kEndsWhenAsked));
  process_->kill(SIGKILL);
  thread_.request_stop();
  thread_.join();
  process_.reset();
}

}  // namespace mynah::talk
