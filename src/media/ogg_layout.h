// Where the fields of an Ogg page's header stand: RFC 3533, section 6.
#pragma once

#include <cstddef>
#include <string_view>

namespace mynah::media {

inline constexpr std::string_view kOggCapture = "OggS";
inline constexpr size_t kOggHeaderBytes = 27;  // and a table of up to 255 lengths
inline constexpr size_t kOggFlagsAt = 5;
inline constexpr size_t kOggSegmentsAt = 26;
inline constexpr unsigned kOggBeginsFlag = 2;

}  // namespace mynah::media
