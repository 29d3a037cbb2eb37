// Names of libraries that a file may open at run time, and what bundled ones were called.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/elf.h"

namespace mynah::doctor {

// Texts in the file's read-only data that are the name of a library and nothing else:
// "libcublas.so.12". Parts of longer texts and patterns ("libcudnn_%s.so") are not taken. At most
// 64 MiB are searched, and 256 names found.
[[nodiscard]] std::vector<std::string> library_names_in(const ElfFile& elf);

// What a library was called before auditwheel or delvewheel copied it into a wheel:
// "libcudnn.so.8.9.7" of "libcudnn-463fd6d5.so.8.9.7". Nothing where its name has no such hash.
// Such a copy is found by its new name alone, and nobody else's want is met by it.
[[nodiscard]] std::optional<std::string> name_before_bundling(std::string_view library);

}  // namespace mynah::doctor
