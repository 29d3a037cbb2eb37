#include "text/tokenizer/merge_table.h"

#include <array>
#include <bit>
#include <optional>

#include <fmt/format.h>

#include "formats/byte_reader.h"
#include "text/tokenizer/mark_finder.h"

namespace mynah {
namespace {

// What tokens may be that no merge makes.
constexpr std::initializer_list<TokenKind> kNeverMade = {
    TokenKind::Byte, TokenKind::Added, TokenKind::Mark, TokenKind::Control, TokenKind::Unused};

}  // namespace

Result<MergeTable> MergeTable::read(const TensorFile& file, const TokenTable& tokens,
                                    TokenSpelling spelling) {
  MYNAH_TRY(const auto* lines,
            metadata_value<std::vector<std::string>>(file, "tokenizer.ggml.merges"));
  if (lines == nullptr) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted tokenizer.ggml.merges, found none; convert the model anew",
                            file.path));
  }
  MergeTable table;
  table.merges_.reserve(lines->size());
  table.slots_.assign(std::bit_ceil(lines->size() * 3 / 2 + 2), kFree);
  table.shift_ = 64 - std::countr_zero(table.slots_.size());
  std::string both;
  std::optional<MarkFinder> others;
  // Most lists make tokens in the order of their ids: that one is looked at first.
  int32_t next = 0;
  for (const std::string& line : *lines) {
    // A token may begin with a space, but not end with one.
    const size_t space = line.find(' ', 1);
    if (space == std::string::npos) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: merge {}: wanted two tokens with a space between, found {}",
                              file.path, table.merges_.size(), in_quotes(line)));
    }
    const std::string_view view(line);
    both = token_bytes(view.substr(0, space), spelling);
    const size_t middle = both.size();
    both += token_bytes(view.substr(space + 1), spelling);
    const std::string_view bytes(both);
    const std::array parts = {bytes.substr(0, middle), bytes.substr(middle), bytes};
    std::array<int32_t, 3> ids{};
    for (size_t i = 0; i < parts.size(); ++i) {
      const bool is_next = i == 2 && next < tokens.size() && tokens.bytes(next) == parts[i] &&
                           tokens.kind(next) == TokenKind::Text;
      ids[i] = is_next ? next : tokens.find(parts[i]);
      if (ids[i] >= 0) {
        continue;
      }
      if (!others) {
        others.emplace(tokens, kNeverMade);
      }
      if (others->find(parts[i]) < 0) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("{}: merge {}: wanted tokens of the vocabulary, found {}; convert "
                                "the model anew",
                                file.path, table.merges_.size(), in_quotes(line)));
      }
    }
    table.merges_.push_back({.left = ids[0], .right = ids[1], .id = ids[2]});
    table.insert_last();
    next = ids[2] + 1;
  }
  return table;
}

void MergeTable::insert_last() {
  const Merge& merge = merges_.back();
  if (merge.left < 0 || merge.right < 0 || merge.id < 0) {
    return;
  }
  // Of two merges of the same tokens the first counts.
  if (uint32_t& slot = slots_[slot_of(merge.left, merge.right)]; slot == kFree) {
    slot = static_cast<uint32_t>(merges_.size() - 1);
  }
}

}  // namespace mynah
