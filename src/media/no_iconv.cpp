// FFmpeg converts the titles of some containers (MPEG-TS, ID3) with iconv, which opens its tables
// as files when it is first asked: confine() would end the process for a title that nobody reads.
// This program's own iconv_open stands before the system's and knows no conversion; FFmpeg then
// leaves the text as it is.
#include <cerrno>

#include <iconv.h>

extern "C" iconv_t iconv_open(const char* /*to*/, const char* /*from*/) {
  errno = EINVAL;
  return reinterpret_cast<iconv_t>(-1);  // NOLINT(performance-no-int-to-ptr): iconv's own error
}
