// A certificate that is made for one test.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace mynah::test {

// A self-signed certificate for a name or address, and its key, as PEM files.
inline void write_certificate(const std::string& alternative_name,
                              const std::string& certificate_path, const std::string& key_path) {
  constexpr long kDay_s = 24L * 60 * 60;
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

}  // namespace mynah::test
