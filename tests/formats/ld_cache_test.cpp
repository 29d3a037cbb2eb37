#include "formats/ld_cache.h"

#include <cstdio>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/mapped_file.h"
#include "byte_builder.h"
#include "formats/elf.h"
#include "test_paths.h"

namespace mynah {
namespace {

constexpr uint32_t kX86_64 = 0x0303;

// A cache of two libraries, with the older format in front of it or not.
std::string cache_bytes(bool with_old) {
  test::ByteBuilder cache;
  if (with_old) {
    cache.text("ld.so-1.7.0").zeros(1).u32(1).u32(3).u32(0).u32(0).align(8);
  }
  const std::string names = std::string("libcuda.so.1\0/usr/lib/libcuda.so.1\0", 35) +
                            std::string("libz.so\0/lib/libz.so\0", 21);
  const size_t at = 48 + 2 * 24;
  cache.text("glibc-ld.so.cache1.1").u32(2).u32(names.size()).u8(2).zeros(3).u32(0).zeros(12);
  cache.u32(kX86_64).u32(at).u32(at + 13).u32(0).u64(0);
  cache.u32(3).u32(at + 35).u32(at + 43).u32(0).u64(1ULL << 62);
  return cache.text(names).bytes();
}

Result<std::vector<LdCacheEntry>> read(const std::string& bytes) {
  return read_ld_cache(std::as_bytes(std::span(bytes)), "ld.so.cache");
}

TEST(LdCache, TellsNamesAndPathsWithTheOldFormatInFrontAndWithout) {
  for (const bool with_old : {false, true}) {
    const std::string bytes = cache_bytes(with_old);
    const auto entries = read(bytes);
    ASSERT_TRUE(entries) << entries.error().message;
    ASSERT_EQ(entries->size(), 2);
    EXPECT_EQ((*entries)[0].name, "libcuda.so.1");
    EXPECT_EQ((*entries)[0].path, "/usr/lib/libcuda.so.1");
    EXPECT_TRUE((*entries)[0].is_for(kElfX86_64));
    EXPECT_FALSE((*entries)[0].is_for(kElfX86));
    EXPECT_FALSE((*entries)[0].for_wider);
    EXPECT_EQ((*entries)[1].path, "/lib/libz.so");
    EXPECT_TRUE((*entries)[1].is_for(kElfX86));
    EXPECT_TRUE((*entries)[1].for_wider);
  }
}

TEST(LdCache, CutAnywhereItIsRefused) {
  for (const bool with_old : {false, true}) {
    const std::string bytes = cache_bytes(with_old);
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(read(bytes.substr(0, size))) << size;
    }
  }
}

TEST(LdCache, ACacheOfABigEndianMachineIsRefused) {
  std::string bytes = cache_bytes(false);
  bytes[28] = 3;
  const auto entries = read(bytes);
  ASSERT_FALSE(entries);
  EXPECT_EQ(entries.error().code, ErrorCode::Unsupported);
}

TEST(LdCache, ThisMachinesSaysWhatLdconfigSays) {
  constexpr const char* kPath = "/etc/ld.so.cache";
  MYNAH_SKIP_WITHOUT(kPath);
  FILE* const pipe = ::popen("PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null", "r");
  ASSERT_NE(pipe, nullptr);
  std::multiset<std::string> theirs;
  char line[8192];
  while (std::fgets(line, sizeof(line), pipe) != nullptr) {
    const std::string_view text(line);
    if (const size_t arrow = text.find(" => "); arrow != std::string_view::npos) {
      const size_t begin = text.find_first_not_of(" \t");
      theirs.insert(std::string(text.substr(begin, text.find(' ', begin) - begin)) + " " +
                    std::string(text.substr(arrow + 4, text.size() - arrow - 5)));
    }
  }
  if (::pclose(pipe) != 0) {
    GTEST_SKIP() << "not here: ldconfig";
  }
  const auto file = MappedFile::open(kPath);
  ASSERT_TRUE(file) << file.error().message;
  const auto entries = read_ld_cache((*file)->bytes(), kPath);
  ASSERT_TRUE(entries) << entries.error().message;
  std::multiset<std::string> mine;
  for (const LdCacheEntry& entry : *entries) {
    mine.insert(std::string(entry.name) + " " + std::string(entry.path));
  }
  EXPECT_FALSE(mine.empty());
  EXPECT_EQ(mine, theirs);
}

}  // namespace
}  // namespace mynah
