#include "text/tokenizer/text_tokenizer.h"

#include <utility>

#include "text/tokenizer/byte_level.h"
#include "text/tokenizer/gguf_vocabulary.h"
#include "text/tokenizer/pieces.h"
#include "text/tokenizer/word_piece.h"

namespace mynah {

std::vector<int32_t> TextTokenizer::encode_whole(std::string_view text) const {
  std::vector<int32_t> ids = encode(text);
  const SpecialTokens& tokens = special();
  if (tokens.add_bos && tokens.bos) {
    ids.insert(ids.begin(), *tokens.bos);
  }
  if (tokens.add_eos && tokens.eos) {
    ids.push_back(*tokens.eos);
  }
  return ids;
}

Result<std::unique_ptr<TextTokenizer>> create_text_tokenizer(const TensorFile& file) {
  MYNAH_TRY(GgufVocabulary vocabulary, read_gguf_vocabulary(file));
  if (vocabulary.model == "gpt2") {
    return ByteLevelTokenizer::create(file, std::move(vocabulary));
  }
  if (vocabulary.model == "bert") {
    return WordPieceTokenizer::create(file, std::move(vocabulary));
  }
  return PieceTokenizer::create(file, std::move(vocabulary));
}

}  // namespace mynah
