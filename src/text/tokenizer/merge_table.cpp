#include "text/tokenizer/merge_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "formats/byte_reader.h"
#include "text/tokenizer/mark_finder.h"

namespace mynah {
namespace {

// What tokens may be that no merge makes.
constexpr std::initializer_list<TokenKind> kNeverMade = {
    TokenKind::Byte, TokenKind::Added, TokenKind::Mark, TokenKind::Control, TokenKind::Unused};

// So few take no longer than a thread to begin.
constexpr size_t kMergesOfAThread = 16384;

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
  table.merges_.resize(lines->size());
  table.slots_.assign(std::bit_ceil(lines->size() * 3 / 2 + 2), kFree);
  table.shift_ = 64 - std::countr_zero(table.slots_.size());
  // Looking up a large vocabulary's merges takes longer than reading its model's weights.
  const size_t threads = std::clamp<size_t>(lines->size() / kMergesOfAThread, 1,
                                            std::max(1U, std::thread::hardware_concurrency()));
  std::vector<Status> told(threads);
  {
    std::vector<std::jthread> all;
    all.reserve(threads);
    for (size_t i = 0; i < threads; ++i) {
      all.emplace_back([&, i] {
        const size_t first = i * lines->size() / threads;
        const size_t count = (i + 1) * lines->size() / threads - first;
        told[i] = read_some(file, tokens, spelling, std::span(*lines).subspan(first, count), first,
                            std::span(table.merges_).subspan(first, count));
      });
    }
  }
  for (Status& status : told) {
    MYNAH_TRY_STATUS(std::move(status));
  }
  for (size_t rank = 0; rank < table.merges_.size(); ++rank) {
    table.insert(rank);
  }
  return table;
}

Status MergeTable::read_some(const TensorFile& file, const TokenTable& tokens,
                             TokenSpelling spelling, std::span<const std::string> lines,
                             size_t first, std::span<Merge> merges) {
  std::string both;
  std::optional<MarkFinder> others;
  // Most lists make tokens in the order of their ids: that one is looked at first.
  int32_t next = 0;
  for (size_t at = 0; at < lines.size(); ++at) {
    const std::string_view line = lines[at];
    // A token may begin with a space, but not end with one.
    const size_t space = line.find(' ', 1);
    if (space == std::string::npos) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: merge {}: wanted two tokens with a space between, found {}",
                              file.path, first + at, in_quotes(line)));
    }
    both = token_bytes(line.substr(0, space), spelling);
    const size_t middle = both.size();
    both += token_bytes(line.substr(space + 1), spelling);
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
                                file.path, first + at, in_quotes(line)));
      }
    }
    merges[at] = {.left = ids[0], .right = ids[1], .id = ids[2]};
    next = ids[2] + 1;
  }
  return {};
}

void MergeTable::insert(size_t rank) {
  const Merge& merge = merges_[rank];
  if (merge.left < 0 || merge.right < 0 || merge.id < 0) {
    return;
  }
  // Of two merges of the same tokens the first counts.
  if (uint32_t& slot = slots_[slot_of(merge.left, merge.right)]; slot == kFree) {
    slot = static_cast<uint32_t>(rank);
  }
}

}  // namespace mynah
