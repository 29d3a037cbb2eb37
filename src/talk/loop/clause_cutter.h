// ClauseCutter: a reply as a language model writes it, cut into what is spoken at once. The first
// piece is short, so that sound comes early; the others are sentences.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/spoken/markup.h"
#include "text/spoken/sentences.h"

namespace mynah::talk {

// What is spoken at once: plain text, without Markdown.
struct SpokenPiece {
  std::string text;
  size_t begin = 0;  // bytes of all plain text so far
  // What is behind it.
  enum class Behind : unsigned char { Clause, Sentence, Paragraph };
  Behind behind = Behind::Sentence;
};

class ClauseCutter {
 public:
  // `language`: ISO 639-1, of the text; "": English's abbreviations.
  explicit ClauseCutter(const std::string& language);

  // More of the reply, in Markdown; the pieces that are whole by that.
  [[nodiscard]] std::vector<SpokenPiece> push(std::string_view markdown);

  // The rest. Nothing is pushed behind it.
  [[nodiscard]] std::vector<SpokenPiece> finish();

  // The bytes of the reply up to those of its plain text.
  [[nodiscard]] size_t reply_bytes(size_t plain_bytes) const;

 private:
  void take(const std::vector<Sentence>& sentences, std::vector<SpokenPiece>& pieces);
  // The first piece, where it can be had before its sentence has ended.
  void take_first(std::vector<SpokenPiece>& pieces);

  SentenceOptions options_;
  MarkupFilter filter_;
  SentenceSplitter splitter_;
  size_t split_from_ = 0;  // bytes of plain text before those that the splitter has
  std::string first_;      // plain text until the first piece is taken
  bool begun_ = false;     // it is taken
};

}  // namespace mynah::talk
