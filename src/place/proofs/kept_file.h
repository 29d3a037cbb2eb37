// Files that mynah keeps in its cache for later runs of itself (proofs, references): values in the
// form of place/wire/wire.h behind a checksum, since a file that was half written or changed by
// a disk must be found to be none.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/atomic_file.h"
#include "base/mapped_file.h"
#include "place/wire/wire.h"
#include "store/sha256.h"

namespace mynah::place {

// SHA-256 of what follows it, in hexadecimal: a multiple of kWireAlignment.
inline constexpr size_t kKeptChecksum = 64;
static_assert(kKeptChecksum % kWireAlignment == 0);

// The bytes of a file: `kind` names what it is and its version, `key` what it is of.
template <class... T>
[[nodiscard]] std::vector<std::byte> kept_bytes(std::string_view kind, const std::string& key,
                                                const T&... values) {
  WireWriter body;
  body(std::string(kind), key, values...);
  const std::string checksum = sha256_hex(body.bytes());
  const auto head = std::as_bytes(std::span(checksum));
  std::vector<std::byte> bytes(head.begin(), head.end());
  bytes.insert(bytes.end(), body.bytes().begin(), body.bytes().end());
  return bytes;
}

// Reads what kept_bytes() made of the same kind and key; false for any other bytes, and the values
// then mean nothing. The bytes are aligned to kWireAlignment.
template <class... T>
[[nodiscard]] bool read_kept(std::span<const std::byte> bytes, std::string_view kind,
                             const std::string& key, T&... values) {
  if (bytes.size() < kKeptChecksum) {
    return false;
  }
  const auto head = bytes.first(kKeptChecksum);
  const auto body = bytes.subspan(kKeptChecksum);
  const std::string checksum = sha256_hex(body);
  std::string found_kind;
  std::string found_key;
  return std::string_view(reinterpret_cast<const char*>(head.data()), head.size()) == checksum &&
         read_wire(body, found_kind, found_key, values...) && found_kind == kind &&
         found_key == key;
}

// The same of a file; false where there is none.
template <class... T>
[[nodiscard]] bool read_kept_file(const std::string& file, std::string_view kind,
                                  const std::string& key, T&... values) {
  const auto mapped = MappedFile::open(file);
  return mapped && read_kept((*mapped)->bytes(), kind, key, values...);
}

// Replaces the file, whole or not at all, and makes its folder. What cannot be kept is computed
// anew the next time: that costs time, nothing else.
template <class... T>
void write_kept_file(const std::string& file, std::string_view kind, const std::string& key,
                     const T&... values) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), error);
  const std::vector<std::byte> bytes = kept_bytes(kind, key, values...);
  if (auto out = AtomicFile::create(file); out && out->write(bytes)) {
    static_cast<void>(out->commit());
  }
}

}  // namespace mynah::place
