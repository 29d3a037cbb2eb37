// Keys: who may ask, what for and how much, as they are kept in a file: hashed, so that whoever
// reads it has none.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/http/rights.h"

namespace mynah::server {

// How much a key may ask for; 0: as much as it likes.
struct KeyLimits {
  double requests = 0;   // a minute
  double audio_s = 0;    // seconds of audio a minute, heard and spoken
  uint32_t at_once = 0;  // requests under way

  friend bool operator==(const KeyLimits& a, const KeyLimits& b) = default;
};

struct Key {
  std::string name;    // whose it is: "kitchen"
  std::string digest;  // SHA-256 of the key
  Rights rights = kUsualRights;
  KeyLimits limits;
  std::string made;  // when: "2026-11-29"
};

using RandomBytes = std::array<std::byte, 32>;

// By the system's random numbers. Environment where it has none.
[[nodiscard]] Result<RandomBytes> random_bytes();

// 32 letters and digits by the system's random numbers, which are 160 bits. Environment where it
// has none.
[[nodiscard]] Result<std::string> random_letters();

// "mynah-" and random letters.
[[nodiscard]] Result<std::string> new_key();

// SHA-256: a key of ours is random, so that no salt and no slow hash would make it harder to guess.
[[nodiscard]] std::string digest_of_key(std::string_view key);

// "hear,speak". InvalidInput names what is no right.
Result<Rights> parse_rights(std::span<const std::string> names);
[[nodiscard]] std::vector<std::string> names_of(Rights rights);

// A name is one to 64 letters, digits, "-", "_" and "." that begin with none of the last three.
Status check_key_name(std::string_view name);

// The file's text, JSON. InvalidInput where it is none, a key has no name or no digest of 64
// hexadecimal digits, or two have the same name.
Result<std::vector<Key>> parse_keys(std::string_view text);
[[nodiscard]] std::string keys_text(std::span<const Key> keys);

// The file's keys. NotFound where there is none, Io where it cannot be read.
Result<std::vector<Key>> read_keys(const std::string& path);
// The same, none where there is no file.
Result<std::vector<Key>> kept_keys(const std::string& path);
// Writes it whole or not at all, for its owner's eyes; makes its folder.
Status write_keys(const std::string& path, std::span<const Key> keys);

// Adds a key to the file, and returns it: nobody can read it again. Usage where there is one of
// that name; what check_key_name(), read_keys(), write_keys() and new_key() refuse; Busy while
// another process changes the file.
Result<std::string> add_key(const std::string& path, Key key);
// Takes keys away by their names. NotFound where one is not there: then all stay.
Status remove_keys(const std::string& path, std::span<const std::string> names);

}  // namespace mynah::server
