#include "text/phonemes/data_file.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <zlib.h>

#include "base/mapped_file.h"

namespace mynah {
namespace {

constexpr int kGzipOnly = 16 + MAX_WBITS;  // zlib.h, inflateInit2
constexpr size_t kLeastGzip = 18;          // RFC 1952: a header of ten bytes and a trailer of eight

bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1F} && bytes[1] == std::byte{0x8B};
}

std::unexpected<Error> too_large(const std::string& path) {
  return fail(ErrorCode::InvalidInput, fmt::format("{}: wanted at most {} MiB of data, found more",
                                                   path, kMaxDataFileBytes >> 20));
}

std::unexpected<Error> damaged(const std::string& path, const char* reason) {
  return fail(ErrorCode::InvalidInput,
              fmt::format("{}: wanted a gzip file, found {}: the file is damaged", path, reason));
}

Result<std::string> unpack(std::span<const std::byte> packed, const std::string& path) {
  if (packed.size() < kLeastGzip) {
    return damaged(path, "fewer bytes than an empty one has");
  }
  // The last four bytes are the size, modulo 2^32; one more shows what is larger than it says.
  uint32_t size = 0;
  std::memcpy(&size, packed.last(sizeof(size)).data(), sizeof(size));
  if (size > kMaxDataFileBytes || packed.size() > kMaxDataFileBytes) {
    return too_large(path);
  }
  std::string text(size_t{size} + 1, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) {
    return fail(ErrorCode::OutOfMemory, fmt::format("{}: no memory to unpack it", path));
  }
  // zlib reads through a pointer that is not const.
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  const int status = inflate(&stream, Z_FINISH);
  const size_t made = stream.total_out;
  inflateEnd(&stream);
  if (status != Z_STREAM_END || made != size) {
    return damaged(path, status == Z_STREAM_END || status == Z_BUF_ERROR
                             ? "another size than it names, or its end missing"
                             : "what does not unpack");
  }
  text.resize(made);
  return text;
}

}  // namespace

Result<std::string> read_data_file(const std::string& path) {
  MYNAH_TRY(const auto file, MappedFile::open(path));
  const std::span<const std::byte> bytes = file->bytes();
  if (is_gzip(bytes)) {
    return unpack(bytes, path);
  }
  if (bytes.size() > kMaxDataFileBytes) {
    return too_large(path);
  }
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace mynah
