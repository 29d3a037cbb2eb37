// SHA-256 of bytes as they pass, and of files.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mynah {

// A digest over pieces. Sha1 serves only to check git's blob names, which a model hub gives as the
// ETag of small files.
class Digest {
 public:
  enum class Kind : uint8_t { Sha256, Sha1 };

  explicit Digest(Kind kind = Kind::Sha256);
  ~Digest();
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text);

  // Lower-case hexadecimal. Ends the digest.
  [[nodiscard]] std::string hex();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// SHA-256 of bytes in memory, lower-case hexadecimal.
[[nodiscard]] std::string sha256_hex(std::span<const std::byte> bytes);

// HMAC-SHA-256 (RFC 2104): whoever knows the key can tell who wrote the text.
[[nodiscard]] std::array<std::byte, 32> hmac_sha256(std::string_view key, std::string_view text);

// SHA-256 of a file, read in pieces. ErrorCode::Cancelled once stop is requested.
Result<std::string> sha256_of_file(const std::string& path, const std::stop_token& stop = {});

// True for 64 lower-case hexadecimal digits.
[[nodiscard]] bool is_sha256(std::string_view text);

// What stands for a model in the key of its caches: the SHA-256 of the file, or for a folder the
// SHA-256 over the names and SHA-256s of the files directly inside it. A file's digest is kept in
// `cache_folder` with its size, time and inode, so that it is read whole only once; an empty folder
// name keeps nothing.
Result<std::string> model_digest(const std::string& path, const std::string& cache_folder);

}  // namespace mynah
