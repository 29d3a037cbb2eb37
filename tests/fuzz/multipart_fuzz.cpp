// Any bytes as a form: however they come in pieces, the parts are the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "server/http/multipart.h"

namespace {

using namespace mynah;          // NOLINT(google-build-using-namespace): a program of its own
using namespace mynah::server;  // NOLINT(google-build-using-namespace)

class Parts final : public PartObserver {
 public:
  Status on_part(const PartHead& head) override {
    told_ += "\n" + head.name + (head.is_file ? " file " : " value ") + head.file_name + " " +
             head.type + "\n";
    return {};
  }

  Status on_bytes(std::string_view bytes) override {
    told_ += bytes;
    return {};
  }

  std::string told_;
  bool good_ = true;
};

Parts read(std::string_view bytes, size_t piece) {
  Parts parts;
  MultipartReader reader("b", parts);
  for (size_t at = 0; at < bytes.size() && parts.good_; at += piece) {
    parts.good_ = reader.take(bytes.substr(at, piece)).has_value();
  }
  parts.good_ = parts.good_ && reader.finish().has_value();
  return parts;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Parts whole = read(bytes, size + 1);
  for (const size_t piece : {size_t{1}, size_t{7}}) {
    const Parts pieces = read(bytes, piece);
    MYNAH_CHECK(pieces.good_ == whole.good_, "pieces are as good as the whole");
    MYNAH_CHECK(!whole.good_ || pieces.told_ == whole.told_, "and say the same");
  }
  // The first line as what names a boundary.
  if (const auto boundary = boundary_of(bytes.substr(0, bytes.find('\n')))) {
    MYNAH_CHECK(!boundary->empty() && boundary->size() <= 70, "a boundary has 1 to 70 bytes");
  }
  return 0;
}
