// Any bytes in any pieces as Markdown and HTML: the same as of the whole, sources within it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "text/spoken/markup.h"

namespace mynah {
namespace {

void check_markup(std::string_view text, const MarkupOptions& options) {
  const std::string whole = strip_markup(text, options);
  MarkupFilter filter(options);
  std::string pieces;
  for (size_t at = 0, step = 1; at < text.size();
       at += step, step = 1 + (step * 5 + text.size()) % 11) {
    pieces += filter.push(text.substr(at, step));
  }
  pieces += filter.finish();
  MYNAH_CHECK(pieces == whole, "pieces give other text than the whole");
  size_t last = 0;
  for (size_t i = 0; i < pieces.size() && i < 1000; ++i) {
    const ByteRange source = filter.source_of({i, i + 1});
    MYNAH_CHECK(source.begin <= source.end && source.end <= text.size() && source.begin >= last,
                "a source out of order");
    last = source.begin;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_markup(text, {.kind = MarkupKind::Markdown, .code = CodeBlocks::Named});
  check_markup(text, {.kind = MarkupKind::Markdown, .code = CodeBlocks::Read});
  check_markup(text, {.kind = MarkupKind::Html, .code = CodeBlocks::Skipped});
  return 0;
}

}  // namespace mynah
