// Answers that keep to a grammar: which tokens may come next, as bits.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/grammar/grammar.h"
#include "text/grammar/vocabulary.h"

namespace mynah::grammar {

class MaskTable;
struct Place;

// A grammar made ready for one vocabulary, shared by all requests that ask for the same. What
// sequences learn of it (masks, steps) is kept in it, within kMostConstraintBytes, so that the
// second request is quicker than the first. Any number of threads may use it.
class Constraint {
 public:
  // Refused, with the rule's name: a grammar with a rule that begins with itself, that no text
  // fits, or that is too big (Automaton::compile).
  [[nodiscard]] static Result<std::shared_ptr<const Constraint>> compile(
      const Grammar& grammar, std::shared_ptr<const TokenVocabulary> vocabulary);

  [[nodiscard]] const TokenVocabulary& vocabulary() const { return *vocabulary_; }

  // Bytes that this one keeps now, without the vocabulary's.
  [[nodiscard]] size_t bytes_kept() const;

  Constraint(const Constraint&) = delete;
  Constraint& operator=(const Constraint&) = delete;
  ~Constraint();

 private:
  friend class ConstraintState;

  Constraint(std::shared_ptr<const TokenVocabulary> vocabulary, std::unique_ptr<MaskTable> table);

  std::shared_ptr<const TokenVocabulary> vocabulary_;
  std::unique_ptr<MaskTable> table_;  // has its own lock
};

// Where one sequence stands in its constraint. A copy is a branch of its own (n choices, beams,
// a draft that may be taken back). One thread at a time.
class ConstraintState {
 public:
  // At the beginning of a text.
  explicit ConstraintState(std::shared_ptr<const Constraint> constraint);

  ConstraintState(const ConstraintState& other);
  ConstraintState& operator=(const ConstraintState& other);
  ConstraintState(ConstraintState&&) noexcept;
  ConstraintState& operator=(ConstraintState&&) noexcept;
  ~ConstraintState();

  // Goes on by a token, or by bytes that are not cut at tokens. Either all is taken or nothing:
  // refused are bytes that may not come here (InvalidInput, with the place of the first), an end
  // where the text may not end, and, as Unsupported, a grammar that can be read in too many ways at
  // once (kMostReadings) or nests its rules too deep (kMostDepth). After an end nothing more is
  // taken.
  [[nodiscard]] Status accept(int32_t token);
  [[nodiscard]] Status accept(std::string_view bytes);

  // Whether the text may end here, or has been ended.
  [[nodiscard]] bool may_end() const;

  // Whether an end token has been taken.
  [[nodiscard]] bool ended() const { return ended_; }

  // Sets bit id % 32 of word id / 32 for every token that accept would take, and clears all others.
  // (Of a grammar that is close to kMostReadings also tokens with which it would pass it.) Requires
  // vocabulary().mask_words() words. Fails where no token may come (InvalidInput: the vocabulary
  // cannot write what the grammar wants, or the reply has ended), and as accept does where the
  // grammar has too many readings or nests too deep; the bits are all zero then.
  [[nodiscard]] Status mask(std::span<uint32_t> bits) const;

  // The bytes that must come next whatever the model says, at most `most`: "" where there is
  // a choice or the text may end. They can be taken without asking the model.
  [[nodiscard]] std::string forced(size_t most = 256) const;

  [[nodiscard]] const Constraint& constraint() const { return *constraint_; }

 private:
  std::shared_ptr<const Constraint> constraint_;
  std::unique_ptr<Place> place_;  // moves to newer tables of the constraint in const functions, too
  bool ended_ = false;
};

// Writes a mask as one row of ops::sample's masks (SampleParams): 0 where a bit is set, -infinity
// elsewhere. Requires a row no longer than 32 times the bits.
void write_mask_row(std::span<const uint32_t> bits, std::span<float> row);

// Whether a whole text fits, by the masks themselves: the text is cut into the vocabulary's longest
// tokens, each must be in the mask of its place, and the end at the end. Says what is wrong and at
// which byte.
[[nodiscard]] Status accepts(const std::shared_ptr<const Constraint>& constraint,
                             std::string_view text);

}  // namespace mynah::grammar
