#include "text/documents/encoding.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <iconv.h>

#include "base/ascii.h"
#include "text/utf8.h"

namespace mynah {
namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
constexpr std::string_view kLittleMark = "\xFF\xFE";
constexpr std::string_view kBigMark = "\xFE\xFF";

// HTML's standard asks readers to look for a name that far.
constexpr size_t kHead = 1024;

// Controls that stand in texts: tab, line and page breaks, the escapes of coloured logs, and the
// Ctrl-Z that DOS wrote at the end.
bool is_strange(char c) {
  constexpr std::string_view kUsual = "\t\n\v\f\r\x1A\x1B";
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && kUsual.find(c) == std::string_view::npos) || byte == 0x7F;
}

// Whether what is not ASCII in it is rather UTF-8 than something else.
bool is_rather_utf8(std::string_view bytes) {
  size_t whole = 0;
  size_t broken = 0;
  for (size_t at = 0; at < bytes.size();) {
    const Utf8Step step = next_code_point(bytes.substr(at));
    whole += step.valid && step.bytes > 1 ? 1 : 0;
    broken += step.valid ? 0 : 1;
    at += step.bytes;
  }
  return whole >= broken;
}

std::string named_encoding(std::string_view bytes) {
  const std::string head = ascii_lower(bytes.substr(0, kHead));
  for (const std::string_view key : {"charset=", "encoding="}) {
    const size_t found = head.find(key);
    if (found == std::string::npos) {
      continue;
    }
    std::string_view name = std::string_view(head).substr(found + key.size());
    name.remove_prefix(std::min(name.find_first_not_of("\"' "), name.size()));
    return std::string(
        name.substr(0, name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_:.")));
  }
  return {};
}

// Nothing where the C library does not know the encoding. Bytes that are broken become U+FFFD.
std::optional<std::string> converted(std::string_view bytes, const std::string& encoding) {
  const iconv_t converter = ::iconv_open("UTF-8", encoding.c_str());
  // NOLINTNEXTLINE(performance-no-int-to-ptr): iconv_open's error is this value
  if (converter == reinterpret_cast<iconv_t>(-1)) {
    return std::nullopt;
  }
  std::string source(bytes);
  std::string text;
  std::string block(1U << 14U, '\0');
  char* from = source.data();
  size_t left = source.size();
  while (left > 0) {
    char* to = block.data();
    size_t room = block.size();
    const size_t result = ::iconv(converter, &from, &left, &to, &room);
    text.append(block.data(), block.size() - room);
    if (result == static_cast<size_t>(-1) && errno != E2BIG) {
      append_utf8(text, kReplacementCharacter);
      ++from;
      --left;
      ::iconv(converter, nullptr, nullptr, nullptr, nullptr);
    }
  }
  ::iconv_close(converter);
  return text;
}

}  // namespace

bool is_utf16(std::string_view bytes) {
  return bytes.starts_with(kLittleMark) || bytes.starts_with(kBigMark);
}

Status check_is_text(std::string_view bytes) {
  if (is_utf16(bytes)) {
    return {};
  }
  const bool nul = bytes.find('\0') != std::string_view::npos;
  const auto strange = static_cast<size_t>(std::ranges::count_if(bytes, is_strange));
  // Random bytes have one in ten; a damaged text has a few.
  constexpr size_t kFew = 8;
  constexpr size_t kOneIn = 20;
  if (nul || (strange > kFew && strange * kOneIn > bytes.size())) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted a text, found {}",
                            nul ? "bytes that are none (a NUL among them)"
                                : "control characters, as programs and pictures have them"));
  }
  return {};
}

Result<DecodedText> decode_text(std::string bytes) {
  MYNAH_TRY_STATUS(check_is_text(bytes));
  if (is_utf16(bytes)) {
    const std::string name = bytes.starts_with(kLittleMark) ? "UTF-16LE" : "UTF-16BE";
    if (auto text = converted(std::string_view(bytes).substr(2), name)) {
      return DecodedText{.text = std::move(*text), .from = name};
    }
    return fail(ErrorCode::Environment, "this machine's C library cannot read " + name);
  }
  if (bytes.starts_with(kUtf8Mark)) {
    bytes.erase(0, kUtf8Mark.size());
  }
  if (is_rather_utf8(bytes)) {
    return DecodedText{.text = std::move(bytes), .from = {}};
  }
  const std::string named = named_encoding(bytes);
  // Latin-1 is read as Windows-1252, which has more (WHATWG's Encoding standard), and so is what is
  // named UTF-8 and is not.
  constexpr auto kLatin = std::to_array<std::string_view>(
      {"", "iso-8859-1", "iso8859-1", "latin1", "latin-1", "us-ascii", "ascii", "utf-8", "utf8"});
  const std::string latin = "windows-1252";
  for (const std::string& name :
       {std::ranges::find(kLatin, named) == kLatin.end() ? named : latin, latin}) {
    if (auto text = converted(bytes, name)) {
      return DecodedText{.text = std::move(*text), .from = name};
    }
  }
  return DecodedText{.text = std::move(bytes), .from = {}};
}

}  // namespace mynah
