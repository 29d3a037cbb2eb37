// What may follow a number: per cent, a unit, a scale.
#pragma once

#include <cstddef>
#include <string>

#include "text/spoken/spoken_text.h"
#include "text/spoken/tokens.h"

namespace mynah {

struct Tail {
  size_t end = 0;
  std::string words;  // empty: nothing of the kind follows
};

// "%", "km/h", "in.", 12": `number` is where the number begins, `at` one past it.
[[nodiscard]] Tail unit_tail_at(const Tokens& tokens, size_t number, size_t at, bool singular,
                                const SpokenOptions& options);

// The same, and "2x", "30k", "3bn".
[[nodiscard]] Tail tail_at(const Tokens& tokens, size_t number, size_t at, bool singular,
                           const SpokenOptions& options);

// "a 5 km run", "a 10-inch pan": what stands before a noun is singular.
[[nodiscard]] bool is_attribute(const Tokens& tokens, size_t at, size_t end);

// "the 100 m dash", "200 m relay": whether a noun that the amount describes stands behind its tail.
[[nodiscard]] bool stands_before_noun(const Tokens& tokens, size_t at, const Tail& tail);

}  // namespace mynah
