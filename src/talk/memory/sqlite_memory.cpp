#include "talk/memory/sqlite_memory.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/check.h"
#include "talk/memory/forgetting.h"
#include "talk/memory/item_rows.h"
#include "talk/memory/meaning_index.h"
#include "talk/memory/memory_tables.h"
#include "talk/memory/word_search.h"
#include "text/utf8.h"

namespace mynah::talk {
namespace {

int64_t system_now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// As SQLite has texts: UTF-8, and no zero, at which some of its functions end.
std::string kept_text(std::string_view text) {
  std::string kept = replace_invalid_utf8(text);
  if (kept.find('\0') == std::string::npos) {
    return kept;
  }
  std::string whole;
  for (const char letter : kept) {
    if (letter == '\0') {
      append_utf8(whole, kReplacementCharacter);
    } else {
      whole += letter;
    }
  }
  return whole;
}

Status check_text(std::string_view text) {
  if (trimmed(text).empty()) {
    return fail(ErrorCode::InvalidInput, "wanted words to keep, found none");
  }
  if (text.size() > MemoryStore::kMostText) {
    return fail(ErrorCode::InvalidInput, fmt::format("wanted a text of {} bytes at most, found {}",
                                                     MemoryStore::kMostText, text.size()));
  }
  return {};
}

class SqliteMemory final : public MemoryStore {
 public:
  SqliteMemory(Database database, MemoryOptions options)
      : options_(std::move(options)),
        database_(std::move(database)),
        forgetting_(database_, options_.folder) {}

  Status take_up() {
    const std::lock_guard lock(mutex_);
    return forgetting_.finish();
  }

  Result<int64_t> begin_conversation(std::string_view front) override;
  Result<int64_t> keep(const MemoryTurn& turn) override;
  Result<int64_t> keep_fact(int64_t turn, std::string_view words) override;
  Result<std::vector<MemoryItem>> list(const MemoryFilter& filter, int64_t most) override;
  Result<std::vector<MemoryItem>> find(std::span<const int64_t> ids) override;
  Result<std::vector<FoundItem>> search_words(std::string_view text, const MemoryFilter& filter,
                                              size_t most) override;
  Result<std::vector<FoundItem>> search_meaning(std::string_view model,
                                                std::span<const float> vector,
                                                const MemoryFilter& filter, size_t most) override;
  Result<std::vector<MemoryItem>> without_vector(std::string_view model, size_t most) override;
  Result<std::optional<MemoryItem>> turn_before(const MemoryItem& item) override;
  Status keep_vectors(std::string_view model, std::span<const MemoryVector> vectors) override;
  Result<int64_t> forget(const MemoryFilter& filter) override;
  Result<MemoryCounts> counts() override;

 private:
  // The next four are called with mutex_ held.
  Result<std::vector<MemoryItem>> read(Statement rows, std::string_view containing,
                                       size_t most) const;
  Result<MemoryItem> item(int64_t id) const;
  Result<int64_t> insert(const MemoryItem& item) const;
  Result<std::set<int64_t>> ids_of(const MemoryFilter& filter) const;

  [[nodiscard]] int64_t now_ms() const {
    return options_.now_ms ? options_.now_ms() : system_now_ms();
  }

