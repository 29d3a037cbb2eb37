// HTTPS: what clients see of a certificate, and those that do not speak it.
#include <filesystem>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "server/client.h"
#include "server/http/front.h"
#include "server/net/network.h"
#include "server/net/own_certificate.h"
#include "store/files.h"
#include "temporary_folder.h"

namespace mynah::server {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Says where it was asked.
class SayingFront final : public Front {
 public:
  std::expected<Plan, Response> plan(RequestHead& head) override {
    return Plan{.accepts = Accepts::Text, .handler = [path = head.path](Exchange& exchange) {
                  exchange.answer({.body = path + exchange.body().text});
                }};
  }

  Response refusal(const RequestHead& /*head*/, const Error& error) const override {
    return {.status = 400, .body = error.message};
  }

  void dress(RequestHead& /*head*/, Response& /*response*/) override {}
};

class Https : public ::testing::Test {
 protected:
  void TearDown() override {
    if (network_) {
      network_->stop();
    }
  }

  // Trusts what the server shows now.
  void make_certificate_files() {
    ASSERT_TRUE(make_certificate(files_, std::vector<std::string>{"localhost", "127.0.0.1"}));
  }

  void serve(std::chrono::milliseconds head = std::chrono::seconds(20)) {
    make_certificate_files();
    NetworkOptions options;
    options.port = 0;
    options.tls = files_;
    options.connection.times.head = head;
    auto network = Network::listen(options, front_);
    ASSERT_TRUE(network) << network.error().message;
    network_ = *std::move(network);
    thread_ = std::jthread([this] { network_->run(); });
  }

  [[nodiscard]] std::string address() const { return network_->addresses().front(); }

  // What a client that checks the certificate is answered; "untrusted": it did not go on.
  [[nodiscard]] std::string ask(const std::string& request) const {
    const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(::SSL_CTX_new(::TLS_client_method()),
                                                               ::SSL_CTX_free);
    ::SSL_CTX_load_verify_locations(context.get(), files_.certificate.c_str(), nullptr);
    ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    const std::unique_ptr<SSL, void (*)(SSL*)> ssl(::SSL_new(context.get()), ::SSL_free);
    ::SSL_set1_host(ssl.get(), "localhost");
    const test::Client client(address());
    ::SSL_set_fd(ssl.get(), client.descriptor());
    if (::SSL_connect(ssl.get()) != 1) {
      return "untrusted";
    }
    ::SSL_write(ssl.get(), request.data(), static_cast<int>(request.size()));
    std::string answer;
    char piece[4096];
    for (int count = 0; (count = ::SSL_read(ssl.get(), piece, sizeof(piece))) > 0;) {
      answer.append(piece, static_cast<size_t>(count));
    }
    const bool told = (::SSL_get_shutdown(ssl.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
    return answer + (told ? "|end" : "|cut");
  }

  mynah::test::TemporaryFolder folder_;
  TlsFiles files_{.certificate = folder_ / "deep/certificate.pem", .key = folder_ / "key.pem"};
  SayingFront front_;
  std::unique_ptr<Network> network_;
  std::jthread thread_;
};

constexpr const char* kGet = "GET /here HTTP/1.1\r\nConnection: close\r\n\r\n";

TEST_F(Https, AnswersWhoeverTrustsItsCertificate) {
  serve();
  EXPECT_THAT(ask(kGet), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(ask(kGet), EndsWith("/here|end")) << "the end is told, too";
  const std::string much(3'000'000, 'x');
  const std::string long_answer = ask(fmt::format(
      "POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}", much.size(), much));
  EXPECT_THAT(long_answer, EndsWith("x|end"));
  EXPECT_GT(long_answer.size(), much.size());
}

TEST_F(Https, TellsWhoeverDoesNotSpeakIt) {
  serve();
  test::Client plain(address());
  plain.send(kGet);
  const std::string told = plain.rest();
  EXPECT_THAT(told, StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(told, HasSubstr("wanted https://"));
  const size_t head = told.find("\r\n\r\n") + 4;
  EXPECT_THAT(told, HasSubstr("Content-Length: " + std::to_string(told.size() - head) + "\r\n"));
  for (const std::string& nonsense : {std::string(), std::string("\x16\x03\x01\x00\x05hello", 10),
                                      std::string(1, '\x16'), std::string(5000, '\x16')}) {
    test::Client other(address());
    other.send(nonsense);
    other.half_close();
    other.rest();
  }
  EXPECT_THAT(ask(kGet), StartsWith("HTTP/1.1 200 OK")) << "it goes on";
}

TEST_F(Https, DropsWhoeverTakesTooLong) {
  serve(std::chrono::milliseconds(50));
  for (const char* begun : {"", "\x16\x03\x01"}) {
    test::Client slow(address());
    slow.send(begun);
    EXPECT_EQ(slow.rest(), "") << "closed";
  }
}

TEST_F(Https, ShowsAnotherCertificateWhenItIsRead) {
  serve();
  const auto before = fingerprint_of(files_.certificate);
  ASSERT_TRUE(before);
  EXPECT_EQ(before->size(), 32U * 3 - 1);
  make_certificate_files();
  EXPECT_NE(*before, *fingerprint_of(files_.certificate));
  EXPECT_EQ(ask(kGet), "untrusted") << "the server still shows the one before";
  ASSERT_TRUE(network_->reload());
  EXPECT_THAT(ask(kGet), StartsWith("HTTP/1.1 200 OK"));
  ASSERT_TRUE(write_text_file(files_.certificate, "no"));
  const auto reloaded = network_->reload();
  ASSERT_FALSE(reloaded);
  EXPECT_THAT(reloaded.error().message, HasSubstr("wanted a certificate"));
}

TEST_F(Https, RefusesFilesThatAreNone) {
  const auto error = [this](const TlsFiles& files) {
    NetworkOptions options;
    options.port = 0;
    options.tls = files;
    const auto network = Network::listen(options, front_);
    return network ? "none" : network.error().message;
  };
  make_certificate_files();
  EXPECT_EQ(error(files_), "none");
  EXPECT_THAT(error({.certificate = files_.certificate, .key = {}}), HasSubstr("--tls-key"));
  EXPECT_THAT(error({.certificate = folder_ / "none", .key = files_.key}),
              HasSubstr("there is no file"));
  EXPECT_THAT(error({.certificate = files_.key, .key = files_.key}),
              HasSubstr("wanted a certificate as PEM"));
  const TlsFiles other{.certificate = folder_ / "other.pem", .key = folder_ / "other-key.pem"};
  ASSERT_TRUE(make_certificate(other, std::vector<std::string>{"localhost"}));
  EXPECT_THAT(error({.certificate = files_.certificate, .key = other.key}),
              HasSubstr("wanted the key of"));
  const auto permissions = std::filesystem::status(files_.key).permissions();
  EXPECT_EQ(permissions & std::filesystem::perms::all,
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_TRUE(*is_good_for(files_.certificate, std::chrono::days(800)));
  EXPECT_FALSE(*is_good_for(files_.certificate, std::chrono::days(825)));
  EXPECT_FALSE(*is_good_for(folder_ / "none", std::chrono::days(1)));
}

}  // namespace
}  // namespace mynah::server
