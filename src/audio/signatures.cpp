#include "audio/signatures.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace mynah {
namespace {

using std::string_view_literals::operator""sv;

// The bytes from a place on, up to so many.
std::string_view part_of(std::string_view text, size_t at, size_t most) {
  return at <= text.size() ? text.substr(at, most) : std::string_view();
}

// ISO/IEC 14496-12, 4.3: a box of a size like 24, "ftyp", and a brand such as "isom" or "qt  ".
bool begins_with_ftyp(std::string_view text) {
  constexpr unsigned char kMostBytes = 252;
  const std::string_view size = part_of(text, 0, 4);
  return size.size() == 4 && size.starts_with("\0\0\0"sv) && size[3] % 4 == 0 &&
         static_cast<unsigned char>(size[3]) >= 16 &&
         static_cast<unsigned char>(size[3]) <= kMostBytes && is_chunk_name(part_of(text, 8, 4));
}

// RIFF, RF64 or BW64, a size, "WAVE", and the name of a chunk.
bool begins_with_wave(std::string_view text) {
  return (text.starts_with("RIFF") || text.starts_with("RF64") || text.starts_with("BW64")) &&
         is_chunk_name(part_of(text, 12, 4));
}

bool begins_with_aiff(std::string_view text) {
  const std::string_view form = part_of(text, 8, 8);
  return text.starts_with("FORM") && form.size() == 8 && (form[3] == 'F' || form[3] == 'C') &&
         is_chunk_name(form.substr(4));
}

bool begins_with_avi(std::string_view text) {
  return text.starts_with("RIFF");
}

// RFC 8794, 11: the document's type is told in the header, a few bytes behind its beginning.
bool begins_with_matroska(std::string_view text) {
  const std::string_view header = part_of(text, 0, kSignatureBytes);
  return header.contains("matroska") || header.contains("webm");
}

// ID3v2.2 to 2.4: flags, a size whose bytes have seven bits, and the name of a frame.
bool begins_with_id3(std::string_view text) {
  const std::string_view header = part_of(text, 3, 11);
  const auto is_small = [](char byte) { return static_cast<unsigned char>(byte) < 0x80; };
  const auto is_frame = [](char c) { return is_ascii_upper(c) || is_ascii_digit(c); };
  return header.size() == 11 && header[0] >= 2 && header[0] <= 4 && header[1] == 0 &&
         (header[2] & 0x0F) == 0 && std::ranges::all_of(header.substr(3, 4), is_small) &&
         std::ranges::all_of(header.substr(7, 3), is_frame);
}

bool begins(std::string_view /*text*/) {
  return true;
}

// What recordings begin with, long enough not to be found in another one's samples by chance.
struct Signature {
  std::string_view bytes;
  size_t at;                           // where in the recording they stand
  bool (*confirms)(std::string_view);  // asked of the recording's beginning
};

constexpr std::array<Signature, 15> kSignatures = {{
    {kFlacBegin, 0, begins},
    {kLastFlacBegin, 0, begins},
    {"WAVE", 8, begins_with_wave},
    {"AIF", 8, begins_with_aiff},
    {"AVI LIST", 8, begins_with_avi},
    {"ftyp", 4, begins_with_ftyp},
    {"OggS\0\2\0\0\0\0\0\0\0\0"sv, 0, begins},  // the first page, at time 0 (RFC 3533, 6)
    {kMatroskaBegin, 0, begins_with_matroska},
    {kAsfBegin, 0, begins},
    {"caff\0\1\0\0desc"sv, 0, begins},
    {".snd\0\0\0"sv, 0, begins},
    {"FLV\1\5\0\0\0\x09"sv, 0, begins},
    {"FLV\1\4\0\0\0\x09"sv, 0, begins},
    {"Creative Voice File\x1A"sv, 0, begins},
    {"ID3", 0, begins_with_id3},
}};

}  // namespace

bool is_chunk_name(std::string_view name) {
  return name.size() == 4 &&
         std::ranges::all_of(name, [](char letter) { return letter >= ' ' && letter <= '~'; });
}

size_t find_signature(std::string_view text, bool mpeg) {
  size_t found = std::string_view::npos;
  for (const Signature& signature : kSignatures) {
    if (mpeg && signature.bytes == "ID3") {
      continue;
    }
    for (size_t at = text.find(signature.bytes); at < found;
         at = text.find(signature.bytes, at + 1)) {
      if (at >= signature.at && at - signature.at < found &&
          signature.confirms(text.substr(at - signature.at))) {
        found = at - signature.at;
      }
    }
  }
  return found;
}

}  // namespace mynah
