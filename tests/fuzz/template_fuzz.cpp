// A template, NUL, and the context as JSON.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "text/template/template.h"
#include "text/utf8.h"

namespace mynah {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(text.find('\0'), size);
  const auto made = Template::parse(text.substr(0, end));
  if (!made) {
    MYNAH_CHECK(made.error().line > 0 && !made.error().message.empty(), "an error without a place");
    return 0;
  }
  const auto context =
      nlohmann::ordered_json::parse(text.substr(std::min(end + 1, size)), nullptr, false);
  RenderOptions options;
  options.limits = {.steps = 20'000, .output_bytes = 100'000, .memory_bytes = 1'000'000};
  const auto pieces = made->render(context, options);
  if (!pieces) {
    MYNAH_CHECK(pieces.error().line > 0 || context.is_object(), "an error without a place");
    return 0;
  }
  size_t bytes = 0;
  for (size_t i = 0; i < pieces->size(); ++i) {
    const TemplatePiece& piece = (*pieces)[i];
    bytes += piece.text.size();
    MYNAH_CHECK(!piece.text.empty(), "an empty piece");
    MYNAH_CHECK(i == 0 || piece.given != (*pieces)[i - 1].given, "neighbours of one origin");
    MYNAH_CHECK(replace_invalid_utf8(piece.text) == piece.text, "a piece that is not UTF-8");
  }
  MYNAH_CHECK(bytes <= options.limits.output_bytes, "more than the bound of output");
  return 0;
}

}  // namespace mynah
