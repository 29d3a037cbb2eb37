// Masks of a vocabulary for the places of an automaton, kept where they were made: internal to
// Constraint.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "text/grammar/configs.h"
#include "text/grammar/plain_text.h"
#include "text/grammar/token_set.h"
#include "text/grammar/vocabulary.h"

namespace mynah::grammar {

// What a constraint keeps of its sequences' steps and masks, about; beyond it, it forgets all and
// learns anew.
inline constexpr size_t kMostConstraintBytes = size_t{64} << 20;

// Tokens by what the states of one group say of them, whatever stands below (XGrammar's
// context-independent and -dependent tokens, arXiv:2411.15100, section 3.1).
struct Classified {
  TokenSet allowed;
  TokenTrie uncertain;  // the rule may end within the token
};

// What was learned since the table was made or last forgot. Sequences hold the one that their
// config is of, until they move to the newest.
struct Generation {
  explicit Generation(const Automaton& automaton) : configs(automaton) {}

  Configs configs;
  PlainText plain;
  std::unordered_map<SetId, Classified> classified;
  std::unordered_map<ConfigId, std::vector<uint32_t>> masks;
  size_t bytes = 0;  // of the two above

  [[nodiscard]] size_t bytes_kept() const {
    return bytes + configs.bytes_kept() + plain.bytes_kept();
  }
};

// A place in a text. Requires that it stays with one table.
struct Place {
  std::shared_ptr<Generation> generation;
  ConfigId config = Configs::kDead;
};

// Any number of threads may use it, with a place each.
class MaskTable {
 public:
  MaskTable(Automaton automaton, const TokenVocabulary& vocabulary);

  [[nodiscard]] Place start() const;
  [[nodiscard]] bool ends(const Place& place) const;

  // As ConstraintState has them.
  [[nodiscard]] Status accept(Place& place, std::string_view bytes) const;
  [[nodiscard]] Status mask(Place& place, std::span<uint32_t> bits) const;
  [[nodiscard]] std::string forced(Place& place, size_t most) const;

  [[nodiscard]] size_t bytes_kept() const;

 private:
  // Called with the lock held.
  void move_to_newest(Place& place) const;
  // Nothing where kMostWork was used up.
  [[nodiscard]] const Classified* classify(Generation& generation, SetId set) const;
  [[nodiscard]] bool add_uncertain(Configs& configs, ConfigId config, const TokenTrie& trie,
                                   std::span<uint32_t> bits) const;

  const Automaton automaton_;
  const TokenVocabulary& vocabulary_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<Generation> newest_;
};

}  // namespace mynah::grammar
