#include "store/base64.h"

#include <openssl/evp.h>

namespace mynah {

std::string base64(std::span<const std::byte> bytes) {
  // With the zero byte that OpenSSL writes behind it.
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

}  // namespace mynah
