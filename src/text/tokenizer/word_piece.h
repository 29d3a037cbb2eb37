// WordPieceTokenizer: BERT's: words without accents and in small letters, cut into the longest
// tokens from left to right (Devlin et al. 2018; transformers' BertNormalizer and WordPiece).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer/table_tokenizer.h"

namespace mynah {

class WordPieceTokenizer : public TableTokenizer {
 public:
  // As create_text_tokenizer, of a vocabulary whose model is "bert": tokens that begin a word begin
  // with U+2581, others continue one. InvalidInput where there is no unknown token, which stands
  // for a word that no tokens spell or that has more than 100 code points.
  static Result<std::unique_ptr<TextTokenizer>> create(const TensorFile& file,
                                                       GgufVocabulary vocabulary);

 private:
  explicit WordPieceTokenizer(GgufVocabulary vocabulary);

  void encode_text(std::string_view text, bool begins, std::vector<int32_t>& ids) const override;

  // A code point as BERT reads it: none, or several.
  void append_normal(std::u32string& word, char32_t code_point) const;

  // A word of UTF-8 with a space before it, of so many code points.
  void encode_word(std::string_view word, size_t code_points, std::vector<int32_t>& ids) const;

  size_t longest_ = 0;  // bytes of the longest token
  bool lower_case_ = true;
  bool strip_accents_ = true;
};

}  // namespace mynah
