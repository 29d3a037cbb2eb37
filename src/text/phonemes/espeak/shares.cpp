#include "text/phonemes/espeak/shares.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/ascii.h"
#include "text/utf8.h"

namespace mynah::espeak {

namespace {

// Edits between two texts' beginnings, all of them.
class Distances {
 public:
  Distances(std::u32string_view a, std::u32string_view b)
      : a_(a), b_(b), cells_((a.size() + 1) * (b.size() + 1)) {
    for (size_t i = 0; i <= a.size(); ++i) {
      for (size_t j = 0; j <= b.size(); ++j) {
        at(i, j) = i == 0   ? static_cast<uint32_t>(j)
                   : j == 0 ? static_cast<uint32_t>(i)
                            : std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, replaced(i, j)});
      }
    }
  }

  // For each character of a, the one of b that it stands for, or the one before which it stands.
  [[nodiscard]] std::vector<size_t> partners() {
    std::vector<size_t> partner(a_.size());
    size_t j = b_.size();
    for (size_t i = a_.size(); i > 0;) {
      if (j > 0 && at(i, j) == replaced(i, j)) {
        partner[--i] = --j;
      } else if (j > 0 && at(i, j) == at(i, j - 1) + 1) {
        --j;
      } else {
        partner[--i] = j;
      }
    }
    return partner;
  }

 private:
  uint32_t& at(size_t i, size_t j) { return cells_[i * (b_.size() + 1) + j]; }

  uint32_t replaced(size_t i, size_t j) {
    return at(i - 1, j - 1) + (a_[i - 1] == b_[j - 1] ? 0U : 1U);
  }

  std::u32string_view a_;
  std::u32string_view b_;
  std::vector<uint32_t> cells_;
};

std::string trimmed(std::u32string_view text) {
  const size_t begin = std::min(text.find_first_not_of(U' '), text.size());
  const size_t end = text.find_last_not_of(U' ');
  return end == std::u32string_view::npos ? "" : to_utf8(text.substr(begin, end + 1 - begin));
}

}  // namespace

std::vector<Share> share_out(std::string_view whole, std::span<const std::string> alone) {
  const std::u32string all = to_code_points(whole);
  std::u32string together;
  std::vector<size_t> word_of;
  for (size_t i = 0; i < alone.size(); ++i) {
    together += to_code_points(alone[i]) + U" ";
    word_of.resize(together.size(), i);
  }
  if (alone.empty()) {
    return {};
  }
  // What no sentence comes near: the first word has it all.
  constexpr size_t kMostCells = 1 << 24;
  if (all.size() * together.size() > kMostCells) {
    std::vector<Share> shares(alone.size());
    shares.front().phonemes = whole;
    return shares;
  }
  std::vector<std::u32string> parts(alone.size());
  const std::vector<size_t> partners = Distances(all, together).partners();
  for (size_t i = 0; i < all.size(); ++i) {
    parts[word_of[std::min(partners[i], word_of.size() - 1)]] += all[i];
  }
  std::vector<Share> shares(parts.size());
  bool next_is_apart = true;
  for (size_t i = parts.size(); i-- > 0;) {
    const std::u32string& part = parts[i];
    shares[i] = {.phonemes = trimmed(part),
                 .space_after = next_is_apart || part.empty() || part.back() == U' '};
    next_is_apart = part.empty() ? next_is_apart : part.front() == U' ';
  }
  return shares;
}

}  // namespace mynah::espeak
