// Downloads over TLS, from a server whose certificate is made here.
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/http.h"
#include "store/test_certificate.h"
#include "store/test_server.h"
#include "temporary_folder.h"

namespace mynah {
namespace {

using test::TemporaryFolder;
using test::write_certificate;
using testing::answer;
using ::testing::HasSubstr;
using testing::ServerRequest;
using testing::TestServer;

class Tls : public ::testing::Test {
 protected:
  // A server with a certificate for `alternative_name`.
  void serve(const std::string& alternative_name) {
    write_certificate(alternative_name, certificate, folder / "key.pem");
    context.use_certificate_file(certificate, boost::asio::ssl::context::pem);
    context.use_private_key_file(folder / "key.pem", boost::asio::ssl::context::pem);
    server = std::make_unique<TestServer>(
        [](const ServerRequest& request) {
          return request.target == "/plain" ? answer(302, "Location: http://127.0.0.1/\r\n", "")
                                            : answer(200, "", "a secret");
        },
        &context);
  }

  Result<HttpResponse> get(const std::string& target) {
    return http_get(
        {.url = server->url(target), .range_start = 0, .if_range = {}}, options,
        [](const HttpResponse&) { return Status(); },
        [this](std::span<const std::byte> bytes) -> Status {
          body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
          return {};
        },
        {});
  }

  TemporaryFolder folder;
  const std::string certificate = folder / "certificate.pem";
  boost::asio::ssl::context context{boost::asio::ssl::context::tls_server};
  std::unique_ptr<TestServer> server;
  HttpOptions options;
  std::string body;
};

TEST_F(Tls, brings_the_body_from_a_server_it_trusts) {
  serve("IP:127.0.0.1");
  options.ca_file = certificate;
  const auto response = get("/model");
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(body, "a secret");
}

TEST_F(Tls, refuses_a_certificate_that_nobody_vouches_for) {
  serve("IP:127.0.0.1");
  const auto response = get("/model");
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::Environment);
  EXPECT_THAT(response.error().message, HasSubstr("cannot make a secure connection"));
  EXPECT_THAT(response.error().message, HasSubstr("certificate verify failed"));
}

TEST_F(Tls, refuses_a_certificate_of_another_host) {
  serve("DNS:example.org");
  options.ca_file = certificate;
  const auto response = get("/model");
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::Environment);
}

TEST_F(Tls, does_not_follow_a_redirect_to_an_address_that_is_not_secure) {
  serve("IP:127.0.0.1");
  options.ca_file = certificate;
  const auto response = get("/plain");
  ASSERT_FALSE(response.has_value());
  EXPECT_THAT(response.error().message, HasSubstr("not secure"));
}

TEST_F(Tls, says_which_certificates_it_cannot_read) {
  serve("IP:127.0.0.1");
  options.ca_file = folder / "none.pem";
  EXPECT_THAT(get("/model").error().message, HasSubstr("cannot read the certificates"));
}

}  // namespace
}  // namespace mynah
