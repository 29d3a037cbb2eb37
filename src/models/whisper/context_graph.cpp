#include "models/whisper/context_graph.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah::whisper {
namespace {

// Scripts that put no space between words, or endings behind them: Unicode's wide letters (Han,
// kana, Hangul), and the blocks of Thai to Myanmar and of Khmer.
bool is_written_without_spaces(char32_t letter) {
  return is_wide(letter) || (letter >= U'\u0E00' && letter <= U'\u109F') ||
         (letter >= U'\u1780' && letter <= U'\u17FF');
}

bool is_letter_or_number(char32_t character) {
  return is_letter(character) || is_number(character) || is_mark(character);
}

// The word with a capital, where it is written in small letters; else empty.
std::string capitalized(std::u32string_view word) {
  if (to_lower(word) != word || !is_cased_letter(word.front())) {
    return {};
  }
  std::u32string capital(word);
  capital.front() = to_title(word.front());
  return capital == word ? std::string() : to_utf8(capital);
}

}  // namespace

WordBonus WordBonus::among(size_t spellings) const {
  const float folds = std::log(std::max(1.0F, static_cast<float>(spellings) / many));
  const float share = std::max(0.0F, 1.0F - less * folds / most);
  WordBonus each = *this;
  each.go_on *= share;
  each.most *= share;
  each.begin = std::min(begin, each.most);
  return each;
}

ContextGraph::ContextGraph(const WhisperTokenizer& tokenizer, std::span<const std::string> words,
                           std::span<const int32_t> suppressed, const WordBonus& bonus)
    : tokenizer_(tokenizer) {
  std::vector<Spelling> spellings;
  spellings.reserve(words.size());
  for (const std::string& word : words) {
    add_spellings(word, spellings);
  }
  std::erase_if(spellings, [&](const Spelling& spelling) {
    return std::ranges::any_of(spelling.tokens, [&](int32_t token) {
      return std::ranges::binary_search(suppressed, token);
    });
  });
  std::ranges::sort(spellings, {}, &Spelling::tokens);
  const auto twice = std::ranges::unique(spellings, {}, &Spelling::tokens);
  spellings.erase(twice.begin(), twice.end());
  const WordBonus among = bonus.among(spellings.size());
  most_ = among.most;
  build(spellings, among);
  link_failures();
}

void ContextGraph::add_spellings(const std::string& word, std::vector<Spelling>& all) const {
  const std::u32string letters = to_code_points(word);
  if (letters.empty()) {
    return;
  }
  const bool open =
      is_letter_or_number(letters.back()) && !is_written_without_spaces(letters.back());
  all.push_back({tokenizer_.encode(" " + word), open});
  if (is_written_without_spaces(letters.front())) {
    all.push_back({tokenizer_.encode(word), open});
  }
  if (const std::string capital = capitalized(letters); !capital.empty()) {
    all.push_back({tokenizer_.encode(" " + capital), open});
  }
}

// Level by level: a node stands for the spellings, side by side in their order, that begin with its
// tokens.
void ContextGraph::build(std::span<const Spelling> sorted, const WordBonus& bonus) {
  struct Range {
    size_t begin = 0;
    size_t end = 0;
    size_t depth = 0;
  };

  std::vector<Range> ranges = {{0, sorted.size(), 0}};
  nodes_.emplace_back();
  for (size_t node = 0; node < ranges.size(); ++node) {
    const auto [begin, end, depth] = ranges[node];
    size_t first = begin;
    // The shortest stands first: the node's own.
    if (first < end && sorted[first].tokens.size() == depth) {
      nodes_[node].end = true;
      nodes_[node].open = sorted[first].open;
      ++first;
    }
    nodes_[node].first_child = static_cast<int32_t>(nodes_.size());
    while (first < end) {
      const int32_t token = sorted[first].tokens[depth];
      size_t last = first + 1;
      while (last < end && sorted[last].tokens[depth] == token) {
        ++last;
      }
      nodes_.push_back(
          {.token = token,
           .score = std::min(bonus.most, bonus.begin + bonus.go_on * static_cast<float>(depth))});
      ranges.push_back({first, last, depth + 1});
      ++nodes_[node].child_count;
      first = last;
    }
  }
}

// Nodes stand level by level: a node's failure is found before its children's are asked for.
void ContextGraph::link_failures() {
  for (int32_t parent = 1; parent < static_cast<int32_t>(nodes_.size()); ++parent) {
    for (int32_t k = 0; k < node(parent).child_count; ++k) {
      const int32_t number = node(parent).first_child + k;
      Node& made = nodes_[static_cast<size_t>(number)];
      int32_t fail = node(parent).fail;
      made.fail = child(fail, made.token);
      while (made.fail == 0 && fail != 0) {
        fail = node(fail).fail;
        made.fail = child(fail, made.token);
      }
    }
  }
}

int32_t ContextGraph::child(int32_t of, int32_t token) const {
  const Node& parent = node(of);
  const auto children = std::span(nodes_).subspan(static_cast<size_t>(parent.first_child),
                                                  static_cast<size_t>(parent.child_count));
  const auto found = std::ranges::lower_bound(children, token, {}, &Node::token);
  return found == children.end() || found->token != token
             ? 0
             : parent.first_child + static_cast<int32_t>(found - children.begin());
}

bool ContextGraph::goes_on_with_letters(int32_t token) const {
  const std::u32string letters = to_code_points(tokenizer_.bytes(token));
  // A token that is part of a character is of a script with long ones, or an accented letter.
  return !letters.empty() &&
         (is_letter_or_number(letters.front()) || letters.front() == kReplacementCharacter);
}

bool ContextGraph::completes(const Node& at, int32_t token) const {
  return at.end && (!at.open || token >= tokenizer_.special().eot || !goes_on_with_letters(token));
}

float ContextGraph::step(State& state, int32_t token) const {
  // The longest end of the text that the token goes on in, or that is a complete word.
  const float before = state.held;
  int32_t at = state.node;
  int32_t next = child(at, token);
  float held = before;
  while (next == 0 && at != 0 && !completes(node(at), token)) {
    at = node(at).fail;
    held = node(at).score;
    next = child(at, token);
  }
  const float kept = completes(node(at), token) ? complete(state, at, held) : 0.0F;
  if (next != 0) {
    // What is complete of a longer word is kept, whatever becomes of that.
    held += node(next).score - node(at).score;
    state.node = next;
    state.held = held - kept;
    return held - before;
  }
  next = at == 0 ? 0 : child(0, token);
  state.node = next;
  state.held = node(next).score;
  return kept + state.held - before;
}

float ContextGraph::complete(State& state, int32_t at, float held) {
  if (std::ranges::find(state.said, at) != state.said.end()) {
    return 0;
  }
  state.said.push_back(at);
  return held;
}

void ContextGraph::add_biases(const State& state, std::vector<TokenBias>& biases) const {
  biases.clear();
  if (state.node == 0) {
    return;
  }
  const Node& begun = node(state.node);
  const float lost_by_others = begun.end ? 0.0F : state.held;
  for (int32_t k = 0; k < begun.child_count; ++k) {
    const Node& next = node(begun.first_child + k);
    biases.push_back({.token = next.token, .bias = next.score - begun.score + lost_by_others});
  }
}

}  // namespace mynah::whisper
