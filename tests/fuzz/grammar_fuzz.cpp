// Any bytes as a constraint and a text for it: the first byte says of which kind, a zero byte ends
// the constraint. What is compiled masks exactly what it accepts.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "text/grammar/byte_vocabulary.h"
#include "text/grammar/constraint.h"
#include "text/grammar/constraint_source.h"

namespace mynah::grammar {
namespace {

// Places of a text at which every token is tried, and bytes that are taken.
constexpr size_t kMostPlaces = 4;
constexpr size_t kMostText = 200;

ConstraintSource source_of_bytes(uint8_t kind, std::string_view bytes) {
  ConstraintSource source;
  source.kind = static_cast<ConstraintSource::Kind>(kind % 5);
  source.schema = {.strict = (kind & 32U) != 0,
                   .open_objects = (kind & 64U) != 0,
                   .one_of_is_any_of = (kind & 128U) != 0};
  source.text = bytes;
  for (size_t at = 0; at < bytes.size(); at += 5) {
    source.choices.emplace_back(bytes.substr(at, 5));
  }
  return source;
}

void check_mask(const ConstraintState& state) {
  const TokenVocabulary& vocabulary = state.constraint().vocabulary();
  std::vector<uint32_t> bits(vocabulary.mask_words());
  if (const Status masked = state.mask(bits);
      !masked && masked.error().code == ErrorCode::Unsupported) {
    return;
  }
  for (int32_t token = 0; token < vocabulary.size(); ++token) {
    const bool is_allowed = has_token_bit(bits, token);
    ConstraintState next = state;
    const Status taken = next.accept(token);
    const bool is_too_much = !taken && taken.error().code == ErrorCode::Unsupported;
    MYNAH_CHECK(is_too_much || taken.has_value() == is_allowed,
                "a mask has the tokens that are accepted");
  }
}

void check(const ConstraintSource& source, std::string_view text) {
  static const auto vocabulary = byte_vocabulary();
  const auto grammar = grammar_of(source);
  if (!grammar) {
    MYNAH_CHECK(!grammar.error().message.empty(), "an error says what is wrong");
    return;
  }
  const auto constraint = Constraint::compile(*grammar, vocabulary);
  if (!constraint) {
    return;
  }
  ConstraintState state(*constraint);
  for (size_t at = 0; at <= text.size(); ++at) {
    if (at < kMostPlaces) {
      check_mask(state);
    }
    if (at < text.size() && !state.accept(text.substr(at, 1))) {
      break;
    }
  }
  const bool fits = state.may_end();
  const std::string forced = state.forced();
  MYNAH_CHECK(!fits || forced.empty(), "nothing is forced where a text may end");
  MYNAH_CHECK(state.accept(forced).has_value(), "what is forced is accepted");
  (void)accepts(*constraint, text);
}

}  // namespace
}  // namespace mynah::grammar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t end = std::min(bytes.find('\0'), bytes.size());
  const std::string_view text = bytes.substr(std::min(end + 1, bytes.size()));
  mynah::grammar::check(mynah::grammar::source_of_bytes(data[0], bytes.substr(0, end)),
                        text.substr(0, mynah::grammar::kMostText));
  return 0;
}
