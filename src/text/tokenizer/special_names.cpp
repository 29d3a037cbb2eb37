#include "text/tokenizer/special_names.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/embedded_file.h"
#include "base/tsv_lines.h"

MYNAH_EMBEDDED_FILE(special_tokens, MYNAH_TOKENIZER_FOLDER "/special_tokens.tsv")

namespace mynah {
namespace {

struct SpecialNames {
  std::vector<std::string_view> turn_ends;
  std::set<std::string_view> ends;
  std::set<std::string_view> ends_if_special;
  std::set<std::string_view> html;
};

const SpecialNames& special_names() {
  static const SpecialNames kNames = [] {
    SpecialNames read;
    for_each_tsv_line<2>(special_tokens(), [&](const auto& fields) {
      const auto [kind, name] = fields;
      if (kind == "eot") {
        read.turn_ends.push_back(name);
      } else if (kind == "end") {
        read.ends.insert(name);
      } else if (kind == "end-if-special") {
        read.ends_if_special.insert(name);
      } else {
        MYNAH_CHECK(kind == "html", "a kind of special_tokens.tsv is known");
        read.html.insert(name);
      }
    });
    return read;
  }();
  return kNames;
}

using Ids = std::map<std::string_view, int32_t>;

// Tokens of the table that have one of the names.
Ids named_tokens(const TokenTable& tokens) {
  const SpecialNames& known = special_names();
  Ids found;
  for (int32_t id = 0; id < tokens.size(); ++id) {
    const std::string_view spelling = tokens.bytes(id);
    // What all names begin with: most tokens are passed over by it.
    if (!spelling.starts_with('<') && !spelling.starts_with('[') && !spelling.starts_with('_')) {
      continue;
    }
    const TokenKind kind = tokens.kind(id);
    const bool is_special = kind == TokenKind::Control || kind == TokenKind::Mark;
    const bool is_named = std::ranges::find(known.turn_ends, spelling) != known.turn_ends.end() ||
                          known.ends.contains(spelling) ||
                          (is_special && known.ends_if_special.contains(spelling));
    if (is_named && kind != TokenKind::Byte) {
      found.try_emplace(spelling, id);
    }
  }
  return found;
}

// <|end|> ends a message and not the reply where calls and returns have ends of their own: gpt-oss,
// Solar.
bool ends_message_alone(std::string_view spelling, const Ids& ids) {
  return spelling == "<|end|>" && ((ids.contains("<|return|>") && ids.contains("<|call|>")) ||
                                   (ids.contains("<|flush|>") && ids.contains("<|calls|>")));
}

}  // namespace

bool looks_like_mark(std::string_view spelling) {
  if (spelling.size() < 3) {
    return false;
  }
  const char first = spelling.front();
  const char last = spelling.back();
  if ((first != '<' || last != '>') && (first != '[' || last != ']')) {
    return false;
  }
  std::string_view inner = spelling.substr(1, spelling.size() - 2);
  if (inner.starts_with('/')) {
    inner.remove_prefix(1);
  }
  return first != '<' || !special_names().html.contains(inner);
}

void complete_special_tokens(TokenTable& tokens, SpecialTokens& special) {
  const Ids ids = named_tokens(tokens);
  for (const std::string_view name : special_names().turn_ends) {
    const auto found = ids.find(name);
    if (!special.eot && found != ids.end() && !ends_message_alone(name, ids)) {
      special.eot = found->second;
    }
  }
  std::set<int32_t> ends;
  for (const auto& [name, id] : ids) {
    tokens.set_kind(id, TokenKind::Control);
    if (!ends_message_alone(name, ids)) {
      ends.insert(id);
    }
  }
  for (const auto& id : {special.eos, special.eot}) {
    if (id) {
      ends.insert(*id);
    }
  }
  special.reply_ends.assign(ends.begin(), ends.end());
  for (const auto& id : {special.bos, special.eos, special.eot}) {
    if (id) {
      tokens.set_kind(*id, TokenKind::Control);
    }
  }
}

}  // namespace mynah
