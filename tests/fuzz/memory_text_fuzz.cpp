// What somebody says, as the memory takes it: words that are searched, words to remember, and words
// quoted for a model. FTS5 must take every query, and no text may end its quotation.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "store/sqlite.h"
#include "talk/memory/quoted_memory.h"
#include "talk/memory/remembered_words.h"
#include "talk/memory/word_query.h"
#include "temporary_folder.h"

namespace mynah::talk {
namespace {

void check_query(std::string_view text) {
  static const mynah::test::TemporaryFolder folder;
  static const Database database = [] {
    auto opened = Database::open(folder / "words.db");
    MYNAH_CHECK(opened && opened->execute("CREATE VIRTUAL TABLE words USING fts5(text)"),
                "a table of words is made");
    return *std::move(opened);
  }();
  const std::string query = any_of(query_words(text));
  if (query.empty()) {
    return;
  }
  auto select = database.prepare("SELECT rowid FROM words WHERE words MATCH ?");
  MYNAH_CHECK(select && select->bind(query).run(), "FTS5 takes a query");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_query(text);
  const std::string_view fact = words_to_remember(text);
  MYNAH_CHECK(fact.empty() || (fact.data() >= text.data() &&
                               fact.data() + fact.size() <= text.data() + text.size()),
              "what is remembered is a piece of what was said");
  Recalled recalled;
  recalled.item.turn.text = text;
  recalled.item.turn.who = text.substr(0, size / 2);
  const std::string quoted = quoted_memory({recalled});
  MYNAH_CHECK(std::ranges::count(quoted, '\n') == (quoted.empty() ? 0 : 1),
              "a quotation is a line");
  return 0;
}

}  // namespace mynah::talk
