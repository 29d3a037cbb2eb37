#include "base/check.h"
#include "text/normalizer_steps.h"
#include "text/text_normalizer.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

class BasicNormalizer final : public TextNormalizer {
 public:
  explicit BasicNormalizer(const BasicNormalizerOptions& options) : options_(options) {
    MYNAH_CHECK(!(options.remove_diacritics && options.preserve_marks),
                "marks cannot be removed and preserved");
  }

  [[nodiscard]] std::string normalize(std::string_view text) const override {
    std::u32string clean = remove_bracketed(to_lower(to_code_points(text)));
    clean = options_.remove_diacritics ? remove_symbols_and_diacritics(clean, U"")
                                       : remove_symbols(clean, options_.preserve_marks);
    clean = to_lower(clean);
    if (options_.split_letters) {
      clean = separate_graphemes(clean);
    }
    return to_utf8(collapse_spaces(clean));
  }

 private:
  BasicNormalizerOptions options_;
};

}  // namespace

std::unique_ptr<TextNormalizer> basic_text_normalizer(const BasicNormalizerOptions& options) {
  return std::make_unique<BasicNormalizer>(options);
}

}  // namespace mynah
