// A client of a server under test, which sends what it is told byte by byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace mynah::server::test {

class Client {
 public:
  // `address`: "127.0.0.1:8080".
  explicit Client(const std::string& address) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
    const int one = 1;
    ::setsockopt(fd_.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  }

  // False: the server has closed.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        return false;
      }
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  // Sends no more, as `nc -N` does.
  void half_close() const { ::shutdown(fd_.get(), SHUT_WR); }

  // The socket's end, at once and with a reset.
  void abort() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    fd_.reset();
  }

  void close() { fd_.reset(); }

  [[nodiscard]] int descriptor() const { return fd_.get(); }

  // Everything until the server closes.
  std::string rest() {
    while (read_more()) {
    }
    return std::exchange(held_, {});
  }

  // Up to and with that text; what there was where the server closed before.
  std::string until(std::string_view text) {
    size_t at = 0;
    while ((at = held_.find(text)) == std::string::npos) {
      if (!read_more()) {
        return std::exchange(held_, {});
      }
    }
    const std::string got = held_.substr(0, at + text.size());
    held_.erase(0, got.size());
    return got;
  }

  // So many bytes.
  std::string take(size_t count) {
    while (held_.size() < count && read_more()) {
    }
    const std::string got = held_.substr(0, count);
    held_.erase(0, got.size());
    return got;
  }

  // An answer that has a length: its head and its body.
  std::pair<std::string, std::string> answer() {
    std::string head = until("\r\n\r\n");
    constexpr std::string_view kLength = "Content-Length: ";
    const size_t length = head.find(kLength);
    const size_t count =
        length == std::string::npos ? 0 : std::stoul(head.substr(length + kLength.size()));
    return {head, take(count)};
  }

 private:
  bool read_more() {
    char piece[4096];
    // NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection): no lock is held
    const ssize_t count = ::recv(fd_.get(), piece, sizeof(piece), 0);
    held_.append(piece, count > 0 ? static_cast<size_t>(count) : 0);
    return count > 0;
  }

  UniqueFd fd_;
  std::string held_;
};

}  // namespace mynah::server::test
