#include "text/grammar/vocabulary.h"

#include <algorithm>

#include <fmt/format.h>

#include "text/grammar/plain_text.h"

namespace mynah::grammar {
namespace {

Status expect_ids(std::span<const int32_t> ids, size_t tokens, std::string_view what) {
  for (const int32_t id : ids) {
    if (id < 0 || static_cast<size_t>(id) >= tokens) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("wanted {} tokens below {}, found {}", what, tokens, id));
    }
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const TokenVocabulary>> TokenVocabulary::create(const TokenFacts& facts) {
  MYNAH_TRY_STATUS(expect_ids(facts.control, facts.bytes.size(), "control"));
  MYNAH_TRY_STATUS(expect_ids(facts.ends, facts.bytes.size(), "end"));
  std::shared_ptr<TokenVocabulary> vocabulary(new TokenVocabulary);
  vocabulary->bytes_.assign(facts.bytes.begin(), facts.bytes.end());
  for (const auto& ids : {facts.control, facts.ends}) {
    for (const int32_t id : ids) {
      vocabulary->bytes_[static_cast<size_t>(id)].clear();
    }
  }
  vocabulary->ends_.assign(facts.ends.begin(), facts.ends.end());
  std::ranges::sort(vocabulary->ends_);
  vocabulary->trie_ = TokenTrie(vocabulary->bytes_);
  vocabulary->plain_ = TokenSet(vocabulary->mask_words());
  std::vector<std::string> others = vocabulary->bytes_;
  for (int32_t id = 0; id < vocabulary->size(); ++id) {
    if (is_plain(vocabulary->bytes(id))) {
      vocabulary->plain_.add(std::span(&id, vocabulary->bytes(id).empty() ? 0 : 1));
      others[static_cast<size_t>(id)].clear();
    }
  }
  vocabulary->trie_of_others_ = TokenTrie(others);
  return vocabulary;
}

bool TokenVocabulary::is_end(int32_t id) const {
  return std::ranges::binary_search(ends_, id);
}

}  // namespace mynah::grammar
