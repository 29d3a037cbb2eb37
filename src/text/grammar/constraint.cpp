#include "text/grammar/constraint.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "base/check.h"
#include "text/grammar/mask_table.h"

namespace mynah::grammar {
namespace {

constexpr size_t kByteBits = 8;
using RowsOfBytes = std::array<std::array<float, kByteBits>, 256>;

// The part of a mask's row that each byte of its bits stands for.
RowsOfBytes rows_of_bytes() {
  RowsOfBytes rows{};
  for (size_t byte = 0; byte < rows.size(); ++byte) {
    for (size_t bit = 0; bit < kByteBits; ++bit) {
      rows[byte][bit] = (byte >> bit & 1U) != 0 ? 0.0F : -std::numeric_limits<float>::infinity();
    }
  }
  return rows;
}

}  // namespace

Constraint::Constraint(std::shared_ptr<const TokenVocabulary> vocabulary,
                       std::unique_ptr<MaskTable> table)
    : vocabulary_(std::move(vocabulary)), table_(std::move(table)) {}

Constraint::~Constraint() = default;

Result<std::shared_ptr<const Constraint>> Constraint::compile(
    const Grammar& grammar, std::shared_ptr<const TokenVocabulary> vocabulary) {
  MYNAH_TRY(Automaton automaton, Automaton::compile(grammar));
  auto table = std::make_unique<MaskTable>(std::move(automaton), *vocabulary);
  return std::shared_ptr<const Constraint>(new Constraint(std::move(vocabulary), std::move(table)));
}

size_t Constraint::bytes_kept() const {
  return table_->bytes_kept();
}

ConstraintState::ConstraintState(std::shared_ptr<const Constraint> constraint)
    : constraint_(std::move(constraint)),
      place_(std::make_unique<Place>(constraint_->table_->start())) {}

ConstraintState::ConstraintState(const ConstraintState& other)
    : constraint_(other.constraint_),
      place_(std::make_unique<Place>(*other.place_)),
      ended_(other.ended_) {}

ConstraintState& ConstraintState::operator=(const ConstraintState& other) {
  if (this != &other) {
    *this = ConstraintState(other);
  }
  return *this;
}

ConstraintState::ConstraintState(ConstraintState&&) noexcept = default;
ConstraintState& ConstraintState::operator=(ConstraintState&&) noexcept = default;
ConstraintState::~ConstraintState() = default;

Status ConstraintState::accept(int32_t token) {
  const TokenVocabulary& vocabulary = *constraint_->vocabulary_;
  if (token < 0 || token >= vocabulary.size()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted a token below {}, found {}", vocabulary.size(), token));
  }
  if (vocabulary.is_end(token)) {
    if (ended_ || !may_end()) {
      return fail(ErrorCode::InvalidInput, "the text may not end here: the grammar wants more");
    }
    ended_ = true;
    return {};
  }
  if (vocabulary.bytes(token).empty()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("token {} writes no text and may not come", token));
  }
  return accept(vocabulary.bytes(token));
}

Status ConstraintState::accept(std::string_view bytes) {
  if (ended_ && !bytes.empty()) {
    return fail(ErrorCode::InvalidInput, "the text has ended");
  }
  return constraint_->table_->accept(*place_, bytes);
}

bool ConstraintState::may_end() const {
  return ended_ || constraint_->table_->ends(*place_);
}

Status ConstraintState::mask(std::span<uint32_t> bits) const {
  MYNAH_CHECK(bits.size() == constraint_->vocabulary_->mask_words(), "a mask has its words");
  if (ended_) {
    std::ranges::fill(bits, 0);
    return fail(ErrorCode::InvalidInput, "no token may come next: the text has ended");
  }
  return constraint_->table_->mask(*place_, bits);
}

std::string ConstraintState::forced(size_t most) const {
  return ended_ ? "" : constraint_->table_->forced(*place_, most);
}

void write_mask_row(std::span<const uint32_t> bits, std::span<float> row) {
  MYNAH_CHECK(row.size() <= 32 * bits.size(), "a row of logits is no longer than its mask");
  // A row is written for every token of a reply: eight of it at once.
  static const RowsOfBytes rows = rows_of_bytes();
  const auto byte_at = [&](size_t token) { return bits[token / 32] >> (token % 32) & 0xFFU; };
  const size_t whole = row.size() / kByteBits * kByteBits;
  for (size_t token = 0; token < whole; token += kByteBits) {
    std::copy_n(rows[byte_at(token)].data(), kByteBits, row.data() + token);
  }
  if (whole < row.size()) {
    std::copy_n(rows[byte_at(whole)].data(), row.size() - whole, row.data() + whole);
  }
}

Status accepts(const std::shared_ptr<const Constraint>& constraint, std::string_view text) {
  const TokenVocabulary& vocabulary = constraint->vocabulary();
  const TokenTrie& trie = vocabulary.trie();
  ConstraintState state(constraint);
  std::vector<uint32_t> bits(vocabulary.mask_words());
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const auto at_byte = [&] { return fmt::format("at byte {}", at); };
    // The longest token that the rest begins with.
    int32_t longest = -1;
    for (uint32_t node = 0; node < trie.size();) {
      const uint32_t depth = trie.depth(node);
      if (depth <= rest.size() && trie.byte(node) == static_cast<uint8_t>(rest[depth - 1])) {
        if (const auto tokens = trie.tokens(node); !tokens.empty()) {
          longest = tokens.front();
        }
        ++node;
      } else {
        node = trie.end(node);
      }
    }
    if (longest < 0) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: the vocabulary has no token for it", at_byte()));
    }
    const size_t length = vocabulary.bytes(longest).size();
    if (const Status made = state.mask(bits); !made) {
      return std::unexpected(Error(made.error()).while_doing(at_byte()));
    }
    if (const Status taken = state.accept(longest); !taken) {
      return std::unexpected(Error(taken.error()).while_doing(at_byte()));
    }
    MYNAH_CHECK(has_token_bit(bits, longest), "a mask has the tokens that are accepted");
    at += length;
  }
  if (!state.may_end()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("at byte {}: the text ends where the grammar wants more", text.size()));
  }
  return {};
}

}  // namespace mynah::grammar
