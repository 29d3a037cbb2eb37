#include "place/wire/channel.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include <sys/socket.h>

#include "base/check.h"
#include "base/process.h"

namespace mynah::place {
namespace {

struct Header {
  uint64_t request = 0;
  uint64_t bytes = 0;
  uint32_t kind = 0;
  uint32_t mark = 0;
  uint32_t urgency = 0;
  uint32_t nothing = 0;  // so that no byte of it is unset
};

constexpr uint32_t kMark = 0x6d796e61;  // "myna": a message begins here

// A segment grows to the next multiple of this.
constexpr size_t kGrowth = size_t{1} << 20;

// Room for the descriptors that come with a message (cmsg(3)).
struct ControlBytes {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(Channel::kMostDescriptors * sizeof(int))> bytes{};
};

std::vector<UniqueFd> descriptors_of(msghdr& message) {
  std::vector<UniqueFd> all;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS) {
      std::array<int, Channel::kMostDescriptors> values{};
      const size_t bytes = std::min(part->cmsg_len - CMSG_LEN(0), sizeof values);
      std::memcpy(values.data(), CMSG_DATA(part), bytes);
      for (size_t i = 0; i < bytes / sizeof(int); ++i) {
        all.emplace_back(values[i]);
      }
    }
  }
  return all;
}

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

Status Channel::send_written(uint64_t request, uint32_t kind, size_t bytes,
                             std::span<const int> descriptors) {
  MYNAH_CHECK(descriptors.size() <= kMostDescriptors, "more descriptors than go with a message");
  Header header{.request = request,
                .bytes = bytes,
                .kind = kind,
                .mark = kMark,
                .urgency = static_cast<uint32_t>(urgency())};
  iovec part{.iov_base = &header, .iov_len = sizeof header};
  ControlBytes control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const carried = CMSG_FIRSTHDR(&message);
    carried->cmsg_level = SOL_SOCKET;
    carried->cmsg_type = SCM_RIGHTS;
    carried->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(carried), descriptors.data(), descriptors.size_bytes());
  }
  while (true) {
    const ssize_t sent = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
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
  iovec part{.iov_base = &header, .iov_len = sizeof header};
  ControlBytes control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptors_ == Descriptors::Taken) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
  }
  ssize_t got = 0;
  do {
    // With MSG_TRUNC what is longer is seen to be so.
    got = ::recvmsg(socket_.get(), &message, MSG_TRUNC | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) {
    return fail(ErrorCode::Io, "the other side has gone");
  }
  std::vector<UniqueFd> descriptors = descriptors_of(message);
  if (got != static_cast<ssize_t>(sizeof header) || header.mark != kMark ||
      header.urgency > static_cast<uint32_t>(Urgency::Interactive)) {
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
                 .urgency = static_cast<Urgency>(header.urgency),
                 .bytes = incoming_.bytes().first(header.bytes),
                 .descriptors = std::move(descriptors)};
}

}  // namespace mynah::place
