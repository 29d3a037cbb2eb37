// ContextGraph: words that may be said, as tokens, and what a text earns that writes them: shallow
// fusion with a prefix tree whose failures take back what was earned (Zhao et al. 2019,
// "Shallow-Fusion End-to-End Contextual Biasing", Interspeech; Aho and Corasick 1975).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nn/decode/sampling.h"
#include "text/whisper_tokenizer.h"

namespace mynah::whisper {

// What the tokens of a word earn, in log probability. A word that is not completed earns nothing,
// and one that the text has already neither: else it would be said again and again.
//
// Measured with tiny.en by bench/words.py, whose figures docs/phonemes.md has: with 1, 4 and 9 two
// more names of 160 are wrong; with 2, 4 and 9 nine more words of other speech, beside 200 names.
struct WordBonus {
  float begin = 1.0F;  // its first token
  float go_on = 5.0F;  // each other
  float most = 10.0F;  // all of them together
  // A word of many is less likely, and one that sounds like what is said is always among them:
  // beyond so many spellings every word earns less, in all by this for each e-fold. Chosen with
  // 10,000 names (bench/words.py): with 0, 0.8, 1.3 and 1.8 are 121, 115, 117 and 126 names of 160
  // wrong, and 23, 13, 10 and 8 more words of other speech; a run each, and one differed from the
  // next by some five words then.
  float many = 200.0F;
  float less = 1.3F;

  // The same for so many spellings.
  [[nodiscard]] WordBonus among(size_t spellings) const;
};

// Const after creation. The tokenizer must outlive it.
class ContextGraph {
 public:
  // Words, or phrases, in UTF-8, as they are to be written; one in small letters is meant at the
  // begin of a sentence, too. Those of which a token never comes (`suppressed`, in rising order)
  // are left out.
  ContextGraph(const WhisperTokenizer& tokenizer, std::span<const std::string> words,
               std::span<const int32_t> suppressed, const WordBonus& bonus = {});

  // Where a text stands.
  struct State {
    int32_t node = 0;             // the longest end of the text that begins a word; 0: none
    float held = 0;               // earned by it, until the word is complete
    std::vector<int32_t> said{};  // nodes of the words that are complete
  };

  // Takes a text's next token, of any kind, and returns what it earns or, below 0, what is taken
  // back.
  float step(State& state, int32_t token) const;

  // What the tokens that go on within the begun word earn beside all others: in rising order.
  // `biases` is emptied first.
  void add_biases(const State& state, std::vector<TokenBias>& biases) const;

  // What a word of many tokens earns.
  [[nodiscard]] float most() const { return most_; }

  [[nodiscard]] bool empty() const { return nodes_.front().child_count == 0; }

 private:
  struct Node {
    int32_t token = 0;        // that leads to it
    int32_t first_child = 0;  // children stand side by side, their tokens in rising order
    int32_t child_count = 0;
    int32_t fail = 0;   // the longest proper end of its tokens that begins a word
    float score = 0;    // earned by its tokens
    bool end = false;   // a word is complete
    bool open = false;  // of which more letters would make another word
  };

  // A word's tokens, and whether it ends where more letters make another word.
  struct Spelling {
    std::vector<int32_t> tokens;
    bool open = false;
  };

  void add_spellings(const std::string& word, std::vector<Spelling>& all) const;
  void build(std::span<const Spelling> sorted, const WordBonus& bonus);
  void link_failures();

  [[nodiscard]] const Node& node(int32_t at) const { return nodes_[static_cast<size_t>(at)]; }

  // The child that a token leads to; 0: none.
  [[nodiscard]] int32_t child(int32_t of, int32_t token) const;
  // What is kept of `held` where the word of a node is complete.
  static float complete(State& state, int32_t at, float held);
  // Whether a word that ends at a node is complete where this token follows.
  [[nodiscard]] bool completes(const Node& at, int32_t token) const;
  [[nodiscard]] bool goes_on_with_letters(int32_t token) const;

  const WhisperTokenizer& tokenizer_;
  std::vector<Node> nodes_;  // the root first
  float most_ = 0;
};

}  // namespace mynah::whisper
