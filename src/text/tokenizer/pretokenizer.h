// PreTokenizer: cuts text into the pieces within which a byte-level vocabulary merges, as the name
// in a model's file says (pretokenizers.tsv).
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer/splitter.h"

namespace mynah {

class PreTokenizer {
 public:
  // By the file's tokenizer.ggml.pre. Unsupported for a name that mynah does not know.
  static Result<PreTokenizer> create(std::string_view name);

  // All names that `create` knows.
  static std::vector<std::string_view> names();

  // A piece that is a token is that token, whatever the merges would make of it.
  [[nodiscard]] bool whole_words() const { return whole_words_; }

  // A text without a template begins with bos where the file does not say it.
  [[nodiscard]] bool adds_bos() const { return adds_bos_; }

  // Calls found(piece) in order; all pieces joined are the text. Returns the code points that were
  // looked at, as often as they were.
  template <class Found>
  size_t split(std::string_view text, const Found& found) const {
    return split_from(0, text, found);
  }

 private:
  template <class Found>
  size_t split_from(size_t pass, std::string_view text, const Found& found) const {
    if (pass == passes_.size()) {
      found(text);
      return 0;
    }
    size_t steps = 0;
    return passes_[pass].split(text, [&](std::string_view piece) {
      steps += split_from(pass + 1, piece, found);
    }) + steps;
  }

  std::vector<Splitter> passes_;
  bool whole_words_ = false;
  bool adds_bos_ = false;
};

}  // namespace mynah
