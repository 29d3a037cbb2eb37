#include <algorithm>

#include "speech/writer_parts.h"
#include "speech/writers.h"

namespace mynah {

namespace {

bool is_special(std::string_view token) {
  return token.starts_with("<|") && token.ends_with("|>");
}

// Which words of a segment make up one piece.
struct Piece {
  size_t first_word = 0;
  size_t end_word = 0;
};

std::vector<Piece> cut(const std::vector<Word>& words, size_t max_characters) {
  std::vector<Piece> pieces;
  size_t length = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t added = character_count(words[i].text);
    if (pieces.empty() || length + added > max_characters) {
      pieces.push_back({.first_word = i, .end_word = i});
      length = 0;
    }
    length += added;
    pieces.back().end_word = i + 1;
  }
  return pieces;
}

Segment piece_of(const Segment& segment, const Piece& piece) {
  Segment part = segment;
  part.words.assign(segment.words.begin() + static_cast<std::ptrdiff_t>(piece.first_word),
                    segment.words.begin() + static_cast<std::ptrdiff_t>(piece.end_word));
  part.start_s = part.words.front().start_s;
  part.end_s = part.words.back().end_s;
  part.text.clear();
  for (const Word& word : part.words) {
    part.text += word.text;
  }
  if (piece.first_word > 0) {
    part.opening.reset();
  }
  if (piece.end_word < segment.words.size()) {
    part.closing.reset();
  }
  part.tokens.clear();
  part.token_log_probabilities.clear();
  return part;
}

}  // namespace

std::vector<std::optional<size_t>> token_words(
    const Segment& segment, const std::function<std::string(int32_t)>& token_text) {
  std::vector<std::optional<size_t>> result(segment.tokens.size());
  if (segment.words.empty() || !token_text) {
    return result;
  }
  // Tokens and words spell the same bytes: a token belongs to the word its first byte falls in.
  size_t word = 0;
  size_t word_end = segment.words[0].text.size();
  size_t position = 0;
  for (size_t i = 0; i < segment.tokens.size(); ++i) {
    const std::string text = token_text(segment.tokens[i]);
    if (text.empty() || is_special(text)) {
      continue;
    }
    while (position >= word_end && word + 1 < segment.words.size()) {
      ++word;
      word_end += segment.words[word].text.size();
    }
    result[i] = word;
    position += text.size();
  }
  return result;
}

std::vector<Segment> split_segments(const std::vector<Segment>& segments, int max_characters,
                                    const std::function<std::string(int32_t)>& token_text) {
  std::vector<Segment> result;
  const auto most = static_cast<size_t>(std::max(1, max_characters));
  for (const Segment& segment : segments) {
    if (segment.words.empty() || character_count(segment.text) <= most) {
      result.push_back(segment);
      continue;
    }
    const std::vector<Piece> pieces = cut(segment.words, most);
    const size_t first = result.size();
    for (const Piece& piece : pieces) {
      result.push_back(piece_of(segment, piece));
    }
    const auto words = token_words(segment, token_text);
    size_t current = 0;
    for (size_t i = 0; i < segment.tokens.size(); ++i) {
      while (words[i] && *words[i] >= pieces[current].end_word && current + 1 < pieces.size()) {
        ++current;
      }
      Segment& part = result[first + current];
      part.tokens.push_back(segment.tokens[i]);
      if (i < segment.token_log_probabilities.size()) {
        part.token_log_probabilities.push_back(segment.token_log_probabilities[i]);
      }
    }
  }
  for (size_t i = 0; i < result.size(); ++i) {
    result[i].id = static_cast<int64_t>(i);
  }
  return result;
}

}  // namespace mynah
