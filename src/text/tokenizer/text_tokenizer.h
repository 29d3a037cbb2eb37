// TextTokenizer: a language model's text to tokens and back, as its GGUF file describes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/tensor_file.h"

namespace mynah {

// Ids of tokens that have a meaning of their own; none where the file names none.
struct SpecialTokens {
  std::optional<int32_t> bos;      // begins a text; [CLS] of BERT
  std::optional<int32_t> eos;      // ends a text; [SEP] of BERT
  std::optional<int32_t> eot;      // ends a turn of a conversation: <|im_end|>, <|eot_id|> ...
  std::optional<int32_t> unknown;  // what a text has and the vocabulary has not
  std::optional<int32_t> padding;
  // Whether a text without a template is given bos and eos (encode_whole).
  bool add_bos = false;
  bool add_eos = false;
  // Tokens that end a reply, eos and eot among them, in rising order. None is text to be shown.
  std::vector<int32_t> reply_ends;
};

// A part of a rendered chat template. The view is read while encode_template runs.
struct PromptPart {
  std::string_view text;
  bool given = false;  // came from a user, a tool or a file; else the template's own
};

// All methods may be called from several threads at once.
class TextTokenizer {
 public:
  virtual ~TextTokenizer() = default;
  TextTokenizer(const TextTokenizer&) = delete;
  TextTokenizer& operator=(const TextTokenizer&) = delete;
  TextTokenizer(TextTokenizer&&) = delete;
  TextTokenizer& operator=(TextTokenizer&&) = delete;

  // The number of tokens: ids are 0 to size() - 1.
  [[nodiscard]] virtual int32_t size() const = 0;

  [[nodiscard]] virtual const SpecialTokens& special() const = 0;

  // The tokens of a text that somebody gave: any bytes, broken UTF-8 too. Never a control token or
  // another mark of the template (is_mark), whatever the text spells, but for the unknown token
  // where a vocabulary has nothing else for a word (BERT) or a code point. No bos or eos are added.
  [[nodiscard]] virtual std::vector<int32_t> encode(std::string_view text) const = 0;

  // `encode` with bos before and eos after where the file says so ([CLS] and [SEP] of BERT): what a
  // model wants that was given a text and no template.
  [[nodiscard]] std::vector<int32_t> encode_whole(std::string_view text) const;

  // The tokens of a rendered chat template. In what is the template's own the spelling of a mark is
  // that token, the leftmost and longest first; a spelling with but one byte that was given is
  // text. The text between marks is encoded as one, across the borders of the parts. No bos or eos
  // are added: templates write their own.
  [[nodiscard]] virtual std::vector<int32_t> encode_template(
      std::span<const PromptPart> parts) const = 0;

  // What the token adds to a text, maybe half a code point (Utf8Stream of text/utf8.h joins them);
  // the spelling of a mark, which is not shown where is_control. Empty for an id that does not
  // exist. Lives as long as the tokenizer. SentencePiece's words begin with a space here, the
  // first too.
  [[nodiscard]] virtual std::string_view bytes(int32_t id) const = 0;

  // Whether it stands for no text: beginnings and ends of turns, padding, the unknown token. False
  // for an id that does not exist.
  [[nodiscard]] virtual bool is_control(int32_t id) const = 0;

  // Control tokens, and those that are shown yet are the template's or the model's alone to write:
  // <think>, <tool_call>, [TOOL_RESULTS]. Given text never has one.
  [[nodiscard]] virtual bool is_mark(int32_t id) const = 0;

  // The mark of that spelling.
  [[nodiscard]] virtual std::optional<int32_t> find_mark(std::string_view spelling) const = 0;

 protected:
  TextTokenizer() = default;
};

// Makes the tokenizer of a GGUF file from its metadata, keys tokenizer.ggml.* (ggml's docs/gguf.md;
// llama.cpp's gguf-py/gguf/constants.py lists them): model "gpt2" and "gemma4" are byte pair
// encoding by a list of merges, "llama" is SentencePiece's by scores, "bert" is WordPiece. The
// tokenizer keeps nothing of the file. InvalidInput where an array is missing, has another length
// or names what is not there; Unsupported for another model or for a pre-tokenizer that mynah does
// not know.
Result<std::unique_ptr<TextTokenizer>> create_text_tokenizer(const TensorFile& file);

}  // namespace mynah
