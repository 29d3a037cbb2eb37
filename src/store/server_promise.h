// What a server's headers promise about a file: digest, size, version.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/http.h"

namespace mynah {

// What the server says about the file, from the first answer of a chain of redirects.
struct ServerPromise {
  std::string sha256;
  std::string git_blob;
  std::string etag;  // of the answer that carries the bytes; strong or empty
  std::string revision;
  uint64_t size = 0;  // 0: unknown
};

[[nodiscard]] ServerPromise promise_of(const HttpResponse& response);

// "bytes 100-199/200" or "bytes */200".
struct ContentRange {
  std::optional<uint64_t> start;
  std::optional<uint64_t> total;
};

// The value of a Content-Range header; what it does not say is none.
[[nodiscard]] ContentRange parse_content_range(std::string_view text);

// Decimal digits and nothing else.
[[nodiscard]] std::optional<uint64_t> parse_digits(std::string_view text);

// The digest in a pointer of git-lfs (git-lfs docs/spec.md), or empty where it is none.
[[nodiscard]] std::string lfs_pointer_digest(std::string_view text);

}  // namespace mynah
