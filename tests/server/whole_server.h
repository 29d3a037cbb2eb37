// WholeServer: a server with what needs no weights, the built-in recogniser and voice, and a client
// that asks it.
#pragma once

#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "server/client.h"
#include "server/server.h"
#include "temporary_folder.h"

namespace mynah::server::test {

class WholeServer : public ::testing::Test {
 protected:
  [[nodiscard]] engine::Surroundings surroundings() const {
    return {.environment =
                Environment({{"HOME", folder_.path()}, {"MYNAH_HOME", folder_ / "home"}})};
  }

  [[nodiscard]] static ServerOptions options() {
    ServerOptions options;
    options.network.port = 0;
    options.wyoming_port = 0;
    options.service.placement.device = "cpu";
    options.service.placement.threads = 1;
    options.network.connection.limits.spool_folder = ::testing::TempDir();
    return options;
  }

  void serve(ServerOptions options) {
    auto server = Server::create(std::move(options), surroundings());
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
    thread_ = std::jthread([this](const std::stop_token& stop) { server_->run(stop); });
  }

  // Head and body of an answer whose end is that of the connection.
  [[nodiscard]] std::string ask(const std::string& request) const {
    Client client(server_->addresses().front());
    client.send(request);
    return client.rest();
  }

  [[nodiscard]] std::string get(const std::string& path) const {
    return ask("GET " + path + " HTTP/1.1\r\nConnection: close\r\n\r\n");
  }

  // `headers`: more of them, each with its end of line.
  [[nodiscard]] std::string post(const std::string& path, const std::string& body,
                                 const std::string& headers = {},
                                 const std::string& type = "application/json") const {
    return ask("POST " + path + " HTTP/1.1\r\nConnection: close\r\n" + headers + "Content-Type: " +
               type + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }

  // A form with a file called "a.raw" of silence, and fields.
  [[nodiscard]] std::string post_form(
      const std::string& path, const std::vector<std::pair<std::string, std::string>>& fields,
      const std::string& file_field, const std::string& file) const {
    std::string body;
    for (const auto& [name, value] : fields) {
      body += fmt::format("--b\r\nContent-Disposition: form-data; name=\"{}\"\r\n\r\n{}\r\n", name,
                          value);
    }
    if (!file_field.empty()) {
      body += fmt::format(
          "--b\r\nContent-Disposition: form-data; name=\"{}\"; filename=\"a.raw\"\r\n\r\n{}\r\n",
          file_field, file);
    }
    return post(path, body + "--b--\r\n", {}, "multipart/form-data; boundary=b");
  }

  mynah::test::TemporaryFolder folder_;
  std::unique_ptr<Server> server_;
  std::jthread thread_;  // the first to go
};

// A file of 16 kHz and 16 bits with these samples.
inline std::string wav_of(const std::string& samples) {
  const auto number = [](size_t value) {
    std::string bytes;
    for (int i = 0; i < 4; ++i) {
      bytes += static_cast<char>(value >> (8 * i) & 0xFFU);
    }
    return bytes;
  };
  return "RIFF" + number(36 + samples.size()) + "WAVEfmt " +
         std::string("\x10\0\0\0\x01\0\x01\0\x80\x3E\0\0\0\x7D\0\0\x02\0\x10\0", 20) + "data" +
         number(samples.size()) + samples;
}

// What stands behind an answer's head.
inline std::string body_of(const std::string& answer) {
  return answer.substr(answer.find("\r\n\r\n") + 4);
}

}  // namespace mynah::server::test
