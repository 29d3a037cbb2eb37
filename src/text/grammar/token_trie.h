// Tokens by their bytes: a trie in one array, walked from left to right.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mynah::grammar {

// Nodes in preorder. Node i's subtree is [i, end(i)), its first child, if it has any, i + 1, and
// the token ids of the whole subtree lie behind each other, its own first. The root is not a node.
class TokenTrie {
 public:
  TokenTrie() = default;
  // Of the tokens that are not empty.
  explicit TokenTrie(std::span<const std::string> tokens);

  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(bytes_.size()); }

  [[nodiscard]] uint8_t byte(uint32_t node) const { return bytes_[node]; }

  // Bytes from the root to here, this one included.
  [[nodiscard]] uint32_t depth(uint32_t node) const { return depths_[node]; }

  [[nodiscard]] uint32_t end(uint32_t node) const { return ends_[node]; }

  // Tokens that end at the node.
  [[nodiscard]] std::span<const int32_t> tokens(uint32_t node) const {
    return tokens(node, node + 1);
  }

  // Tokens that end at nodes from `first` on and before `last`.
  [[nodiscard]] std::span<const int32_t> tokens(uint32_t first, uint32_t last) const {
    return std::span(tokens_).subspan(first_[first], first_[last] - first_[first]);
  }

  [[nodiscard]] uint32_t longest() const { return longest_; }

  [[nodiscard]] size_t bytes_kept() const;

  // Builds a trie node by node: `node` of `from` with its tokens, behind all that were added
  // before. Requires rising nodes, each behind its parent.
  void append(const TokenTrie& from, uint32_t node, bool with_tokens);
  // Ends such a building.
  void close();

 private:
  void add_node(uint8_t byte, uint32_t depth);

  std::vector<uint8_t> bytes_;
  std::vector<uint32_t> depths_;
  std::vector<uint32_t> ends_;
  std::vector<uint32_t> first_;  // one more than nodes
  std::vector<int32_t> tokens_;
  uint32_t longest_ = 0;
};

}  // namespace mynah::grammar
