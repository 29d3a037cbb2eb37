#include "formats/fatbin.h"

#include <chrono>
#include <span>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tiny_elf.h"
#include "tiny_fatbin.h"
#include "tiny_pe.h"

namespace mynah {
namespace {

// Views into the file live as long as this.
struct Found {
  std::shared_ptr<const MappedFile> file;
  std::vector<Fatbin> fatbins;

  [[nodiscard]] size_t size() const { return fatbins.size(); }

  const Fatbin& operator[](size_t index) const { return fatbins[index]; }
};

Found fatbins_of(const std::string& bytes) {
  Found found;
  found.file = MappedFile::from_bytes(std::as_bytes(std::span(bytes)), "tiny.so");
  auto fatbins = read_fatbins(found.file);
  EXPECT_TRUE(fatbins) << fatbins.error().message;
  found.fatbins = std::move(fatbins).value_or(std::vector<Fatbin>());
  return found;
}

std::string two_fatbins() {
  return test::fatbin_bytes({{.architecture = 75},
                             {.kind = 1,
                              .architecture = 90,
                              .flags = 0x8011,
                              .ptx_major = 8,
                              .ptx_minor = 7,
                              .payload = "text"}}) +
         test::fatbin_bytes({{.architecture = 90, .flags = 0x102011}});
}

TEST(Fatbin, AllImagesOfTheContainersAreFound) {
  test::TinyElf elf;
  elf.sections = {{".nv_fatbin", two_fatbins()},
                  {"__nv_relfatbin", test::fatbin_bytes({{.kind = 8, .architecture = 100}})},
                  {".nvFatBinSegment", std::string(3 * 24, 's')}};
  const std::string bytes = test::elf_bytes(elf);
  const auto fatbins = fatbins_of(bytes);
  ASSERT_EQ(fatbins.size(), 3);
  EXPECT_EQ(fatbins[0].section, ".nv_fatbin");
  ASSERT_EQ(fatbins[0].entries.size(), 2);
  EXPECT_EQ(fatbins[0].entries[0].kind, FatbinKind::Cubin);
  EXPECT_EQ(fatbins[0].entries[0].architecture, 75);
  EXPECT_EQ(fatbins[0].entries[0].compression, FatbinCompression::None);
  EXPECT_EQ(fatbins[0].entries[1].kind, FatbinKind::Ptx);
  EXPECT_EQ(fatbins[0].entries[1].ptx_major, 8);
  EXPECT_EQ(fatbins[0].entries[1].ptx_minor, 7);
  EXPECT_EQ(fatbins[0].entries[1].compression, FatbinCompression::Zstd);
  EXPECT_EQ(fatbins[0].entries[1].payload.size(), 4);
  EXPECT_EQ(fatbins[0].entries[1].unpacked_bytes, 1000);
  EXPECT_EQ(fatbins[1].entries[0].variant, 'a');
  EXPECT_EQ(fatbins[1].entries[0].compression, FatbinCompression::Lz4);
  EXPECT_EQ(fatbins[2].section, "__nv_relfatbin");
  EXPECT_EQ(fatbins[2].entries[0].kind, FatbinKind::LtoIr);
  const auto declared =
      count_declared_fatbins(MappedFile::from_bytes(std::as_bytes(std::span(bytes)), "tiny.so"));
  EXPECT_EQ(declared.value_or(0), 3);
}

TEST(Fatbin, ThoseOutsideOfTheContainersAreFoundToo) {
  test::TinyElf elf;
  elf.sections = {{".nv_fatbin", test::fatbin_bytes({{.architecture = 80}})},
                  {".rodata", std::string(5000, 'x') + test::fatbin_bytes({{.architecture = 86}})},
                  {".ldata", std::string(9000, 'x') + two_fatbins() + "behind"}};
  // What is behind a text of 5000 bytes stands at a multiple of 8.
  EXPECT_EQ(fatbins_of(test::elf_bytes(elf)).size(), 4);
  elf.stripped = true;
  EXPECT_EQ(fatbins_of(test::elf_bytes(elf)).size(), 4);
}

TEST(Fatbin, ALibraryWithoutDeviceCodeIsNotSearched) {
  test::TinyElf elf;
  elf.sections = {{".rodata", two_fatbins()}};
  EXPECT_EQ(fatbins_of(test::elf_bytes(elf)).size(), 0);
}

TEST(Fatbin, AMagicByChanceIsPassedBy) {
  test::TinyElf elf;
  std::string chance = two_fatbins().substr(0, 16) + "nothing of the kind stands here.";
  elf.sections = {{".nv_fatbin", chance + two_fatbins()}};
  EXPECT_EQ(fatbins_of(test::elf_bytes(elf)).size(), 2);
}

TEST(Fatbin, OneThatIsCutShortGivesWhatIsWhole) {
  const std::string whole = two_fatbins();
  for (size_t size = 0; size < whole.size(); ++size) {
    test::TinyElf elf;
    elf.sections = {{".nv_fatbin", whole.substr(0, size)}};
    EXPECT_LE(fatbins_of(test::elf_bytes(elf)).size(), 1) << size;
  }
}

TEST(Fatbin, DllsAreReadThroughTheirSections) {
  test::TinyPe pe;
  pe.sections = {{".nv_fatbin", two_fatbins()}};
  const auto fatbins = fatbins_of(test::pe_bytes(pe));
  ASSERT_EQ(fatbins.size(), 2);
  EXPECT_EQ(fatbins[1].entries[0].architecture, 90);
}

TEST(Fatbin, OtherFilesAreSearchedAtEveryByte) {
  EXPECT_EQ(fatbins_of("!<arch>\n123" + two_fatbins() + "1" + two_fatbins()).size(), 4);
}

// Each of many headers claims all that follows: what is understood is passed by, so that the time
// grows with the file and not with its square.
TEST(Fatbin, HeadersInsideOfOneAnotherTakeNoTime) {
  test::ByteBuilder hostile;
  constexpr size_t kEntries = 200'000;
  for (size_t i = 0; i < kEntries; ++i) {
    hostile.u16(2).u16(0x0101).u32(64).u64(0);
    hostile.u32(0xBA55ED50).u16(1).u16(16).u64((kEntries - i) * 64 - 32).zeros(32);
  }
  test::TinyElf elf;
  elf.sections = {{".nv_fatbin", hostile.bytes()}};
  const auto start = std::chrono::steady_clock::now();
  EXPECT_LE(fatbins_of(test::elf_bytes(elf)).size(), kEntries);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace mynah
