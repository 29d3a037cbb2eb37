// A server of a test, and how an organ is told of it.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/ssl.hpp>
#include <gtest/gtest.h>

#include "store/scripted_server.h"
#include "store/test_certificate.h"
#include "talk/organs/remote_organs.h"
#include "temporary_folder.h"

namespace mynah::talk {

class ServiceFixture : public ::testing::Test {
 protected:
  void serve(testing::ScriptedHandler handler) {
    server.reset();  // its port may be another
    server = std::make_unique<testing::ScriptedServer>(std::move(handler));
  }

  // A language model behind a certificate for `alternative_name`.
  void serve_tls(const std::string& alternative_name) {
    test::write_certificate(alternative_name, certificate(), folder_ / "key.pem");
    tls_.use_certificate_file(certificate(), boost::asio::ssl::context::pem);
    tls_.use_private_key_file(folder_ / "key.pem", boost::asio::ssl::context::pem);
    server = std::make_unique<testing::ScriptedServer>(
        [](const testing::ScriptedRequest& request, const testing::ScriptedWire& wire) {
          wire.answer(200, "Content-Type: application/json\r\n",
                      request.target.ends_with("/models")
                          ? R"({"data": [{"id": "safe"}]})"
                          : R"({"choices": [{"message": {"content": "Safe."},)"
                            R"("finish_reason": "stop"}]})");
          return true;
        },
        &tls_);
  }

  [[nodiscard]] std::string certificate() const { return folder_ / "certificate.pem"; }

  [[nodiscard]] Service service(const std::string& option, std::string_view path = "") const {
    return {.address = *parse_service_address(server->url(path)),
            .option = option,
            .key = key,
            .http = http};
  }

  std::string key;
  HttpOptions http;
  std::unique_ptr<testing::ScriptedServer> server;

 private:
  test::TemporaryFolder folder_;
  boost::asio::ssl::context tls_{boost::asio::ssl::context::tls_server};
};

}  // namespace mynah::talk
