#include "doctor/machine/card_names.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest_name.h"
#include "doctor/characters.h"
#include "doctor/machine/machine_rule_parts.h"
#include "formats/byte_reader.h"

namespace mynah::doctor {

namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "12.0" of itself and of "sm_120", "compute_120", "sm120a"; none: it is not written as one.
std::optional<std::string> capability_in(std::string_view words) {
  const std::string text = small_letters(words);
  if (const size_t dot = text.find('.'); dot != std::string::npos) {
    const bool is_one = is_number(std::string_view(text).substr(0, dot)) &&
                        is_number(std::string_view(text).substr(dot + 1));
    return is_one ? std::optional(text) : std::nullopt;
  }
  for (const std::string_view prefix : {"sm_", "sm", "compute_"}) {
    if (!text.starts_with(prefix)) {
      continue;
    }
    std::string_view number = std::string_view(text).substr(prefix.size());
    if (number.ends_with('a') || number.ends_with('f')) {
      number.remove_suffix(1);
    }
    if (number.size() >= 2 && is_number(number)) {
      return fmt::format("{}.{}", number.substr(0, number.size() - 1), number.back());
    }
  }
  return std::nullopt;
}

// The product that somebody means, who may leave out the name of a GeForce card's series: "4090",
// "3060 ti".
const Product* product_called(std::string_view words, const Knowledge& knowledge) {
  if (const Product* const product = knowledge.card(words)) {
    return product;
  }
  if (words.empty() || !is_digit(words.front()) || words.find('.') != std::string_view::npos) {
    return nullptr;
  }
  for (const std::string_view series : {"GeForce RTX ", "GeForce GTX ", "GeForce GT "}) {
    if (const Product* const product = knowledge.card(std::string(series).append(words))) {
      return product;
    }
  }
  return nullptr;
}

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  for (size_t at = 0; at < name.size();) {
    const size_t end = std::min(name.find(' ', at), name.size());
    if (end > at) {
      words.push_back(small_letters(name.substr(at, end - at)));
    }
    at = end + 1;
  }
  return words;
}

// " (did you mean RTX PRO 6000 Blackwell?)": the product that has all the words, as people leave
// some out, or else one that is written much alike. A number is what tells products apart: none is
// near whose number is another in more than a letter.
std::string nearest_product(std::string_view called, const Knowledge& knowledge) {
  const std::vector<std::string> words = words_of(called);
  std::vector<std::string> near;
  for (const Product& product : knowledge.products) {
    const std::vector<std::string> own = words_of(product.name);
    const auto within = [&](const std::string& word, size_t edits) {
      return std::ranges::any_of(
          own, [&](const std::string& other) { return edit_distance(word, other) <= edits; });
    };
    if (words.size() > 1 &&
        std::ranges::all_of(words, [&](const std::string& word) { return within(word, 0); })) {
      return fmt::format(" (did you mean {}?)", product.name);
    }
    if (std::ranges::all_of(words, [&](const std::string& word) {
          return word.find_first_of("0123456789") == std::string::npos || within(word, 1);
        })) {
      near.push_back(product.name);
    }
  }
  return suggestion(called, near);
}

}  // namespace

const Product* told_by_name(const Card& card, const Knowledge& knowledge, Trusted trusted) {
  const bool nvidia = card.vendor.empty() || card.vendor == kNvidiaVendor;
  const Product* const product =
      nvidia && card.compute_capability.empty() ? product_called(card.name, knowledge) : nullptr;
  return product != nullptr && (product->verified || trusted == Trusted::All) ? product : nullptr;
}

void name_capabilities(Machine& machine, const Knowledge& knowledge, Trusted trusted) {
  for (Card& card : machine.cards) {
    if (const Product* const product = told_by_name(card, knowledge, trusted)) {
      card.compute_capability = product->compute_capability;
    }
  }
}

Result<Card> card_called(std::string_view words, const Knowledge& knowledge) {
  Card card;
  card.vendor = kNvidiaVendor;
  if (const Product* const product = product_called(words, knowledge)) {
    card.name = product->name;
    return card;
  }
  if (const auto capability = capability_in(words)) {
    if (knowledge.architecture(*capability) != nullptr) {
      card.name = "compute capability " + *capability;
      card.compute_capability = *capability;
      return card;
    }
    std::vector<std::string> known;
    known.reserve(knowledge.architectures.size());
    for (const Architecture& architecture : knowledge.architectures) {
      known.push_back(architecture.compute_capability);
    }
    return fail(ErrorCode::InvalidInput,
                fmt::format("the knowledge base has no cards of compute capability {}; it has {}",
                            *capability, fmt::join(known, ", ")));
  }
  return fail(ErrorCode::InvalidInput,
              fmt::format("the knowledge base has no card {}{}; of another one of NVIDIA's its "
                          "compute capability will do, such as 8.6, and cards of other makers are "
                          "told by facts (--as FILE)",
                          in_quotes(words), nearest_product(words, knowledge)));
}

}  // namespace mynah::doctor
