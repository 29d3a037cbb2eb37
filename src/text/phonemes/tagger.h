// Parts of speech, in the Penn Treebank's names, by an averaged perceptron (Collins 2002,
// "Discriminative training methods for hidden Markov models"): the model and its features are those
// of hibari-tts 0.2.1, g2p/tagger.py.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/phonemes/string_index.h"

namespace mynah {

class Tagger {
 public:
  // {"tags": [...], "tagdict": {word: tag}, "vocab": [...], "weights": {feature: {tag: weight}}};
  // without "vocab" no word is taken for rare. `name` is for messages.
  static Result<Tagger> parse(std::string_view json, std::string_view name);

  // The tag of each word of a text. Words must not be empty. The views live as long as the tagger.
  [[nodiscard]] std::vector<std::string_view> operator()(
      std::span<const std::u32string_view> words) const;

 private:
  friend class TaggerReader;

  // What a word is among its neighbours: itself in a form that many share.
  [[nodiscard]] std::string normal_form(std::u32string_view word) const;
  // Adds the weights of one feature.
  void score(std::string_view feature, std::span<double> scores, bool& any) const;
  [[nodiscard]] uint8_t best(std::span<const double> scores) const;

  std::vector<std::string> tags_;
  StringIndex usual_words_;  // that have one tag nearly always
  std::vector<uint8_t> usual_tags_;
  StringIndex vocabulary_;
  bool has_vocabulary_ = false;
  StringIndex features_;
  std::vector<uint32_t> ends_;  // of each feature's weights
  std::vector<uint8_t> weight_tags_;
  std::vector<double> weights_;
};

}  // namespace mynah
