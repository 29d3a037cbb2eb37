#include "chat/mask_rows.h"

#include <algorithm>

#include "text/grammar/constraint.h"

namespace mynah {

void MaskRows::begin(size_t most) {
  // Some 3 MB of a vocabulary of 50,000.
  constexpr size_t kLeast = 16;
  ++step_;
  if (known_.size() < most || !rows_.defined()) {
    known_.assign(std::max(most, kLeast), {});
    rows_ = ops::empty(backend_, {std::ssize(known_), vocabulary_});
  }
}

int32_t MaskRows::row_of(const std::vector<uint32_t>& allowed) {
  const auto is_it = [&](const Row& row) { return row.used > 0 && row.allowed == allowed; };
  auto row = std::ranges::find_if(known_, is_it);
  const bool is_new = row == known_.end();
  if (is_new) {
    row = std::ranges::min_element(known_, {}, &Row::used);
    row->allowed = allowed;
  }
  row->used = step_;
  const auto number = static_cast<int32_t>(row - known_.begin());
  if (is_new) {
    written_.assign(static_cast<size_t>(vocabulary_), 0.0F);
    if (!allowed.empty()) {
      grammar::write_mask_row(allowed, written_);
    }
    backend_.upload(written_.data(), rows_.narrow(0, number, 1));
  }
  return number;
}

}  // namespace mynah
