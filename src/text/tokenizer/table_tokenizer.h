// TableTokenizer: what tokenizers of every kind share: the table of tokens and the marks in a text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "text/tokenizer/gguf_vocabulary.h"
#include "text/tokenizer/mark_finder.h"
#include "text/tokenizer/text_tokenizer.h"
#include "text/tokenizer/token_table.h"

namespace mynah {

class TableTokenizer : public TextTokenizer {
 public:
  [[nodiscard]] int32_t size() const final { return tokens_.size(); }

  [[nodiscard]] const SpecialTokens& special() const final { return special_; }

  [[nodiscard]] std::vector<int32_t> encode(std::string_view text) const final;
  [[nodiscard]] std::vector<int32_t> encode_template(std::span<const PromptPart> parts) const final;
  [[nodiscard]] std::string_view bytes(int32_t id) const final;
  [[nodiscard]] bool is_control(int32_t id) const final;
  [[nodiscard]] bool is_mark(int32_t id) const final;
  [[nodiscard]] std::optional<int32_t> find_mark(std::string_view spelling) const final;

 protected:
  // Takes what the vocabulary says; tokens of the kinds `indexed` are known to tokens().find.
  TableTokenizer(GgufVocabulary vocabulary, std::initializer_list<TokenKind> indexed);

  [[nodiscard]] const TokenTable& tokens() const { return tokens_; }

  // Appends the tokens of a text without marks. `begins`: nothing or a mark stands before it.
  virtual void encode_text(std::string_view text, bool begins, std::vector<int32_t>& ids) const = 0;

  SpecialTokens special_;

 private:
  // Bytes of a text that are the template's own.
  struct Stretch {
    size_t begin = 0;
    size_t end = 0;
  };

  [[nodiscard]] std::vector<int32_t> encode_stretches(std::string_view text,
                                                      std::span<const Stretch> own) const;

  TokenTable tokens_;
  MarkFinder marks_;  // in what is the template's own
  MarkFinder added_;  // everywhere
  bool strips_after_marks_ = false;
};

}  // namespace mynah
