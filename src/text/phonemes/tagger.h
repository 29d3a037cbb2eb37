// Parts of speech, in the Penn Treebank's names, by an averaged perceptron (Collins 2002,
// "Discriminative training methods for hidden Markov models"): the model and its features are those
// of hibari-tts 0.2.1, g2p/tagger.py.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/phonemes/string_table.h"

namespace mynah {

class Tagger {
 public:
  // {"tags": [...], "tagdict": {word: tag}, "vocab": [...], "weights": {feature: {tag: weight}}};
  // without "vocab" no word is taken for rare. `name` is for messages. Returns the bytes of the
  // table that a tagger reads.
  static Result<std::string> pack(std::string_view json, std::string_view name);

  // Of what pack() made; nothing where the table is of something else.
  static std::optional<Tagger> open(StringTable table);

  // The tag of each word of a text. Words must not be empty. The views live as long as the tagger.
  [[nodiscard]] std::vector<std::string_view> operator()(
      std::span<const std::u32string_view> words) const;

 private:
  // What a word is among its neighbours: itself in a form that many share.
  [[nodiscard]] std::string normal_form(std::u32string_view word) const;
  // Adds the weights of one feature, by its name in the table.
  void score(std::string_view feature, std::span<double> scores, bool& any) const;
  [[nodiscard]] uint8_t best(std::span<const double> scores) const;
  // What the table has under a name of that sort.
  [[nodiscard]] std::optional<std::string_view> find(char sort, std::string_view name) const;

  StringTable table_;
  std::vector<std::string_view> tags_;  // of table_
  bool has_vocabulary_ = false;
};

}  // namespace mynah