  MemoryOptions options_;
  std::mutex mutex_;
  Database database_;  // mutex_'s, as all below
  Forgetting forgetting_;
  MeaningIndex meanings_;
};

Result<std::vector<MemoryItem>> SqliteMemory::read(Statement rows, std::string_view containing,
                                                   size_t most) const {
  const WordsWithin words(containing);
  std::vector<MemoryItem> found;
  while (found.size() < most) {
    MYNAH_TRY(const bool more, rows.step());
    if (!more) {
      break;
    }
    MemoryItem one = read_item(rows);
    if (words.in(one)) {
      found.push_back(std::move(one));
    }
  }
  return found;
}

Result<MemoryItem> SqliteMemory::item(int64_t id) const {
  MYNAH_TRY(Statement select,
            select_items(database_, "WHERE " + condition_of(MemoryFilter{.ids = {id}})));
  MYNAH_TRY(auto found, read(std::move(select), "", 1));
  if (found.empty()) {
    return fail(ErrorCode::NotFound, fmt::format("nothing is kept as {}", id));
  }
  return std::move(found.front());
}

Result<int64_t> SqliteMemory::insert(const MemoryItem& item) const {
  int64_t id = 0;
  const Status done = database_.in_transaction([&]() -> Status {
    MYNAH_TRY(Statement conversation,
              database_.prepare("SELECT 1 FROM conversations WHERE id = ?"));
    MYNAH_TRY(const bool is_there, conversation.bind(item.turn.conversation).step());
    if (!is_there) {
      return fail(ErrorCode::NotFound,
                  fmt::format("there is no conversation {}", item.turn.conversation));
    }
    MYNAH_TRY(Statement put,
              database_.prepare("INSERT INTO items(conversation, kind, source, origin, who, "
                                "language, at_ms, text, played) VALUES(?,?,?,?,?,?,?,?,?)"));
    put.bind(item.turn.conversation).bind(static_cast<int64_t>(item.kind));
    item.source == 0 ? put.bind(std::nullopt) : put.bind(item.source);
    put.bind(static_cast<int64_t>(item.turn.origin))
        .bind(item.turn.who)
        .bind(item.turn.language)
        .bind(item.at_ms)
        .bind(item.turn.text);
    item.turn.played ? put.bind(*item.turn.played) : put.bind(std::nullopt);
    MYNAH_TRY_STATUS(put.run());
    id = database_.last_row();
    MYNAH_TRY(Statement words,
              database_.prepare("INSERT INTO words(rowid, text, who) VALUES(?, ?, ?)"));
    return words.bind(id).bind(item.turn.text).bind(item.turn.who).run();
  });
  return done ? Result<int64_t>(id) : std::unexpected(done.error());
}

Result<int64_t> SqliteMemory::begin_conversation(std::string_view front) {
  const std::lock_guard lock(mutex_);
  MYNAH_TRY(Statement put,
            database_.prepare("INSERT INTO conversations(front, at_ms) VALUES(?, ?)"));
  MYNAH_TRY_STATUS(put.bind(kept_text(front)).bind(now_ms()).run());
  return database_.last_row();
}

Result<int64_t> SqliteMemory::keep(const MemoryTurn& turn) {
  MYNAH_TRY_STATUS(check_text(turn.text));
  MemoryItem item;
  item.turn = {.conversation = turn.conversation,
               .origin = turn.origin,
               .who = kept_text(turn.who),
               .language = kept_text(turn.language),
               .text = kept_text(turn.text),
               .played = turn.played ? std::optional(kept_text(*turn.played)) : std::nullopt};
  const std::lock_guard lock(mutex_);
  item.at_ms = now_ms();
  return insert(item);
}

Result<int64_t> SqliteMemory::keep_fact(int64_t turn, std::string_view words) {
  const std::string fact(trimmed(words));
  MYNAH_TRY_STATUS(check_text(fact));
  const std::lock_guard lock(mutex_);
  MYNAH_TRY(MemoryItem said, item(turn));
  if (said.kind != MemoryKind::Turn || said.turn.origin != MemoryOrigin::User) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted a user's words to remember, found a turn of the {}: only what "
                            "a user said becomes a fact",
                            name_of(said.turn.origin)));
  }
  if (!said.turn.text.contains(fact)) {
    return fail(ErrorCode::InvalidInput,
                "wanted words that the user said in that turn, found others");
  }
  MYNAH_TRY(Statement known, database_.prepare("SELECT id FROM items WHERE kind = 1 AND text = ? "
                                               "AND who = ? AND id NOT IN (SELECT item FROM "
                                               "gone)"));
  MYNAH_TRY(const bool is_known, known.bind(fact).bind(said.turn.who).step());
  if (is_known) {
    return known.integer(0);
  }
  said.kind = MemoryKind::Fact;
  said.source = turn;
  said.turn.text = fact;
  said.turn.played.reset();
  return insert(said);
}

