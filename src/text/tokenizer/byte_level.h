// ByteLevelTokenizer: byte pair encoding of bytes by a list of merges, within pieces that a
// pre-tokenizer cuts: GPT-2's kind, which most models have.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/pair_joins.h"
#include "text/tokenizer/merge_table.h"
#include "text/tokenizer/pretokenizer.h"
#include "text/tokenizer/table_tokenizer.h"

namespace mynah {

class ByteLevelTokenizer : public TableTokenizer {
 public:
  // As create_text_tokenizer, of a vocabulary whose model is "gpt2". A byte that has no token is
  // left out of a text (some vocabularies lack those that UTF-8 does not use, and a few others).
  static Result<std::unique_ptr<TextTokenizer>> create(const TensorFile& file,
                                                       GgufVocabulary vocabulary);

 private:
  explicit ByteLevelTokenizer(GgufVocabulary vocabulary);

  void encode_text(std::string_view text, bool begins, std::vector<int32_t>& ids) const override;
  void encode_piece(std::string_view piece, PairJoins& joins, std::vector<int32_t>& ids) const;

  PreTokenizer pretokenizer_;
  MergeTable merges_;
  std::array<int32_t, 256> byte_ids_{};
};

}  // namespace mynah
