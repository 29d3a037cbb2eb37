// MultipartReader: multipart/form-data (RFC 7578, RFC 2046 section 5.1.1) as its bytes come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mynah::server {

// What a part says of itself.
struct PartHead {
  std::string name;
  bool is_file = false;  // it has a file's name, though that may be empty
  std::string file_name;
  std::string type;
};

// Hears of the parts. An error ends the reading with it.
class PartObserver {
 public:
  virtual ~PartObserver() = default;

  virtual Status on_part(const PartHead& head) = 0;
  // Bytes of the part that began last.
  virtual Status on_bytes(std::string_view bytes) = 0;
};

// The boundary that a Content-Type names. InvalidInput: it is not multipart/form-data, or names
// none that RFC 2046 allows.
Result<std::string> boundary_of(std::string_view content_type);

class MultipartReader {
 public:
  // `observer` must outlive it.
  MultipartReader(const std::string& boundary, PartObserver& observer);

  // InvalidInput for what is no multipart; the observer's errors.
  Status take(std::string_view piece);

  // InvalidInput: it broke off before its end.
  [[nodiscard]] Status finish() const;

 private:
  enum class State : uint8_t { Preamble, BehindBoundary, Head, Bytes, Done };

  // Whether what was looked for in what is kept, `size` bytes, stands behind more than may be
  // before it. `found`: where; npos: not yet.
  [[nodiscard]] bool begins_too_late(size_t found, size_t size) const;
  // Takes one step with what is kept; false: it wants more.
  Result<bool> step();
  Result<bool> skip_preamble();
  Result<bool> end_boundary();
  Result<bool> read_head();
  Result<bool> read_bytes();

  std::string delimiter_;  // "\r\n--boundary"
  PartObserver& observer_;
  State state_ = State::Preamble;
  std::string kept_;
  size_t parts_ = 0;
};

}  // namespace mynah::server
