#include "media/open_error.h"

#include <cerrno>
#include <cstddef>
#include <span>

#include <fmt/format.h>

extern "C" {
#include <libavutil/error.h>
}

#include "audio/joined.h"

namespace mynah::media {

std::string explain_unopened(ByteInput& input, int error) {
  int64_t samples_bytes = 0;
  const auto read_at = [&input](int64_t offset, std::span<std::byte> out) {
    return input.read_at(offset, out);
  };
  if (input.seekable() && lacks_index(read_at, input.size_bytes(), samples_bytes)) {
    return fmt::format(
        "is cut off: wanted an MP4 with its table of what is where (moov, which is written last), "
        "found {} KB of samples and no table: copy or download the whole file, or have it rebuilt "
        "with another recording of the same device (untrunc does that)",
        (samples_bytes + 512) / 1024);
  }
  if (error == AVERROR_INVALIDDATA || error == AVERROR_EOF || error == AVERROR(EINVAL)) {
    return "is not a recording that mynah can read (no known audio or video format), or cut off "
           "before its header ends; samples without a header want --raw";
  }
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(error, text, sizeof text);
  return std::string("cannot be opened: ") + text;
}

}  // namespace mynah::media
