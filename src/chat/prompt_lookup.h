// PromptLookup: guesses of how a text goes on, by how it went on where it said the same before
// (Yang et al. 2023, "Inference with Reference", arXiv:2304.04487; Saxena 2023, "Prompt Lookup
// Decoding").
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace mynah {

// Of one text. It guesses at every token, whether anybody asks or not, so that it knows without any
// cost how often it is right.
class PromptLookup {
 public:
  struct Guess {
    int32_t token = 0;
    double chance = 0;  // that it is right where those before it are
  };

  // A text that begins so: nothing is learned from it of how good guesses are.
  explicit PromptLookup(std::span<const int32_t> prompt);

  // A token that the text goes on with.
  void take(int32_t token);

  // What may follow the text with `behind` behind it; none where nothing is known, or where
  // `behind` is not what was guessed itself.
  [[nodiscard]] std::optional<Guess> guess(std::span<const int32_t> behind) const;

 private:
  // How far a guess is to be trusted: by the tokens that had to be alike for it, then by how many
  // guesses in a row were right.
  enum Trust : uint8_t { TwoAlike, ThreeAlike, FewRight, SomeRight, ManyRight };

  struct Record {
    double right = 0;
    double all = 0;
  };

  [[nodiscard]] Trust trust(int64_t right_in_a_row) const;
  // Token `i` of the text with its own guesses behind it.
  [[nodiscard]] int32_t at(int64_t i, std::span<const int32_t> behind) const;
  void add(int32_t token);
  // Where the text said before what it ends with now; -1: nowhere.
  void look_up();

  std::vector<int32_t> text_;
  // The place behind the last two, and the last three tokens that were such.
  std::unordered_map<uint64_t, int64_t> behind_two_;
  std::unordered_map<uint64_t, int64_t> behind_three_;
  int64_t next_ = -1;  // of the text: what is guessed to come; -1: nothing
  bool by_three_ = false;
  int64_t right_ = 0;  // guesses in a row
  std::array<Record, 5> records_;
};

}  // namespace mynah
