// Cards of which their name alone is known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

// Which lines of the knowledge base may say what a card can do.
enum class Trusted : uint8_t {
  Verified,  // those whose source was read: a failure may rest on them
  All,
};

// The product of a card of NVIDIA's whose name alone tells what it can do; null: that is known
// already, or nobody knows it.
[[nodiscard]] const Product* told_by_name(const Card& card, const Knowledge& knowledge,
                                          Trusted trusted);

// Gives such cards of a machine their compute capability.
void name_capabilities(Machine& machine, const Knowledge& knowledge, Trusted trusted);

// A card as somebody calls it: by its product's name, or by its compute capability ("RTX 5090",
// "12.0", "sm_120"). InvalidInput where the knowledge base has neither, with what was meant.
[[nodiscard]] Result<Card> card_called(std::string_view words, const Knowledge& knowledge);

}  // namespace mynah::doctor
