#include "text/tokenizer/text_tokenizer.h"

#include <utility>

#include "text/tokenizer/byte_level.h"
#include "text/tokenizer/gguf_vocabulary.h"

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
  return ByteLevelTokenizer::create(file, std::move(vocabulary));
}

}  // namespace mynah
