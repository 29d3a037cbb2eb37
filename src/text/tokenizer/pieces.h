// PieceTokenizer: vocabularies of words with their spaces, joined from code points: SentencePiece's
// by scores (Llama 2, Mistral, Phi-3, Gemma 1 to 3) and Gemma 4's by a list of merges.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/pair_joins.h"
#include "text/tokenizer/merge_table.h"
#include "text/tokenizer/table_tokenizer.h"

namespace mynah {

class PieceTokenizer : public TableTokenizer {
 public:
  // As create_text_tokenizer, of a vocabulary whose model is "llama" or "gemma4". U+2581 of a text
  // becomes a space. A code point that no token spells becomes the tokens of its bytes, where there
  // are none the unknown token, and is left out where there is no such token either.
  static Result<std::unique_ptr<TextTokenizer>> create(const TensorFile& file,
                                                       GgufVocabulary vocabulary);

 private:
  explicit PieceTokenizer(GgufVocabulary vocabulary);

  Status read_scores(const TensorFile& file);
  void encode_text(std::string_view text, bool begins, std::vector<int32_t>& ids) const override;
  void encode_piece(std::string_view piece, PairJoins& joins, std::vector<int32_t>& ids) const;
  void append(std::string_view bytes, int32_t id, std::vector<int32_t>& ids) const;

  // Where the piece ends that begins at `at`: before a code point that no token has behind the byte
  // there, so that nothing joins over the end.
  [[nodiscard]] size_t piece_end(std::string_view text, size_t at) const;

  // What two neighbours become.
  [[nodiscard]] PairJoin join(std::string_view piece, const JoinPart& left,
                              const JoinPart& right) const;

  std::optional<MergeTable> merges_;
  std::vector<uint32_t> orders_;  // without merges: of a token's score, the best first
  std::array<int32_t, 256> byte_ids_{};
  std::bitset<256UL * 256> neighbours_;  // two bytes that a token has side by side
  bool adds_space_ = false;              // before a text that nothing or a mark stands before
  bool cuts_newlines_ = false;  // a run of them is a piece, one token where there is that token
};

}  // namespace mynah
