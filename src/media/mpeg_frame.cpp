#include "media/mpeg_frame.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace mynah::media {

std::optional<size_t> mpeg_frame_bytes(std::span<const uint8_t> bytes) {
  constexpr std::array<int, 4> kRates_hz = {44100, 48000, 32000, 0};
  constexpr std::array<std::array<int, 15>, 5> kRates_kbps = {{
      {0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},  // 1, layer I
      {0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},     // 1, layer II
      {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},      // 1, layer III
      {0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},     // 2, layer I
      {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},          // 2, II and III
  }};
  if (bytes.size() < 4 || bytes[0] != 0xFF || (bytes[1] & 0xE0U) != 0xE0U) {
    return std::nullopt;
  }
  const unsigned version = bytes[1] >> 3U & 3U;      // 3: MPEG 1, 2: MPEG 2, 0: MPEG 2.5
  const unsigned layer = 4 - (bytes[1] >> 1U & 3U);  // 4 is reserved
  const unsigned rate = bytes[2] >> 4U;              // 0: open, 15: forbidden
  const int rate_hz = kRates_hz[bytes[2] >> 2U & 3U] >> (version == 3 ? 0 : version == 2 ? 1 : 2);
  if (version == 1 || layer == 4 || rate == 15 || rate_hz == 0) {
    return std::nullopt;
  }
  const size_t row = version == 3 ? layer - 1 : layer == 1 ? 3 : 4;
  const int rate_bps = kRates_kbps[row][rate] * 1000;
  const int padding = bytes[2] >> 1U & 1;
  if (rate_bps == 0) {
    return 0;
  }
  if (layer == 1) {
    return static_cast<size_t>(12 * rate_bps / rate_hz + padding) * 4;
  }
  const int samples = layer == 3 && version != 3 ? 576 : 1152;
  return static_cast<size_t>(samples / 8 * rate_bps / rate_hz + padding);
}

bool is_tag(std::span<const uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.starts_with("ID3") || text.starts_with("TAG") || text.starts_with("APETAGEX") ||
         std::ranges::all_of(bytes, [](uint8_t byte) { return byte == 0; });
}

}  // namespace mynah::media
