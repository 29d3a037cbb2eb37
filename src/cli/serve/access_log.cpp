#include "cli/serve/access_log.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <utility>

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "text/utf8.h"

namespace mynah::cli {
namespace {

using Json = nlohmann::ordered_json;

double milliseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

std::string now() {
  return fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)));
}

// What a client calls something can neither begin a line nor tell a terminal what to do.
std::string printable(const std::string& name) {
  constexpr size_t kMost = 300;
  std::string text = replace_invalid_utf8(std::string_view(name).substr(0, kMost));
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F; }, '?');
  return text;
}

std::string line_of(const server::RequestHead& head, const server::Served& served) {
  return fmt::format("{} {} {} {} {} {} {} bytes, {:.1f} ms{}", now(),
                     head.peer.empty() ? "unix" : head.peer,
                     head.work != nullptr ? printable(head.work->id()) : "-",
                     printable(head.method), printable(head.path), served.status, served.bytes,
                     milliseconds(served.took), served.left ? ", left" : "");
}

Json json_of(const server::RequestHead& head, const server::Served& served) {
  Json json = {{"time", now()},
               {"id", head.work != nullptr ? Json(head.work->id()) : Json()},
               {"peer", head.peer},
               {"key", head.owner.empty() ? Json() : Json(head.owner)},
               {"method", head.method},
               {"path", head.path},
               {"status", served.status},
               {"bytes", served.bytes},
               {"received", served.received},
               {"milliseconds", milliseconds(served.took)}};
  const auto waited = head.work != nullptr ? head.work->waited() : std::nullopt;
  json["queue_milliseconds"] = waited ? Json(milliseconds(*waited)) : Json();
  json["left"] = served.left;
  return json;
}

}  // namespace

Status AccessLog::open(const std::string& path) {
  constexpr mode_t kOwnersAlone = 0640;
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kOwnersAlone));
  if (fd.get() < 0) {
    return fail(ErrorCode::Io, fmt::format("--access-log {}: {}", path, std::strerror(errno)));
  }
  auto file = std::make_unique<OutputStream>(fd.get());
  const std::lock_guard lock(mutex_);
  path_ = path;
  out_ = file.get();
  file_ = std::move(file);  // before the descriptor: what it holds is written
  fd_ = std::move(fd);
  return {};
}

Status AccessLog::reopen() {
  std::string path;
  {
    const std::lock_guard lock(mutex_);
    path = path_;
  }
  return path.empty() ? Status() : open(path);
}

void AccessLog::write(const server::RequestHead& head, const server::Served& served) {
  const std::string line =
      json_ ? json_of(head, served).dump(-1, ' ', false, Json::error_handler_t::replace)
            : line_of(head, served);
  const std::lock_guard lock(mutex_);
  out_->line(line);
  out_->flush();
}

}  // namespace mynah::cli
