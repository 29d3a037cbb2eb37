// Bytes of a file that calls itself text, as UTF-8: Windows writes UTF-16 and code pages, old books
// are Latin-1, and some files are no text at all.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace mynah {

// Whether they begin with UTF-16's byte order mark.
[[nodiscard]] bool is_utf16(std::string_view bytes);

// InvalidInput where the bytes are no text in any encoding: a NUL, or more than eight
// control characters and one in twenty. `bytes` is all of it or its beginning; UTF-16, which is
// full of NULs, is told by the mark that it begins with.
[[nodiscard]] Status check_is_text(std::string_view bytes);

struct DecodedText {
  std::string text;  // UTF-8 without a byte order mark, but for broken bytes where it was UTF-8
  std::string from;  // the encoding it was turned out of; "": it was UTF-8
};

// UTF-16 with its mark; UTF-8, where at least as many characters of several bytes are whole as are
// broken; else the encoding that the text names within its first kilobyte (`charset=`, `encoding=`,
// as HTML and XML do) where the C library knows it, and Windows-1252 where it names none: what is
// Latin-1 is that too. Errors as check_is_text has them.
[[nodiscard]] Result<DecodedText> decode_text(std::string bytes);

}  // namespace mynah
