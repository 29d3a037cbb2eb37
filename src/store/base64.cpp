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

Result<std::string> bytes_of_base64(std::string_view text) {
  std::string bytes(3 * ((text.size() + 3) / 4), '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  if (size < 0 || text.size() % 4 != 0) {
    return fail(ErrorCode::InvalidInput, "wanted base64, found other text");
  }
  // OpenSSL counts a byte for each sign of padding.
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  bytes.resize(static_cast<size_t>(size) - padding);
  return bytes;
}

}  // namespace mynah
