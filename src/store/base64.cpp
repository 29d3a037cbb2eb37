#include "store/base64.h"

#include <algorithm>

#include <openssl/evp.h>

#include "base/ascii.h"

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
  const size_t letters = std::min(text.find('='), text.size());
  const size_t padding = text.size() - letters;
  // OpenSSL passes over blanks and more.
  const bool good = std::ranges::all_of(text.substr(0, letters), [](char c) {
    return is_ascii_alnum(static_cast<unsigned char>(c)) || c == '+' || c == '/';
  });
  if (!good || text.size() % 4 != 0 || padding > 2 ||
      text.substr(letters) != std::string_view("==").substr(0, padding)) {
    return fail(ErrorCode::InvalidInput, "wanted base64, found other text");
  }
  std::string bytes(3 * (text.size() / 4), '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  if (size < 0) {
    return fail(ErrorCode::InvalidInput, "wanted base64, found other text");
  }
  // OpenSSL counts a byte for each sign of padding.
  bytes.resize(static_cast<size_t>(size) - padding);
  return bytes;
}

}  // namespace mynah
