#include "formats/pe.h"

#include <span>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tiny_pe.h"

namespace mynah {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::shared_ptr<const MappedFile> in_memory(const std::string& bytes) {
  return MappedFile::from_bytes(std::as_bytes(std::span(bytes)), "tiny.dll");
}

test::TinyPe everything() {
  test::TinyPe pe;
  pe.imports = {"cublas64_12.dll", "KERNEL32.dll"};
  pe.delay_imports = {"cudnn64_9.dll"};
  pe.export_name = "tiny.dll";
  pe.sections = {{".nv_fatbin", "code"}};
  return pe;
}

TEST(PeFile, TellsWhichDllsItImports) {
  for (const bool wide : {true, false}) {
    for (const bool absolute : {true, false}) {
      test::TinyPe tiny = everything();
      tiny.wide = wide;
      tiny.absolute = absolute;
      const auto pe = PeFile::parse(in_memory(test::pe_bytes(tiny)));
      ASSERT_TRUE(pe) << pe.error().message;
      EXPECT_EQ(pe->wide, wide);
      EXPECT_TRUE(pe->dll);
      EXPECT_EQ(pe->machine, kPeX86_64);
      EXPECT_THAT(pe->imports, ElementsAre("cublas64_12.dll", "KERNEL32.dll"));
      EXPECT_THAT(pe->delay_imports, ElementsAre("cudnn64_9.dll"));
      EXPECT_EQ(pe->export_name, "tiny.dll");
      ASSERT_EQ(pe->sections.size(), 2);
      EXPECT_EQ(pe->sections[1].name, ".nv_fatb");  // 8 bytes are all that a name has
    }
  }
}

TEST(PeFile, AProgramThatImportsNothingIsRead) {
  test::TinyPe tiny;
  tiny.dll = false;
  const auto pe = PeFile::parse(in_memory(test::pe_bytes(tiny)));
  ASSERT_TRUE(pe) << pe.error().message;
  EXPECT_FALSE(pe->dll);
  EXPECT_TRUE(pe->imports.empty());
}

TEST(PeFile, CutAnywhereItIsRefused) {
  const std::string bytes = test::pe_bytes(everything());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(PeFile::parse(in_memory(bytes.substr(0, size)))) << size;
  }
}

TEST(PeFile, AProgramOfDosIsRefused) {
  std::string bytes = test::pe_bytes(everything());
  bytes[64] = 'N';
  const auto pe = PeFile::parse(in_memory(bytes));
  ASSERT_FALSE(pe);
  EXPECT_THAT(pe.error().message, HasSubstr("a program of DOS"));
}

}  // namespace
}  // namespace mynah