Result<std::vector<MemoryItem>> SqliteMemory::list(const MemoryFilter& filter, int64_t most) {
  const std::lock_guard lock(mutex_);
  MYNAH_TRY(Statement select,
            select_items(database_, "WHERE " + condition_of(filter) + " ORDER BY items.id DESC"));
  MYNAH_TRY(auto found, read(std::move(select), filter.containing,
                             static_cast<size_t>(std::max<int64_t>(most, 0))));
  std::ranges::reverse(found);
  return found;
}

Result<std::vector<MemoryItem>> SqliteMemory::find(std::span<const int64_t> ids) {
  const std::lock_guard lock(mutex_);
  std::vector<MemoryItem> found;
  for (const int64_t id : ids) {
    auto one = item(id);
    if (one) {
      found.push_back(*std::move(one));
    } else if (one.error().code != ErrorCode::NotFound) {
      return std::unexpected(std::move(one).error());
    }
  }
  return found;
}

Result<std::set<int64_t>> SqliteMemory::ids_of(const MemoryFilter& filter) const {
  MYNAH_TRY(Statement select, select_items(database_, "WHERE " + condition_of(filter)));
  const WordsWithin words(filter.containing);
  std::set<int64_t> ids;
  while (true) {
    MYNAH_TRY(const bool more, select.step());
    if (!more) {
      return ids;
    }
    const MemoryItem one = read_item(select);
    if (words.in(one)) {
      ids.insert(one.id);
    }
  }
}

Result<std::vector<FoundItem>> SqliteMemory::search_words(std::string_view text,
                                                          const MemoryFilter& filter, size_t most) {
  std::vector<FoundItem> found;
  const WordsWithin words(filter.containing);
  const std::lock_guard lock(mutex_);
  MYNAH_TRY(const WordSearch search, word_search(database_, text));
  if (search.query.empty() || most == 0) {
    return found;
  }
  // FTS5's rank is bm25 with its sign turned.
  MYNAH_TRY(Statement select,
            database_.prepare(fmt::format("SELECT words.rowid, words.rank FROM words JOIN items ON "
                                          "items.id = words.rowid WHERE words MATCH ? AND "
                                          "words.rowid >= ? AND {} ORDER BY words.rank, "
                                          "words.rowid",
                                          condition_of(filter))));
  select.bind(search.query).bind(search.from);
  while (found.size() < most) {
    MYNAH_TRY(const bool more, select.step());
    if (!more) {
      break;
    }
    const FoundItem one{.id = select.integer(0), .score = -select.number(1)};
    if (!filter.containing.empty()) {
      MYNAH_TRY(const MemoryItem whole, item(one.id));
      if (!words.in(whole)) {
        continue;
      }
    }
    found.push_back(one);
  }
  return found;
}

Result<std::vector<FoundItem>> SqliteMemory::search_meaning(std::string_view model,
                                                            std::span<const float> vector,
                                                            const MemoryFilter& filter,
                                                            size_t most) {
  const std::lock_guard lock(mutex_);
  std::optional<std::set<int64_t>> only;
  if (!filter.ids.empty() || !filter.containing.empty()) {
    MYNAH_TRY(only, ids_of(filter));
  }
  return meanings_.search(database_, model, vector, filter, only, most);
}

Result<std::vector<MemoryItem>> SqliteMemory::without_vector(std::string_view model, size_t most) {
  const std::lock_guard lock(mutex_);
  MYNAH_TRY(Statement select,
            select_items(database_, fmt::format("LEFT JOIN vectors ON vectors.item = items.id AND "
                                                "vectors.model = ? WHERE vectors.item IS NULL AND "
                                                "{} ORDER BY items.id",
                                                condition_of({}))));
  select.bind(model);
  return read(std::move(select), "", most);
}

