#include "text/phonemes/tokenizer.h"

#include <algorithm>

#include "text/phonemes/affixes.h"
#include "text/phonemes/json_cursor.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// A list of pieces that together are the word: their lengths.
Result<std::vector<size_t>> read_pieces(JsonCursor& cursor, std::u32string_view word) {
  std::vector<size_t> lengths;
  std::u32string together;
  const auto read = [&]() -> Status {
    MYNAH_TRY(const std::string_view piece, cursor.string());
    const std::u32string characters = to_code_points(piece);
    if (characters.empty()) {
      return cursor.fail_here("wanted a piece of a word, found an empty one");
    }
    lengths.push_back(characters.size());
    together += characters;
    return {};
  };
  MYNAH_TRY_STATUS(cursor.array(read));
  if (together != word || word.empty()) {
    return cursor.fail_here("wanted pieces that are the whole word one after the other");
  }
  return lengths;
}

}  // namespace

Result<EnglishTokenizer> EnglishTokenizer::parse(std::string_view json, std::string_view name) {
  EnglishTokenizer tokenizer;
  JsonCursor cursor(json, name);
  const auto read = [&](std::string_view key) -> Status {
    const std::u32string text = to_code_points(key);
    MYNAH_TRY(tokenizer.exceptions_[text], read_pieces(cursor, text));
    tokenizer.longest_exception_ = std::max(tokenizer.longest_exception_, text.size());
    return {};
  };
  MYNAH_TRY_STATUS(cursor.object(read));
  MYNAH_TRY_STATUS(cursor.end());
  return tokenizer;
}

const EnglishTokenizer::Lengths* EnglishTokenizer::exception(std::u32string_view text) const {
  if (text.size() > longest_exception_) {
    return nullptr;
  }
  const auto found = exceptions_.find(std::u32string(text));
  return found == exceptions_.end() ? nullptr : &found->second;
}

std::vector<TextToken> EnglishTokenizer::operator()(std::u32string_view text) const {
  std::vector<TextToken> tokens;
  size_t at = 0;
  while (at < text.size()) {
    if (is_python_space(text[at])) {
      ++at;
      continue;
    }
    const auto end = std::ranges::find_if(text.substr(at), is_python_space);
    const auto piece = text.substr(at, static_cast<size_t>(end - text.begin()) - at);
    for (const size_t length : split(piece)) {
      tokens.push_back({.at = at, .length = length});
      at += length;
    }
    tokens.back().space_after = at < text.size();
  }
  return tokens;
}

EnglishTokenizer::Lengths EnglishTokenizer::split(std::u32string_view text) const {
  if (const Lengths* whole = exception(text)) {
    return *whole;
  }
  Lengths before;
  Lengths after;  // the last piece first
  std::u32string_view rest = text;
  bool cut = true;
  while (cut && !rest.empty() && exception(rest) == nullptr) {
    const size_t prefix = prefix_length(rest);
    const std::u32string_view behind = rest.substr(prefix);
    if (prefix > 0 && exception(behind) != nullptr) {
      before.push_back(prefix);
      rest = behind;
      break;
    }
    const size_t suffix = suffix_length(behind);
    const std::u32string_view ahead = rest.substr(0, rest.size() - suffix);
    if (suffix > 0 && exception(ahead) != nullptr) {
      after.push_back(suffix);
      rest = ahead;
      break;
    }
    if (prefix > 0) {
      before.push_back(prefix);
    }
    if (suffix > 0) {
      after.push_back(suffix);
    }
    rest = behind.substr(0, behind.size() - suffix);
    cut = prefix + suffix > 0;
  }
  Lengths pieces = std::move(before);
  if (!rest.empty()) {
    split_inside(rest, pieces);
  }
  pieces.insert(pieces.end(), after.rbegin(), after.rend());
  return pieces.size() > 1 ? joined(text, pieces) : pieces;
}

void EnglishTokenizer::split_inside(std::u32string_view text, Lengths& pieces) const {
  if (const Lengths* known = exception(text)) {
    pieces.insert(pieces.end(), known->begin(), known->end());
    return;
  }
  if (is_address(text)) {
    pieces.push_back(text.size());
    return;
  }
  size_t begin = 0;
  size_t from = 0;
  while (const auto infix = next_infix(text, from)) {
    from = infix->at + infix->length;
    if (infix->at == 0) {
      continue;
    }
    if (infix->at > begin) {
      pieces.push_back(infix->at - begin);
    }
    pieces.push_back(infix->length);
    begin = from;
  }
  if (begin < text.size()) {
    pieces.push_back(text.size() - begin);
  }
}

EnglishTokenizer::Lengths EnglishTokenizer::joined(std::u32string_view text,
                                                   const Lengths& pieces) const {
  constexpr size_t kMostJoined = 3;
  Lengths result;
  size_t at = 0;
  size_t i = 0;
  while (i < pieces.size()) {
    size_t taken = 0;
    for (size_t count = std::min(kMostJoined, pieces.size() - i); count > 1 && taken == 0;
         --count) {
      size_t length = 0;
      for (size_t k = 0; k < count; ++k) {
        length += pieces[i + k];
      }
      if (const Lengths* known = exception(text.substr(at, length))) {
        result.insert(result.end(), known->begin(), known->end());
        taken = count;
        at += length;
      }
    }
    if (taken == 0) {
      result.push_back(pieces[i]);
      at += pieces[i];
      taken = 1;
    }
    i += taken;
  }
  return result;
}

}  // namespace mynah
