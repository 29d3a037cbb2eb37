#include "text/grammar/automaton.h"

#include "text/grammar/automaton_builder.h"

namespace mynah::grammar {

Result<Automaton> Automaton::compile(const Grammar& grammar) {
  AutomatonBuilder builder(grammar);
  MYNAH_TRY_STATUS(builder.build());
  builder.step_over_empty_rules();
  MYNAH_TRY_STATUS(builder.refuse_left_recursion());
  return builder.finish();
}

size_t Automaton::bytes_kept() const {
  const size_t edges = (bytes_.items.size() * sizeof(ByteEdge)) +
                       (empties_.items.size() * sizeof(StateId)) +
                       (calls_.items.size() * sizeof(Call));
  return edges + (size() * (3 * sizeof(uint32_t) + 1));
}

}  // namespace mynah::grammar
