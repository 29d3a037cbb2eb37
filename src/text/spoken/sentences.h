// Sentences out of text that arrives in pieces, as from a pipe or a language model. A sentence is
// given as soon as what follows its stop shows that it has ended; where nothing ends one for long,
// it is cut, so that memory is bounded and speech goes on.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mynah {

struct Sentence {
  // What follows it: more of the paragraph, or a blank line or the end.
  enum class Break { Sentence, Paragraph };

  std::string text;  // as written, without white space around it
  size_t begin = 0;  // bytes from the start of all that was pushed
  size_t end = 0;
  Break after = Break::Sentence;
};

struct SentenceOptions {
  // A sentence that has not ended after so many bytes is cut: at a clause, else at a space, else
  // between two characters.
  size_t max_bytes = 1200;
  // ISO 639-1. English abbreviations count everywhere (they are few); where ordinals are written
  // with a stop ("am 3. Oktober": German, Danish, Norwegian, Finnish, Czech, Slovak, Hungarian and
  // others), a stop after one or two digits is no end.
  std::string language = "en";
};

// Pushing a text in any pieces gives the same sentences as pushing it whole.
class SentenceSplitter {
 public:
  explicit SentenceSplitter(SentenceOptions options = {});

  // The sentences that are known to be whole.
  [[nodiscard]] std::vector<Sentence> push(std::string_view text);

  // The rest. The splitter is then as new.
  [[nodiscard]] std::vector<Sentence> finish();

 private:
  enum class Verdict { Goes, Ends, EndsParagraph, NeedsMore };

  // What is around a stop: its run, and the first character of what follows.
  struct Stop;

  void scan(std::vector<Sentence>& out);
  bool look_at_line_begin();
  bool apply(Verdict verdict, size_t after, std::vector<Sentence>& out);
  Verdict judge_stop(size_t& after) const;
  [[nodiscard]] Verdict judge_single_stop(const Stop& stop) const;
  [[nodiscard]] Verdict judge_line_break(size_t& after) const;
  [[nodiscard]] bool is_measure_at(const Stop& stop, std::string_view folded,
                                   size_t word_begin) const;
  [[nodiscard]] Verdict judge_initial(const Stop& stop, std::string_view word) const;
  void emit(size_t end, Sentence::Break after, std::vector<Sentence>& out);
  void cut(std::vector<Sentence>& out);
  void forget();

  SentenceOptions options_;
  bool ordinal_stops_ = false;
  std::string buffer_;  // what is not yet given
  size_t base_ = 0;     // bytes given before buffer_
  size_t start_ = 0;    // the sentence's first byte in buffer_
  size_t at_ = 0;       // what comes before was looked at
  ptrdiff_t line_ = 0;  // the line's first byte in buffer_; negative when it was given
  bool at_line_begin_ = true;
  bool line_is_item_ = false;  // the line begins with a list's mark
  bool final_ = false;
};

// The sentences of a whole text.
[[nodiscard]] std::vector<Sentence> split_sentences(std::string_view text,
                                                    const SentenceOptions& options = {});

}  // namespace mynah
