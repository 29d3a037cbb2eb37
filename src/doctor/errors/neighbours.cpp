#include "doctor/errors/neighbours.h"

#include <algorithm>
#include <string>

namespace mynah::doctor {

namespace {

// A traceback, or what pip prints of one package, is shorter.
constexpr size_t kBlock = 4096;

}  // namespace

const std::vector<bool>& Neighbours::blocks_of(size_t error) {
  const auto [place, is_new] = blocks_.try_emplace(error);
  std::vector<bool>& blocks = place->second;
  if (is_new) {
    blocks.resize(text_.size() / kBlock + 1);
    for (const std::string& word : knowledge_.errors[error].beside) {
      for (size_t at = text_.find(word); at != std::string_view::npos;) {
        const size_t block = at / kBlock;
        blocks[block] = true;
        at = text_.find(word, (block + 1) * kBlock);
      }
    }
  }
  return blocks;
}

size_t Neighbours::meant(size_t error, size_t at) {
  const std::string& id = knowledge_.errors[error].id;
  for (size_t i = 0; i < knowledge_.errors.size(); ++i) {
    if (knowledge_.errors[i].instead_of != id) {
      continue;
    }
    const std::vector<bool>& blocks = blocks_of(i);
    const size_t block = at / kBlock;
    const auto first = blocks.begin() + static_cast<ptrdiff_t>(block - std::min<size_t>(block, 1));
    const auto last = blocks.begin() + static_cast<ptrdiff_t>(std::min(block + 2, blocks.size()));
    if (std::find(first, last, true) != last) {
      return i;
    }
  }
  return error;
}

}  // namespace mynah::doctor
