#include "text/grammar/token_trie.h"

#include <algorithm>
#include <numeric>
#include <string_view>

namespace mynah::grammar {

TokenTrie::TokenTrie(std::span<const std::string> tokens) {
  std::vector<int32_t> order(tokens.size());
  std::iota(order.begin(), order.end(), 0);
  const auto bytes_of = [&](int32_t id) {
    return std::string_view(tokens[static_cast<size_t>(id)]);
  };
  std::erase_if(order, [&](int32_t id) { return bytes_of(id).empty(); });
  std::ranges::stable_sort(order, {}, bytes_of);  // char_traits compare as unsigned bytes
  std::string_view before;
  for (const int32_t id : order) {
    const std::string_view token = bytes_of(id);
    const auto shared =
        static_cast<size_t>(std::ranges::mismatch(before, token).in2 - token.begin());
    for (size_t i = shared; i < token.size(); ++i) {
      add_node(static_cast<uint8_t>(token[i]), static_cast<uint32_t>(i + 1));
    }
    tokens_.push_back(id);
    before = token;
  }
  close();
}

void TokenTrie::add_node(uint8_t byte, uint32_t depth) {
  bytes_.push_back(byte);
  depths_.push_back(depth);
  first_.push_back(static_cast<uint32_t>(tokens_.size()));
  longest_ = std::max(longest_, depth);
}

void TokenTrie::append(const TokenTrie& from, uint32_t node, bool with_tokens) {
  add_node(from.byte(node), from.depth(node));
  if (with_tokens) {
    const auto own = from.tokens(node);
    tokens_.insert(tokens_.end(), own.begin(), own.end());
  }
}

void TokenTrie::close() {
  first_.push_back(static_cast<uint32_t>(tokens_.size()));
  ends_.resize(bytes_.size());
  std::vector<uint32_t> open;
  const auto end_deeper_than = [&](uint32_t depth, uint32_t end) {
    while (!open.empty() && depths_[open.back()] >= depth) {
      ends_[open.back()] = end;
      open.pop_back();
    }
  };
  for (uint32_t node = 0; node < size(); ++node) {
    end_deeper_than(depths_[node], node);
    open.push_back(node);
  }
  end_deeper_than(0, size());
  for (auto* numbers : {&depths_, &ends_, &first_}) {
    numbers->shrink_to_fit();
  }
  bytes_.shrink_to_fit();
  tokens_.shrink_to_fit();
}

size_t TokenTrie::bytes_kept() const {
  return bytes_.capacity() +
         4 * (depths_.capacity() + ends_.capacity() + first_.capacity() + tokens_.capacity());
}

}  // namespace mynah::grammar
