#include "text/tokenizer/table_tokenizer.h"

#include <string>
#include <utility>

#include "base/ascii.h"

namespace mynah {
namespace {

TokenTable with_index(TokenTable tokens, std::initializer_list<TokenKind> kinds) {
  for (const TokenKind kind : kinds) {
    tokens.index(kind);
  }
  return tokens;
}

}  // namespace

TableTokenizer::TableTokenizer(GgufVocabulary vocabulary, std::initializer_list<TokenKind> indexed)
    : special_(std::move(vocabulary.special)),
      tokens_(with_index(std::move(vocabulary.tokens), indexed)),
      marks_(tokens_, {TokenKind::Mark, TokenKind::Control}),
      added_(tokens_, {TokenKind::Added}),
      strips_after_marks_(vocabulary.strips_after_marks) {}

std::vector<int32_t> TableTokenizer::encode(std::string_view text) const {
  return encode_stretches(text, {});
}

std::vector<int32_t> TableTokenizer::encode_template(std::span<const PromptPart> parts) const {
  std::string text;
  std::vector<Stretch> own;
  for (const PromptPart& part : parts) {
    const size_t begin = text.size();
    text += part.text;
    if (part.given || part.text.empty()) {
      continue;
    }
    if (!own.empty() && own.back().end == begin) {
      own.back().end = text.size();
    } else {
      own.push_back({.begin = begin, .end = text.size()});
    }
  }
  return encode_stretches(text, own);
}

std::vector<int32_t> TableTokenizer::encode_stretches(std::string_view text,
                                                      std::span<const Stretch> own) const {
  std::vector<int32_t> ids;
  bool begins = true;
  size_t begin = 0;
  const auto encode_up_to = [&](size_t end) {
    if (begin < end) {
      encode_text(text.substr(begin, end - begin), begins, ids);
      begins = false;
    }
  };
  if (own.empty() && added_.empty()) {
    encode_up_to(text.size());
    return ids;
  }
  for (size_t at = 0; at < text.size();) {
    while (!own.empty() && own.front().end <= at) {
      own = own.subspan(1);
    }
    int32_t id = added_.longest_at(text.substr(at));
    if (!own.empty() && own.front().begin <= at) {
      const int32_t mark = marks_.longest_at(text.substr(at, own.front().end - at));
      if (mark >= 0 && (id < 0 || bytes(mark).size() >= bytes(id).size())) {
        id = mark;
      }
    }
    if (id < 0) {
      ++at;
      continue;
    }
    encode_up_to(at);
    ids.push_back(id);
    begins = true;
    at += bytes(id).size();
    while (strips_after_marks_ && at < text.size() &&
           is_ascii_space(static_cast<unsigned char>(text[at]))) {
      ++at;
    }
    begin = at;
  }
  encode_up_to(text.size());
  return ids;
}

std::string_view TableTokenizer::bytes(int32_t id) const {
  return id >= 0 && id < size() ? tokens_.bytes(id) : std::string_view();
}

bool TableTokenizer::is_control(int32_t id) const {
  return id >= 0 && id < size() && tokens_.kind(id) == TokenKind::Control;
}

bool TableTokenizer::is_mark(int32_t id) const {
  return is_control(id) || (id >= 0 && id < size() && tokens_.kind(id) == TokenKind::Mark);
}

std::optional<int32_t> TableTokenizer::find_mark(std::string_view spelling) const {
  const int32_t id = marks_.find(spelling);
  return id < 0 ? std::nullopt : std::optional(id);
}

}  // namespace mynah
