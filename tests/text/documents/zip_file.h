// Zip archives for tests: stored, and packed where a member is large.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <zlib.h>

namespace mynah::test {

struct ZipEntry {
  std::string name;
  std::string text;
};

inline std::string deflated(const std::string& text) {
  z_stream stream{};
  constexpr int kRaw = -15;
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kRaw, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// PKWARE APPNOTE.TXT 6.3.9: local headers (4.3.7), the directory (4.3.12) and its end (4.3.16).
inline void write_zip(const std::string& path, const std::vector<ZipEntry>& entries) {
  std::string out;
  std::string directory;
  const auto number = [](std::string& to, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      to += static_cast<char>(value >> (8 * i));
    }
  };
  for (const ZipEntry& entry : entries) {
    const bool packed = entry.text.size() > (1U << 16U);
    const std::string bytes = packed ? deflated(entry.text) : entry.text;
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(entry.text.data()),
                           static_cast<uInt>(entry.text.size()));
    const size_t place = out.size();
    const auto facts = [&](std::string& to) {
      number(to, 20, 2);              // version
      number(to, 0, 2);               // flags
      number(to, packed ? 8 : 0, 2);  // method
      number(to, 0, 4);               // time and date
      number(to, crc, 4);
      number(to, bytes.size(), 4);
      number(to, entry.text.size(), 4);
      number(to, entry.name.size(), 2);
      number(to, 0, 2);  // extra
    };
    out += "PK\x03\x04";
    facts(out);
    out += entry.name + bytes;
    directory += "PK\x01\x02";
    number(directory, 20, 2);
    facts(directory);
    number(directory, 0, 2);  // comment
    number(directory, 0, 2);  // disk
    number(directory, 0, 2);  // internal attributes
    number(directory, 0, 4);  // external attributes
    number(directory, place, 4);
    directory += entry.name;
  }
  const size_t begin = out.size();
  out += directory + "PK\x05\x06";
  number(out, 0, 4);
  number(out, entries.size(), 2);
  number(out, entries.size(), 2);
  number(out, directory.size(), 4);
  number(out, begin, 4);
  number(out, 0, 2);
  std::ofstream(path, std::ios::binary).write(out.data(), static_cast<std::streamsize>(out.size()));
}

}  // namespace mynah::test
