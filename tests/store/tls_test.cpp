// Downloads over TLS, from a server whose certificate is made here.
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "store/http.h"
#include "store/test_server.h"
#include "temporary_folder.h"

namespace mynah {
namespace {

using test::TemporaryFolder;
using testing::answer;
using ::testing::HasSubstr;
using testing::ServerRequest;
using testing::TestServer;

constexpr long kDay_s = 24L * 60 * 60;

// A self-signed certificate for a name or address, and its key, as PEM files.
void write_certificate(const std::string& alternative_name, const std::string& certificate_path,
                       const std::string& key_path) {
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const std::unique_ptr<X509, void (*)(X509*)> certificate(X509_new(), &X509_free);
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kDay_s);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kDay_s);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("mynah test"), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  X509_EXTENSION* extension =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, alternative_name.c_str());
  X509_add_ext(certificate.get(), extension, -1);
  X509_EXTENSION_free(extension);
  ASSERT_GT(X509_sign(certificate.get(), key.get(), EVP_sha256()), 0);
  const auto write = [](const std::string& path, auto put) {
    const std::unique_ptr<BIO, int (*)(BIO*)> file(BIO_new_file(path.c_str(), "w"), &BIO_free);
    ASSERT_EQ(put(file.get()), 1);
  };
  write(certificate_path, [&](BIO* file) { return PEM_write_bio_X509(file, certificate.get()); });
  write(key_path, [&](BIO* file) {
    return PEM_write_bio_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

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
