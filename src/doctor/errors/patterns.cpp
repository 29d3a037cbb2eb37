#include "doctor/errors/patterns.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "doctor/characters.h"
#include "formats/byte_reader.h"

namespace mynah::doctor {

namespace {

constexpr size_t kMostCaptured = 100;
constexpr size_t kMostSkipped = 300;
constexpr size_t kLeastBeginning = 4;  // what the search looks for first

bool is_token(char c) {
  return is_small_letter(small_letter(c)) || is_digit(c) || c == '.' || c == '_' || c == '+' ||
         c == '-';
}

bool may_hold(std::string_view name, char c) {
  return name.starts_with("sm") || name.starts_with("number") ? is_digit(c) : is_token(c);
}

bool stands_at(std::string_view text, size_t at, std::string_view piece) {
  if (text.size() - at < piece.size()) {
    return false;
  }
  for (size_t i = 0; i < piece.size(); ++i) {
    if (folded(text[at + i]) != piece[i]) {
      return false;
    }
  }
  return true;
}

// Where `piece` begins, between `at` and `most` bytes later, on one line; none: nowhere.
std::optional<size_t> found_on_line(std::string_view text, size_t at, size_t most,
                                    std::string_view piece) {
  for (size_t i = 0; i <= most && at + i < text.size(); ++i) {
    if (stands_at(text, at + i, piece)) {
      return at + i;
    }
    if (text[at + i] == '\n') {
      break;
    }
  }
  return std::nullopt;
}

}  // namespace

char folded(char c) {
  return c == '\n' ? ' ' : small_letter(c);
}

Status Pattern::add(Kind kind, std::string piece) {
  const bool after_text = !pieces_.empty() && pieces_.back().kind == Kind::Text;
  if (kind == Kind::Text) {
    weight_ += piece.size();
  } else if (!after_text) {
    return fail(ErrorCode::InvalidInput, "wanted text between two of {} and *, and before them");
  }
  pieces_.push_back({.kind = kind, .text = std::move(piece)});
  return {};
}

Result<Pattern> Pattern::parse(std::string_view text) {
  Pattern pattern;
  if (text.ends_with('$')) {
    pattern.ends_line_ = true;
    text.remove_suffix(1);
  }
  size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '*') {
      MYNAH_TRY_STATUS(pattern.add(Kind::Gap, {}));
      ++at;
    } else if (text[at] == '{') {
      const size_t end = text.find('}', at);
      if (end == std::string_view::npos || end == at + 1) {
        return fail(ErrorCode::InvalidInput, "wanted a name in braces");
      }
      MYNAH_TRY_STATUS(pattern.add(Kind::Capture, std::string(text.substr(at + 1, end - at - 1))));
      at = end + 1;
    } else {
      const size_t end = std::min(text.find_first_of("*{", at), text.size());
      std::string piece(text.substr(at, end - at));
      std::ranges::transform(piece, piece.begin(), folded);
      MYNAH_TRY_STATUS(pattern.add(Kind::Text, std::move(piece)));
      at = end;
    }
  }
  if (pattern.pieces_.empty() || pattern.beginning().size() < kLeastBeginning ||
      pattern.pieces_.back().kind == Kind::Gap) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted a pattern that begins with {} bytes of text and does not end "
                            "with *, found {}",
                            kLeastBeginning, in_quotes(text)));
  }
  return pattern;
}

std::optional<Pattern::Match> Pattern::match(std::string_view text, size_t at) const {
  Match match;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    if (piece.kind == Kind::Text) {
      if (!stands_at(text, at, piece.text)) {
        return std::nullopt;
      }
      at += piece.text.size();
      continue;
    }
    const size_t most = piece.kind == Kind::Gap ? kMostSkipped : kMostCaptured;
    size_t end = at;
    if (i + 1 < pieces_.size()) {
      const auto next = found_on_line(text, at, most, pieces_[i + 1].text);
      if (!next) {
        return std::nullopt;
      }
      end = *next;
    } else {
      while (end < text.size() && end - at < most && may_hold(piece.text, text[end])) {
        ++end;
      }
      // The mark behind a value that ends a sentence.
      while (end > at && !is_digit(text[end - 1]) &&
             std::string_view(".+-").contains(text[end - 1])) {
        --end;
      }
    }
    if (piece.kind == Kind::Capture) {
      const std::string_view value = text.substr(at, end - at);
      if (value.empty() ||
          !std::ranges::all_of(value, [&](char c) { return may_hold(piece.text, c); })) {
        return std::nullopt;
      }
      match.captures.emplace(piece.text, value);
    }
    at = end;
  }
  if (ends_line_ && at < text.size() && text[at] != '\n') {
    return std::nullopt;
  }
  match.end = at;
  return match;
}

std::vector<std::string> Pattern::names() const {
  std::vector<std::string> names;
  for (const Piece& piece : pieces_) {
    if (piece.kind == Kind::Capture) {
      names.push_back(piece.text);
    }
  }
  return names;
}

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  for (size_t open = text.find('{'); open != std::string_view::npos; open = text.find('{', open)) {
    const size_t close = text.find('}', open);
    if (close == std::string_view::npos) {
      break;
    }
    names.emplace_back(text.substr(open + 1, close - open - 1));
    open = close;
  }
  return names;
}

std::optional<std::string> filled(std::string_view text, const Captures& captures) {
  std::string result;
  size_t at = 0;
  for (const std::string& name : names_in(text)) {
    const size_t open = text.find('{', at);
    const auto value = captures.find(name);
    if (value == captures.end()) {
      return std::nullopt;
    }
    result += std::string(text.substr(at, open - at)) + value->second;
    at = open + name.size() + 2;
  }
  return result + std::string(text.substr(at));
}

}  // namespace mynah::doctor
