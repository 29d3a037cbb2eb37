#include "formats/zip.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <zlib.h>

#include "base/atomic_file.h"
#include "formats/byte_reader.h"
#include "formats/zip_directory.h"

namespace mynah {
namespace {

// Deflate's best case: a 258-byte copy of two bits.
constexpr uint64_t kMaxDeflateRatio = 1032;

constexpr size_t kPieceBytes = size_t{1} << 16U;

// zlib's inflate for one raw deflate stream.
class Inflater {
 public:
  Inflater() : ready_(inflateInit2(&stream_, -MAX_WBITS) == Z_OK) {}

  ~Inflater() {
    if (ready_) {
      inflateEnd(&stream_);
    }
  }

  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  [[nodiscard]] bool ready() const { return ready_; }

  [[nodiscard]] bool at_end() const { return at_end_; }

  // Unpacks into `out` and returns how many bytes came; nothing for a damaged stream. `packed`
  // loses what was used.
  std::optional<size_t> next(std::span<const std::byte>& packed, std::span<std::byte> out) {
    const auto given = static_cast<uInt>(std::min<size_t>(packed.size(), kPieceBytes));
    // zlib does not write through next_in, and says so with ZLIB_CONST only.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
    stream_.avail_in = given;
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int status = inflate(&stream_, Z_NO_FLUSH);
    const size_t used = given - stream_.avail_in;
    const size_t made = out.size() - stream_.avail_out;
    packed = packed.subspan(used);
    at_end_ = status == Z_STREAM_END;
    const bool stuck = used == 0 && made == 0 && !at_end_;
    if ((status != Z_OK && status != Z_STREAM_END) || stuck) {
      return std::nullopt;
    }
    return made;
  }

 private:
  z_stream stream_{};
  bool ready_;
  bool at_end_ = false;
};

uint32_t update_crc(uint32_t crc, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min<size_t>(bytes.size(), size_t{1} << 30U));
    crc = static_cast<uint32_t>(
        ::crc32(crc, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(part.size())));
    bytes = bytes.subspan(part.size());
  }
  return crc;
}

}  // namespace

Result<ZipArchive> ZipArchive::open(std::shared_ptr<const MappedFile> file) {
  ZipArchive archive(std::move(file));
  MYNAH_TRY(archive.members_, read_zip_directory(*archive.file_));
  for (size_t i = 0; i < archive.members_.size(); ++i) {
    const std::string& name = archive.members_[i].name;
    if (!archive.index_.emplace(name, i).second) {
      return fail(ErrorCode::InvalidInput,
                  archive.path() + ": member " + in_quotes(name) + " comes twice");
    }
  }
  return archive;
}

const ZipMember* ZipArchive::find(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  return found == index_.end() ? nullptr : &members_[found->second];
}

Status ZipArchive::stream(const ZipMember& member,
                          FunctionRef<Status(std::span<const std::byte>)> consume) const {
  const auto complain = [&](std::string_view message) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}, member {}: {}; the archive is damaged: fetch it again", path(),
                            in_quotes(member.name), message));
  };
  uint32_t crc = 0;
  const auto pass_on = [&](std::span<const std::byte> piece) {
    crc = update_crc(crc, piece);
    return consume(piece);
  };
  if (member.method == ZipMethod::Stored) {
    for (size_t at = 0; at < member.packed.size(); at += kPieceBytes) {
      const size_t length = std::min(kPieceBytes, member.packed.size() - at);
      MYNAH_TRY_STATUS(pass_on(member.packed.subspan(at, length)));
    }
  } else {
    Inflater inflater;
    if (!inflater.ready()) {
      return fail(ErrorCode::OutOfMemory, "no memory to unpack " + path());
    }
    std::vector<std::byte> out(kPieceBytes);
    std::span<const std::byte> packed = member.packed;
    uint64_t total = 0;
    while (!inflater.at_end()) {
      const auto made = inflater.next(packed, out);
      if (!made || *made > member.bytes - total) {
        return complain(fmt::format("wanted a deflate stream of {} bytes, found {}", member.bytes,
                                    made ? "more" : "a broken one"));
      }
      total += *made;
      MYNAH_TRY_STATUS(pass_on(std::span(out).first(*made)));
    }
    if (total != member.bytes || !packed.empty()) {
      return complain(
          fmt::format("wanted a deflate stream of {} bytes, found {}", member.bytes, total));
    }
  }
  if (member.crc32 != 0 && crc != member.crc32) {
    return complain(fmt::format("wanted CRC-32 {:08x}, found {:08x}", member.crc32, crc));
  }
  return {};
}

Result<ZipBytes> ZipArchive::read(const ZipMember& member) const {
  if (member.method == ZipMethod::Stored) {
    MYNAH_TRY_STATUS(stream(member, [](std::span<const std::byte>) { return Status(); }));
    return ZipBytes{member.packed, file_};
  }
  if (member.bytes > (member.packed.size() + 1) * kMaxDeflateRatio) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}, member {}: {} packed bytes cannot hold the {} it says", path(),
                            in_quotes(member.name), member.packed.size(), member.bytes));
  }
  auto unpacked = std::make_shared<std::vector<std::byte>>();
  unpacked->reserve(member.bytes);
  MYNAH_TRY_STATUS(stream(member, [&](std::span<const std::byte> piece) {
    unpacked->insert(unpacked->end(), piece.begin(), piece.end());
    return Status();
  }));
  const std::span<const std::byte> view(*unpacked);
  return ZipBytes{view, std::move(unpacked)};
}

Status ZipArchive::extract(const ZipMember& member, const std::string& path) const {
  MYNAH_TRY(AtomicFile file, AtomicFile::create(path));
  MYNAH_TRY_STATUS(
      stream(member, [&](std::span<const std::byte> piece) { return file.write(piece); }));
  return file.commit();
}

}  // namespace mynah
