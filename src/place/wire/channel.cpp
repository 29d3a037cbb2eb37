#include "place/wire/channel.h"

#include <cerrno>
#include <cstring>
#include <string>

#include <sys/socket.h>

#include "base/process.h"

namespace mynah::place {
namespace {

struct Header {
  uint64_t request = 0;
  uint64_t bytes = 0;
  uint32_t kind = 0;
  uint32_t mark = 0;
};

constexpr uint32_t kMark = 0x6d796e61;  // "myna": a message begins here

// A segment grows to the next multiple of this.
constexpr size_t kGrowth = size_t{1} << 20;

}  // namespace

Result<std::span<std::byte>> Channel::room(size_t bytes) {
  if (bytes > outgoing_.bytes().size()) {
    MYNAH_TRY_STATUS(outgoing_.grow((bytes + kGrowth - 1) / kGrowth * kGrowth));
  }
  return outgoing_.bytes().first(bytes);
}

Status Channel::send(uint64_t request, uint32_t kind, std::span<const std::byte> bytes) {
  MYNAH_TRY(const std::span<std::byte> place, room(bytes.size()));
  if (!bytes.empty()) {
    std::memcpy(place.data(), bytes.data(), bytes.size());
  }
  return send_written(request, kind, bytes.size());
}

Status Channel::send_written(uint64_t request, uint32_t kind, size_t bytes) {
  const Header header{.request = request, .bytes = bytes, .kind = kind, .mark = kMark};
  while (true) {
    const ssize_t sent = ::send(socket_.get(), &header, sizeof header, MSG_NOSIGNAL);
    if (sent == static_cast<ssize_t>(sizeof header)) {
      return {};
    }
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    return fail(ErrorCode::Io, sent < 0 ? std::string("nobody listens: ") + std::strerror(errno)
                                        : "a message was cut short");
  }
}

Result<std::optional<Message>> Channel::receive(std::optional<std::chrono::milliseconds> limit) {
  MYNAH_TRY(const bool readable, wait_readable(socket_.get(), limit));
  if (!readable) {
    return std::nullopt;
  }
  Header header;
  ssize_t got = 0;
  do {
    // With MSG_TRUNC what is longer is seen to be so.
    got = ::recv(socket_.get(), &header, sizeof header, MSG_TRUNC);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) {
    return fail(ErrorCode::Io, "the other side has gone");
  }
  if (got != static_cast<ssize_t>(sizeof header) || header.mark != kMark) {
    return fail(ErrorCode::InvalidInput, "wanted a message, found other bytes");
  }
  if (header.bytes > most_) {
    return fail(ErrorCode::InvalidInput, "wanted a message of at most " + std::to_string(most_) +
                                             " bytes, found one of " +
                                             std::to_string(header.bytes));
  }
  if (header.bytes > 0) {
    MYNAH_TRY_STATUS(incoming_.follow(header.bytes));
  }
  return Message{.request = header.request,
                 .kind = header.kind,
                 .bytes = incoming_.bytes().first(header.bytes)};
}

}  // namespace mynah::place
