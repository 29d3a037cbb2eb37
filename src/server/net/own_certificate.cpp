#include "server/net/own_certificate.h"

#include <array>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/atomic_file.h"
#include "server/access/addresses.h"
#include "store/files.h"

namespace mynah::server {
namespace {

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Deleter<X509_EXTENSION_free>>;
using Bytes = std::unique_ptr<BIO, Deleter<BIO_free_all>>;

std::unexpected<Error> refused(const std::string& what) {
  std::array<char, 256> reason{};
  ::ERR_error_string_n(::ERR_get_error(), reason.data(), reason.size());
  return fail(ErrorCode::Environment, fmt::format("{}: {}", what, reason.data()));
}

bool add(X509* certificate, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  ::X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const Extension extension(::X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  return extension != nullptr && ::X509_add_ext(certificate, extension.get(), -1) == 1;
}

// "DNS:mynah.lan,IP:192.168.1.7"
std::string alternative_names(std::span<const std::string> names) {
  std::vector<std::string> all;
  for (const std::string& name : names) {
    all.push_back((is_address(name) ? "IP:" : "DNS:") + name);
  }
  return fmt::format("{}", fmt::join(all, ","));
}

bool fill(X509* certificate, EVP_PKEY* key, std::span<const std::string> names) {
  constexpr long kDay_s = 24L * 60 * 60;
  constexpr long kDays = 825;
  constexpr int kVersion3 = 2;
  constexpr int kSerialBits = 127;  // positive, of 20 bytes at most (RFC 5280, 4.1.2.2)
  const std::unique_ptr<BIGNUM, Deleter<BN_free>> serial(::BN_new());
  X509_NAME* const subject = ::X509_get_subject_name(certificate);
  constexpr std::array<unsigned char, 6> kName = {"mynah"};
  return serial != nullptr && ::BN_rand(serial.get(), kSerialBits, 0, 0) == 1 &&
         ::BN_to_ASN1_INTEGER(serial.get(), ::X509_get_serialNumber(certificate)) != nullptr &&
         ::X509_set_version(certificate, kVersion3) == 1 &&
         ::X509_gmtime_adj(::X509_getm_notBefore(certificate), -kDay_s) != nullptr &&
         ::X509_gmtime_adj(::X509_getm_notAfter(certificate), (kDays - 1) * kDay_s) != nullptr &&
         ::X509_set_pubkey(certificate, key) == 1 &&
         ::X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, kName.data(), -1, -1, 0) == 1 &&
         ::X509_set_issuer_name(certificate, subject) == 1 &&
         add(certificate, NID_basic_constraints, "critical,CA:FALSE") &&
         add(certificate, NID_key_usage, "critical,digitalSignature") &&
         add(certificate, NID_ext_key_usage, "serverAuth") &&
         add(certificate, NID_subject_alt_name, alternative_names(names)) &&
         ::X509_sign(certificate, key, ::EVP_sha256()) > 0;
}

std::string text_of(BIO* bytes) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bytes, &data);
  return {data, static_cast<size_t>(size)};
}

Result<Certificate> read_certificate(const std::string& file) {
  MYNAH_TRY(const std::string text, read_text_file(file));
  const Bytes bytes(::BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  Certificate certificate(::PEM_read_bio_X509(bytes.get(), nullptr, nullptr, nullptr));
  if (!certificate) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted a certificate as PEM, found none", file));
  }
  return certificate;
}

}  // namespace

Status make_certificate(const TlsFiles& files, std::span<const std::string> names) {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate(::X509_new());
  const Bytes key_text(::BIO_new(::BIO_s_mem()));
  const Bytes certificate_text(::BIO_new(::BIO_s_mem()));
  if (!key || !certificate || !key_text || !certificate_text ||
      !fill(certificate.get(), key.get(), names) ||
      ::PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                 nullptr) != 1 ||
      ::PEM_write_bio_X509(certificate_text.get(), certificate.get()) != 1) {
    return refused("making a certificate");
  }
  for (const std::string& path : {files.key, files.certificate}) {
    MYNAH_TRY_STATUS(make_folders(std::filesystem::path(path).parent_path().string()));
  }
  MYNAH_TRY(AtomicFile key_file, AtomicFile::create_private(files.key));
  MYNAH_TRY_STATUS(key_file.write(text_of(key_text.get())));
  MYNAH_TRY_STATUS(key_file.commit());
  return write_text_file(files.certificate, text_of(certificate_text.get()));
}

Result<bool> is_good_for(const std::string& certificate_file, std::chrono::seconds time) {
  std::error_code error;
  if (!std::filesystem::exists(certificate_file, error)) {
    return false;
  }
  MYNAH_TRY(const Certificate certificate, read_certificate(certificate_file));
  time_t then = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now() + time);
  return ::X509_cmp_time(::X509_get0_notAfter(certificate.get()), &then) > 0;
}

Result<std::string> fingerprint_of(const std::string& certificate_file) {
  MYNAH_TRY(const Certificate certificate, read_certificate(certificate_file));
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (::X509_digest(certificate.get(), ::EVP_sha256(), digest.data(), &size) != 1) {
    return refused(certificate_file);
  }
  return fmt::format("{:02X}", fmt::join(std::span(digest).first(size), ":"));
}

}  // namespace mynah::server
