// A packed cache that another program or a failing disk has written into. The digest of header and
// table is made right first: what lies behind it would hardly be reached otherwise.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "base/check.h"
#include "store/packed_cache.h"
#include "store/sha256.h"
#include "temporary_folder.h"

namespace mynah {
namespace {

// Layout of the header (store/packed_cache.h): the table's place, the key, the digest.
constexpr size_t kTableOffsetAt = 16;
constexpr size_t kTableBytesAt = 24;
constexpr size_t kKeyAt = 32;
constexpr size_t kDigestAt = 96;
constexpr size_t kHeaderBytes = 160;

class Cache {
 public:
  Cache() {
    auto cache = open();
    MYNAH_CHECK(cache->add("a", {}).has_value() && cache->commit().has_value(), "cannot write");
    path_ = cache->path();
    key_ = test::read_file(path_).substr(kKeyAt, kDigestAt - kKeyAt);
  }

  std::unique_ptr<PackedCache> open() const {
    auto cache = PackedCache::open(
        folder_.path(), {.model_digest = std::string(64, 'a'), .storage = "F32", .layout = "ref"});
    MYNAH_CHECK(cache.has_value(), "cannot open");
    return std::move(*cache);
  }

  void write(std::string bytes) const {
    if (bytes.size() >= kHeaderBytes) {
      bytes.replace(kKeyAt, key_.size(), key_);
      uint64_t offset = 0;
      uint64_t count = 0;
      std::memcpy(&offset, bytes.data() + kTableOffsetAt, sizeof offset);
      std::memcpy(&count, bytes.data() + kTableBytesAt, sizeof count);
      if (offset <= bytes.size() && count <= bytes.size() - offset) {
        const std::string covered = bytes.substr(0, kDigestAt) + bytes.substr(offset, count);
        bytes.replace(kDigestAt, kHeaderBytes - kDigestAt,
                      sha256_hex(std::as_bytes(std::span(covered))));
      }
    }
    test::write_file(path_, bytes);
  }

 private:
  test::TemporaryFolder folder_;
  std::string path_;
  std::string key_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Cache cache;
  cache.write(std::string(reinterpret_cast<const char*>(data), size));
  const auto opened = cache.open();
  for (const char* name : {"a", "b", "encoder", ""}) {
    if (const auto blob = opened->find(name)) {
      size_t sum = 0;
      for (const std::byte byte : blob->bytes) {
        sum += static_cast<size_t>(byte);
      }
      MYNAH_CHECK(sum <= 255 * size && blob->bytes.size() <= size, "a blob lies outside its file");
    }
  }
  return 0;
}

}  // namespace mynah
