// Any bytes in any pieces as sentences: the same as of the whole, in order, no byte lost but white
// space; and their clauses.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "text/spoken/clauses.h"
#include "text/spoken/sentences.h"

namespace mynah {
namespace {

void check_clauses(const std::string& sentence, size_t max_cost) {
  size_t end = 0;
  for (const Clause& clause :
       cut_clauses(sentence, {.max_cost = max_cost, .first_cost = max_cost / 2})) {
    MYNAH_CHECK(clause.begin >= end && clause.end > clause.begin && clause.end <= sentence.size(),
                "clauses are not in order");
    end = clause.end;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const SentenceOptions options{.max_bytes = 60, .language = size % 3 == 0 ? "de" : "en"};
  const std::vector<Sentence> whole = split_sentences(text, options);
  SentenceSplitter splitter(options);
  std::vector<Sentence> pieces;
  const auto keep = [&](std::vector<Sentence> more) {
    pieces.insert(pieces.end(), more.begin(), more.end());
  };
  for (size_t at = 0, step = 1; at < size; at += step, step = 1 + (step * 7 + size) % 13) {
    keep(splitter.push(text.substr(at, step)));
  }
  keep(splitter.finish());
  MYNAH_CHECK(pieces.size() == whole.size(), "pieces give other sentences than the whole");
  size_t end = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    MYNAH_CHECK(pieces[i].text == whole[i].text && pieces[i].begin == whole[i].begin &&
                    pieces[i].after == whole[i].after,
                "a sentence differs");
    MYNAH_CHECK(whole[i].begin >= end &&
                    text.substr(whole[i].begin, whole[i].end - whole[i].begin) == whole[i].text,
                "a sentence is not the text's");
    check_clauses(whole[i].text, 1 + size % 20);
    end = whole[i].end;
  }
  return 0;
}

}  // namespace mynah
