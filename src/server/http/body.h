// Bodies of requests, taken piece by piece as they come.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "server/http/upload.h"

namespace mynah::server {

// A part of a form that has a file's name.
struct FormFile {
  std::string field;  // the part's name
  std::string name;   // the file's, as the client calls it
  std::string type;   // as the client says; "": it does not
  Upload bytes;
};

// What came with a request.
struct Body {
  std::string text;  // of a body that is no form
  // A form's values in the order in which they came: "language", "timestamp_granularities[]".
  std::vector<std::pair<std::string, std::string>> fields;
  std::vector<FormFile> files;
};

// What a route takes.
enum class Accepts : uint8_t {
  Nothing,  // a body is read and forgotten
  Text,     // JSON, as a rule
  Form      // multipart/form-data, or what of a web page's form has no file
};

// How much.
struct BodyLimits {
  uint64_t most_text = uint64_t{16} << 20;  // bytes of a text, of a form's values together
  uint64_t most_bytes = uint64_t{4} << 30;  // of everything
  std::string spool_folder;                 // where files are kept that are too long for memory
};

// Takes one body. An error ends the request: InvalidInput for what is not what it says to be,
// OutOfMemory where it is more than is taken, Io where it cannot be kept.
class BodyTaker {
 public:
  virtual ~BodyTaker() = default;

  virtual Status take(std::string_view piece) = 0;
  // Everything came.
  virtual Result<Body> finish() = 0;
};

// `type`: the request's Content-Type. Unsupported where a form is wanted and this is none.
Result<std::unique_ptr<BodyTaker>> make_body_taker(Accepts accepts, std::string_view type,
                                                   const BodyLimits& limits);

}  // namespace mynah::server
