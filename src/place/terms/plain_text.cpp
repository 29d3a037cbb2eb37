#include "place/terms/plain_text.h"

namespace mynah::place {
namespace {

// Whether a byte, and the one before it, steer a terminal.
bool steers(unsigned char before, unsigned char byte) {
  return byte < 0x20 || byte == 0x7F || (before == 0xC2 && byte >= 0x80 && byte < 0xA0);
}

}  // namespace

bool is_plain(std::string_view text, size_t most) {
  unsigned char before = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (steers(before, byte)) {
      return false;
    }
    before = byte;
  }
  return text.size() <= most;
}

std::string made_plain(std::string_view text, size_t most) {
  std::string plain(text.substr(0, most));
  if (plain.size() < text.size()) {
    while (!plain.empty() && (static_cast<unsigned char>(text[plain.size()]) & 0xC0U) == 0x80U) {
      plain.pop_back();
    }
  }
  for (size_t i = 0; i < plain.size(); ++i) {
    const auto before = static_cast<unsigned char>(i > 0 ? plain[i - 1] : 0);
    const auto byte = static_cast<unsigned char>(plain[i]);
    if (steers(before, byte)) {
      plain[i] = ' ';
      plain[byte >= 0x80 ? i - 1 : i] = ' ';  // both bytes of C1
    }
  }
  return plain;
}

}  // namespace mynah::place
