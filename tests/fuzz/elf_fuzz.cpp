#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "doctor/binaries/opened_names.h"
#include "formats/elf.h"

namespace mynah {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto elf =
      ElfFile::parse(MappedFile::from_bytes(std::as_bytes(std::span(data, size)), "fuzz"));
  if (!elf) {
    MYNAH_CHECK(!elf.error().message.empty(), "an error without a message");
    return 0;
  }
  for (const ElfSection& section : elf->sections) {
    MYNAH_CHECK(section.bytes.size() <= size, "a section larger than the file");
  }
  if (const auto symbols = elf->symbols()) {
    MYNAH_CHECK(symbols->size() <= size / 16, "more symbols than the file has room for");
  }
  for (const uint64_t address : {uint64_t{0}, uint64_t{0x1000}, UINT64_MAX}) {
    const auto function = elf->function_at(address);
    MYNAH_CHECK(!function || function->address <= address, "a function behind the address");
  }
  for (const std::string& name : doctor::library_names_in(*elf)) {
    MYNAH_CHECK(name.starts_with("lib"), "a name that is none");
    (void)doctor::name_before_bundling(name);
  }
  return 0;
}

}  // namespace mynah
