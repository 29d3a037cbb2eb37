// DraftAgreement: what two drafts in a row say of somebody who still speaks is said for good
// (LocalAgreement-2: Liu, Spanakis, Niehues 2020, "Low-Latency Sequence-to-Sequence Speech
// Recognition and Translation by Partial Hypothesis Selection", section 3), where it is likely and
// behind it there is more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "speech/transcript.h"

namespace mynah {

// How much somebody waits for the next word: it is agreed on though it is less certain.
enum class Hurry : uint8_t { No, Some, Most };

// Of one turn. A draft begins with what is agreed (WindowTask::begun).
class DraftAgreement {
 public:
  // The text of a token, which may be part of a character.
  using TokenText = std::function<std::string(int32_t token)>;

  explicit DraftAgreement(TokenText token_text) : token_text_(std::move(token_text)) {}

  // Agrees to words that the draft before it has, too, whatever their case and the punctuation
  // behind them. True: there is more that is agreed than before.
  bool add(const std::vector<Segment>& draft, Hurry hurry);

  // What is agreed, as the draft has it by which it was: its words only grow. Times as in that.
  [[nodiscard]] const std::vector<Segment>& agreed() const { return agreed_; }

  // What the last draft says behind that. Of a family without tokens that is all of it.
  [[nodiscard]] const std::string& rest() const { return rest_; }

  // The turn is over.
  void reset();

 private:
  // Of a draft. Where nobody writes spaces a word is a character, or what a token has of them.
  struct Word {
    std::string key;            // what it is compared by: letters and digits in lower case
    float log_probability = 0;  // of its least likely token
    size_t segment = 0;         // of the draft, where it ends
    size_t end = 0;             // tokens of that segment up to the word's end
  };

  [[nodiscard]] std::vector<Word> words_of(const std::vector<Segment>& draft) const;
  // How many of the words, which the draft before it has up to `same`, are agreed on.
  [[nodiscard]] size_t count(const std::vector<Word>& words, size_t same, Hurry hurry) const;
  [[nodiscard]] std::string text_of_tokens(std::span<const int32_t> tokens) const;
  // Of a draft, what it says behind what is agreed.
  [[nodiscard]] std::string text_behind(const std::vector<Segment>& draft) const;

  TokenText token_text_;
  std::vector<std::string> before_;  // the words of the draft before
  size_t words_ = 0;                 // that are agreed
  std::vector<Segment> agreed_;
  std::string rest_;
};

}  // namespace mynah