Result<std::optional<MemoryItem>> SqliteMemory::turn_before(const MemoryItem& item) {
  const std::lock_guard lock(mutex_);
  const MemoryFilter turns{.conversation = item.turn.conversation, .kind = MemoryKind::Turn};
  MYNAH_TRY(Statement select,
            select_items(database_, fmt::format("WHERE {} AND items.id < ? ORDER BY items.id DESC",
                                                condition_of(turns))));
  select.bind(item.id);
  MYNAH_TRY(auto found, read(std::move(select), "", 1));
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

Status SqliteMemory::keep_vectors(std::string_view model, std::span<const MemoryVector> vectors) {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<MemoryItem, HalfVector>> kept;
  const Status done = database_.in_transaction([&]() -> Status {
    for (const MemoryVector& one : vectors) {
      auto of = item(one.id);
      if (!of && of.error().code == ErrorCode::NotFound) {
        continue;
      }
      if (!of) {
        return std::unexpected(std::move(of).error());
      }
      kept.emplace_back(*std::move(of), halves_of(one.vector));
      MYNAH_TRY(Statement put, database_.prepare("INSERT OR REPLACE INTO vectors(item, model, "
                                                 "vector) VALUES(?, ?, ?)"));
      put.bind(one.id).bind(model).bind(std::as_bytes(std::span(kept.back().second)));
      MYNAH_TRY_STATUS(put.run());
    }
    return {};
  });
  if (done) {
    for (const auto& [of, halves] : kept) {
      meanings_.added(model, of, halves);
    }
  }
  return done;
}

Result<int64_t> SqliteMemory::forget(const MemoryFilter& filter) {
  const std::lock_guard lock(mutex_);
  MYNAH_TRY(const std::set<int64_t> ids, ids_of(filter));
  if (ids.empty()) {
    return 0;
  }
  meanings_.clear();
  MYNAH_TRY(const int64_t marked, forgetting_.mark(std::vector<int64_t>(ids.begin(), ids.end())));
  MYNAH_TRY_STATUS(forgetting_.finish());
  return marked;
}

Result<MemoryCounts> SqliteMemory::counts() {
  const std::lock_guard lock(mutex_);
  MYNAH_TRY(Statement select,
            database_.prepare("SELECT (SELECT count(*) FROM conversations), count(*) FILTER (WHERE "
                              "kind = 0), count(*) FILTER (WHERE kind = 1), count(*) FILTER (WHERE "
                              "id NOT IN (SELECT item FROM vectors)) FROM items WHERE " +
                              condition_of({})));
  MYNAH_TRY(const bool found, select.step());
  MYNAH_CHECK(found, "counts are a row");
  int column = 0;
  MemoryCounts counts;
  counts.conversations = select.integer(column++);
  counts.turns = select.integer(column++);
  counts.facts = select.integer(column++);
  counts.without_vector = select.integer(column);
  return counts;
}

}  // namespace

Result<std::unique_ptr<MemoryStore>> open_sqlite_memory(MemoryOptions options) {
  MYNAH_TRY(Database database, open_memory_database(options.folder, options.tell));
  MYNAH_TRY_STATUS(
      database.execute(fmt::format("PRAGMA busy_timeout={}", options.patience.count())));
  if (options.most_bytes > 0) {
    constexpr int64_t kPage = 4096;
    MYNAH_TRY_STATUS(database.execute(
        fmt::format("PRAGMA max_page_count={}", std::max<int64_t>(options.most_bytes / kPage, 1))));
  }
  auto memory = std::make_unique<SqliteMemory>(std::move(database), std::move(options));
  MYNAH_TRY_STATUS(memory->take_up());
  return memory;
}

}  // namespace mynah::talk
