#include "text/tokenizer/byte_level.h"

#include <span>
#include <utility>

#include "text/tokenizer/word_cache.h"

namespace mynah {

ByteLevelTokenizer::ByteLevelTokenizer(GgufVocabulary vocabulary)
    : TableTokenizer(std::move(vocabulary), {TokenKind::Text}) {
  for (size_t byte = 0; byte < byte_ids_.size(); ++byte) {
    const auto character = static_cast<char>(byte);
    byte_ids_[byte] = tokens().find({&character, 1});
  }
}

Result<std::unique_ptr<TextTokenizer>> ByteLevelTokenizer::create(const TensorFile& file,
                                                                  GgufVocabulary vocabulary) {
  MYNAH_TRY(PreTokenizer pretokenizer, PreTokenizer::create(vocabulary.pre));
  const bool add_bos = vocabulary.add_bos.value_or(pretokenizer.adds_bos());
  const bool add_eos = vocabulary.add_eos.value_or(false);
  // Not by std::make_unique: the constructor is private.
  std::unique_ptr<ByteLevelTokenizer> tokenizer(new ByteLevelTokenizer(std::move(vocabulary)));
  MYNAH_TRY(tokenizer->merges_,
            MergeTable::read(file, tokenizer->tokens(), TokenSpelling::Printable));
  tokenizer->pretokenizer_ = std::move(pretokenizer);
  tokenizer->special_.add_bos = add_bos && tokenizer->special_.bos;
  tokenizer->special_.add_eos = add_eos && tokenizer->special_.eos;
  return tokenizer;
}

void ByteLevelTokenizer::encode_text(std::string_view text, bool /*begins*/,
                                     std::vector<int32_t>& ids) const {
  PairJoins joins;
  WordCache cache(text.size());
  const auto encode = [&](std::string_view piece) { encode_piece(piece, joins, ids); };
  pretokenizer_.split(text, [&](std::string_view piece) { cache.append(piece, ids, encode); });
}

void ByteLevelTokenizer::encode_piece(std::string_view piece, PairJoins& joins,
                                      std::vector<int32_t>& ids) const {
  if (pretokenizer_.whole_words()) {
    if (const int32_t whole = tokens().find(piece); whole >= 0) {
      ids.push_back(whole);
      return;
    }
  }
  joins.clear();
  for (uint32_t i = 0; i < piece.size(); ++i) {
    joins.add({.begin = i, .end = i + 1, .id = byte_ids_[static_cast<unsigned char>(piece[i])]});
  }
  const std::span<const JoinPart> parts =
      joins.join([this](const JoinPart& left, const JoinPart& right) {
        return merges_.find(left.id, right.id);
      });
  for (const JoinPart& part : parts) {
    if (part.id >= 0) {
      ids.push_back(part.id);
    }
  }
}

}  // namespace mynah
