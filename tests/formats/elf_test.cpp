#include "formats/elf.h"

#include <span>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tiny_elf.h"

namespace mynah {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::shared_ptr<const MappedFile> in_memory(const std::string& bytes) {
  return MappedFile::from_bytes(std::as_bytes(std::span(bytes)), "tiny.so");
}

test::TinyElf everything() {
  test::TinyElf elf;
  elf.needed = {"libcublas.so.12", "libc.so.6"};
  elf.rpath = "$ORIGIN/../nvidia/cublas/lib";
  elf.runpath = "/home/builder/lib:";
  elf.soname = "libtiny.so.1";
  elf.interpreter = "/lib64/ld-linux-x86-64.so.2";
  elf.version_needs = {{"libc.so.6", {"GLIBC_2.14", "GLIBC_2.34"}},
                       {"libcublas.so.12", {"libcublas.so.12"}}};
  elf.version_definitions = {"TINY_1", "TINY_2"};
  elf.symbols = {
      {"malloc", false, "GLIBC_2.14"}, {"tiny", true, "TINY_2"}, {"maybe", false, "", true}};
  elf.sections = {{".rodata", "text"}, {".nv_fatbin", "code"}};
  return elf;
}

TEST(ElfFile, TellsWhatTheLoaderGoesBy) {
  for (const int bits : {64, 32}) {
    test::TinyElf tiny = everything();
    tiny.bits = bits;
    const auto elf = ElfFile::parse(in_memory(test::elf_bytes(tiny)));
    ASSERT_TRUE(elf) << elf.error().message;
    EXPECT_EQ(elf->bits, bits);
    EXPECT_EQ(elf->type, kElfShared);
    EXPECT_EQ(elf->machine, kElfX86_64);
    EXPECT_TRUE(elf->is_dynamic);
    EXPECT_THAT(elf->dynamic.needed, ElementsAre("libcublas.so.12", "libc.so.6"));
    EXPECT_EQ(elf->dynamic.rpath, "$ORIGIN/../nvidia/cublas/lib");
    EXPECT_EQ(elf->dynamic.runpath, "/home/builder/lib:");
    EXPECT_EQ(elf->dynamic.soname, "libtiny.so.1");
    EXPECT_EQ(elf->interpreter, "/lib64/ld-linux-x86-64.so.2");
    ASSERT_EQ(elf->dynamic.version_needs.size(), 2);
    EXPECT_EQ(elf->dynamic.version_needs[0].file, "libc.so.6");
    ASSERT_EQ(elf->dynamic.version_needs[0].versions.size(), 2);
    EXPECT_EQ(elf->dynamic.version_needs[0].versions[1].name, "GLIBC_2.34");
    ASSERT_EQ(elf->dynamic.version_definitions.size(), 2);
    EXPECT_EQ(elf->dynamic.version_definitions[1].name, "TINY_2");
  }
}

TEST(ElfFile, TellsSymbolsWithTheirVersions) {
  for (const bool stripped : {false, true}) {
    test::TinyElf tiny = everything();
    tiny.stripped = stripped;
    tiny.hash = true;
    const std::string bytes = test::elf_bytes(tiny);
    const auto elf = ElfFile::parse(in_memory(bytes));
    ASSERT_TRUE(elf) << elf.error().message;
    const auto symbols = elf->symbols();
    ASSERT_TRUE(symbols) << symbols.error().message;
    ASSERT_EQ(symbols->size(), 3);
    EXPECT_EQ((*symbols)[0].name, "malloc");
    EXPECT_FALSE((*symbols)[0].defined);
    EXPECT_EQ((*symbols)[0].version, elf->dynamic.version_needs[0].versions[0].index);
    EXPECT_TRUE((*symbols)[1].defined);
    EXPECT_EQ((*symbols)[1].version, elf->dynamic.version_definitions[1].index);
    EXPECT_TRUE((*symbols)[2].weak);
  }
}

TEST(ElfFile, FindsSectionsByNameUnlessTheyWereStripped) {
  test::TinyElf tiny = everything();
  const auto elf = ElfFile::parse(in_memory(test::elf_bytes(tiny)));
  ASSERT_TRUE(elf) << elf.error().message;
  const ElfSection* section = elf->section(".nv_fatbin");
  ASSERT_NE(section, nullptr);
  EXPECT_EQ(section->bytes.size(), 4);
  EXPECT_EQ(elf->section(".nothing"), nullptr);
  tiny.stripped = true;
  const auto stripped = ElfFile::parse(in_memory(test::elf_bytes(tiny)));
  ASSERT_TRUE(stripped) << stripped.error().message;
  EXPECT_THAT(stripped->sections, IsEmpty());
  EXPECT_EQ(stripped->dynamic.soname, "libtiny.so.1");
}

TEST(ElfFile, CubinsTellTheirArchitecture) {
  test::TinyElf tiny;
  tiny.machine = kElfCuda;
  tiny.os_abi = 0x33;
  tiny.flags = 0x560556;
  const auto elf = ElfFile::parse(in_memory(test::elf_bytes(tiny)));
  ASSERT_TRUE(elf) << elf.error().message;
  EXPECT_EQ(elf->machine, kElfCuda);
  EXPECT_EQ(elf->os_abi, 0x33);
  EXPECT_EQ(elf->flags & 0xFF, 86);
}

TEST(ElfFile, ABigEndianFileIsRefusedAndNamed) {
  std::string bytes = test::elf_bytes(everything());
  bytes[5] = 2;
  const auto elf = ElfFile::parse(in_memory(bytes));
  ASSERT_FALSE(elf);
  EXPECT_EQ(elf.error().code, ErrorCode::Unsupported);
  EXPECT_THAT(elf.error().message, HasSubstr("tiny.so, byte 6: big-endian ELF files are not read"));
}

TEST(ElfFile, CutAnywhereItIsRefused) {
  for (const bool stripped : {false, true}) {
    test::TinyElf tiny = everything();
    tiny.stripped = stripped;
    const std::string bytes = test::elf_bytes(tiny);
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(ElfFile::parse(in_memory(bytes.substr(0, size)))) << size;
    }
  }
}

TEST(ElfFile, VersionNeedsThatRunInCirclesEnd) {
  const std::string bytes = test::elf_bytes(everything());
  // The second record's offset to the next one is 0; any other leads on to the end of the file.
  for (size_t at = 0; at + 4 < bytes.size(); at += 4) {
    std::string changed = bytes;
    changed.replace(at, 4, std::string("\x01\0\0\0", 4));
    if (const auto elf = ElfFile::parse(in_memory(changed))) {
      EXPECT_LE(elf->dynamic.version_needs.size(), bytes.size());
      (void)elf->symbols();
    }
  }
}

}  // namespace
}  // namespace mynah
