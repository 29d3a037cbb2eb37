#include "cli/chat/memory.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <limits>
#include <span>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/nearest_name.h"
#include "cli/chat/shown_text.h"
#include "cli/models/surroundings.h"
#include "cli/placement/engine_fields.h"
#include "talk/memory/sqlite_memory.h"

namespace mynah::cli {
namespace {

using Json = nlohmann::ordered_json;
using talk::MemoryFilter;
using talk::MemoryItem;
using talk::MemoryKind;

constexpr double kMostShown = 1e6;

const std::vector<std::string>& all_actions() {
  static const std::vector<std::string> actions = {"list", "search", "forget", "export"};
  return actions;
}

std::string time_text(int64_t at_ms) {
  const auto at =
      std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(at_ms));
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     std::chrono::time_point_cast<std::chrono::seconds>(at));
}

Json item_json(const MemoryItem& item) {
  const bool is_fact = item.kind == MemoryKind::Fact;
  Json json = {{"id", item.id},
               {"kind", is_fact ? "fact" : "turn"},
               {"conversation", item.turn.conversation},
               {"time", time_text(item.at_ms)},
               {"origin", talk::name_of(item.turn.origin)},
               {"who", item.turn.who},
               {"language", item.turn.language},
               {"text", item.turn.text}};
  if (is_fact) {
    json["source"] = item.source;
  }
  if (item.turn.played) {
    json["played"] = *item.turn.played;
  }
  return json;
}

// Of a long text: export has all of it.
constexpr size_t kMostListed = 400;

void print_item(Context& context, const MemoryItem& item, const Json& more = Json::object()) {
  if (context.json) {
    Json json = item_json(item);
    json.update(more);
    context.out.line(json.dump(-1, ' ', false, Json::error_handler_t::replace));
    return;
  }
  const std::string_view origin = talk::name_of(item.turn.origin);
  const std::string by =
      item.turn.who.empty() ? std::string(origin) : fmt::format("{} ({})", item.turn.who, origin);
  context.out.line(shown_text(fmt::format("{:>5}  {}  {}{}: {}", item.id, time_text(item.at_ms), by,
                                          item.kind == MemoryKind::Fact ? ", to remember" : "",
                                          beginning_of(item.turn.text, kMostListed))));
}

// A day, "2026-11-30", as its beginning in UTC.
Result<int64_t> day_begin_ms(const std::string& text) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  const auto read = [&text](size_t from, size_t count, auto& number) {
    const char* const begin = text.data() + from;
    return std::from_chars(begin, begin + count, number).ptr == begin + count;
  };
  const bool is_written = text.size() == 10 && text[4] == '-' && text[7] == '-' &&
                          read(0, 4, year) && read(5, 2, month) && read(8, 2, day);
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!is_written || !date.ok()) {
    return fail(ErrorCode::Usage,
                fmt::format("--before: wanted a day such as 2026-11-30, found '{}'", text));
  }
  const auto since = std::chrono::sys_days(date).time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

Result<std::vector<int64_t>> numbers_of(std::span<const std::string> words) {
  std::vector<int64_t> numbers;
  for (const std::string& word : words) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size() || number <= 0) {
      return fail(ErrorCode::Usage,
                  fmt::format("forget: wanted numbers as `mynah memory list` shows them, found "
                              "'{}'; --containing forgets what has words",
                              word));
    }
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

Field& memory_folder_field(Fields& fields, std::string& folder) {
  return fields
      .option("memory-folder", "FOLDER", folder,
              "Where the memory is kept; empty: mynah/memory among this user's state "
              "($XDG_STATE_HOME).")
      .completes(Complete::Folders);
}

void MemoryCommand::fields(Fields& fields) {
  fields
      .positional("ACTION", words_,
                  "list (the default), search TEXT, forget NUMBER ..., or export.")
      .as_optional()
      .offering(all_actions());
  fields.section("Which of it");
  fields.option("conversation", "N", conversation_, "Of that conversation alone.").once();
  fields
      .list("origin", "WHO", origins_,
            "What was brought by these alone: user, assistant, tool, file.")
      .offering({"user", "assistant", "tool", "file"});
  fields.option("containing", "WORDS", containing_, "What has these words as they stand.").once();
  fields.option("before", "DAY", before_, "What was said before a day, such as 2026-11-30.").once();
  fields.flag("facts", facts_, "What a user asked to be remembered alone.");
  fields
      .flag("with-turns", with_turns_,
            "forget --facts: with the turns that they were said in, which have the same words.")
      .once();
  fields.flag("all", all_, "forget: all that there is.");
  fields.option("most", "N", most_, "list and search: so many at most.").within(1, kMostShown);
  memory_folder_field(fields, wish_.folder);
  fields.section("Model and device");
  fields
      .option("model", "NAME", wish_.meaning.model,
              "search: the embedding model that knows what is meant; auto: the newest of those "
              "here, and words alone without one.")
      .shorter('m')
      .completes(Complete::Models);
  device_field(fields, wish_.meaning.placement.device, std::string(kDeviceHelp));
  threads_field(fields, wish_.meaning.placement);
}

std::string MemoryCommand::details() const {
  return "Nothing is kept unless it was asked for (mynah chat --memory, mynah talk --memory).\n"
         "What is forgotten leaves every file of the memory, to the last byte, and what was made\n"
         "of it goes with it; the rest stays. A text that is quoted elsewhere is another text:\n"
         "`mynah memory forget --containing WORDS` forgets all that has the words. export writes\n"
         "all of it, a line of JSON each.\n";
}

Result<MemoryFilter> MemoryCommand::filter() const {
  MemoryFilter filter{.conversation = conversation_, .containing = containing_};
  for (const std::string& name : origins_) {
    const auto origin = talk::memory_origin_of(name);
    if (!origin) {
      return fail(ErrorCode::Usage,
                  fmt::format("--origin: wanted user, assistant, tool or file, found '{}'", name));
    }
    filter.origins.push_back(*origin);
  }
  if (facts_) {
    filter.kind = MemoryKind::Fact;
  }
  if (!before_.empty()) {
    MYNAH_TRY(filter.before_ms, day_begin_ms(before_));
  }
  return filter;
}

Result<std::shared_ptr<talk::MemoryStore>> MemoryCommand::open(Context& context) const {
  const std::string folder =
      wish_.folder.empty() ? talk::usual_memory_folder(context.environment) : wish_.folder;
  std::error_code ignored;
  if (!std::filesystem::exists(folder + "/memory.db", ignored)) {
    return std::shared_ptr<talk::MemoryStore>();
  }
  MYNAH_TRY(auto store, talk::open_sqlite_memory(
                            {.folder = folder,
                             .tell = [&context](const std::string& said) { context.say(said); }}));
  return std::shared_ptr<talk::MemoryStore>(std::move(store));
}

Result<int> MemoryCommand::list(Context& context, const MemoryFilter& filter) const {
  MYNAH_TRY(const auto store, open(context));
  std::vector<MemoryItem> items;
  if (store) {
    MYNAH_TRY(items, store->list(filter, most_));
  }
  for (const MemoryItem& item : items) {
    print_item(context, item);
  }
  if (items.empty() && !context.json) {
    context.say(filter.empty() ? "nothing is kept: `mynah chat --memory` keeps what is said"
                               : "nothing of that is kept");
  }
  return 0;
}

Result<int> MemoryCommand::search(Context& context, const MemoryFilter& filter) const {
  const std::string text = fmt::format("{}", fmt::join(words_.begin() + 1, words_.end(), " "));
  if (text.empty()) {
    return fail(ErrorCode::Usage, "search: wanted words, or a question");
  }
  MYNAH_TRY(const auto kept, open(context));
  std::vector<talk::Recalled> found;
  if (kept) {
    MYNAH_TRY(const talk::OpenedMemory opened, talk::open_memory(wish_, surroundings_of(context)));
    MYNAH_TRY_STATUS(talk::make_vectors(*opened.store, opened.model, context.stop));
    MYNAH_TRY(found, talk::recall(*opened.store, opened.model, text, filter,
                                  static_cast<size_t>(most_), context.stop));
    std::erase_if(found, [&](const talk::Recalled& one) {
      return opened.model.embedder != nullptr && !talk::is_like(one, text);
    });
  }
  for (const talk::Recalled& one : found) {
    print_item(context, one.item,
               {{"score", one.score},
                {"cosine", one.cosine ? Json(*one.cosine) : Json()},
                {"by_words", one.by_words}});
  }
  if (found.empty() && !context.json) {
    context.say("nothing is kept that is like it");
  }
  return found.empty() ? 1 : 0;
}

Result<int> MemoryCommand::forget(Context& context, const MemoryFilter& asked) const {
  MemoryFilter filter = asked;
  MYNAH_TRY(filter.ids, numbers_of(std::span(words_).subspan(1)));
  if (filter.empty() != all_) {
    return fail(ErrorCode::Usage,
                all_ ? "forget: wanted --all, or what else is to be forgotten, not both"
                     : "forget: wanted numbers, --containing, --conversation, --before, --origin, "
                       "--facts or --all");
  }
  if (facts_ != with_turns_) {
    return fail(ErrorCode::Usage,
                facts_ ? "forget --facts: the words of a fact stand in the turn that it was said "
                         "in, too, which goes with it: wanted --with-turns beside it "
                         "(`mynah memory list --facts` shows them)"
                       : "--with-turns: wanted --facts beside it");
  }
  MYNAH_TRY(const auto store, open(context));
  int64_t forgotten = 0;
  if (store) {
    MYNAH_TRY(forgotten, store->forget(filter));
  }
  if (context.json) {
    context.out.line(Json({{"forgotten", forgotten}}).dump());
  } else {
    context.out.line(fmt::format("{} forgotten", forgotten));
  }
  return forgotten > 0 || all_ ? 0 : 1;
}

Result<int> MemoryCommand::export_all(Context& context, const MemoryFilter& filter) const {
  MYNAH_TRY(const auto store, open(context));
  if (store) {
    MYNAH_TRY(const auto items, store->list(filter, std::numeric_limits<int64_t>::max()));
    for (const MemoryItem& item : items) {
      context.out.line(item_json(item).dump(-1, ' ', false, Json::error_handler_t::replace));
    }
  }
  return 0;
}

Result<int> MemoryCommand::run(Context& context) {
  const std::string action = words_.empty() ? "list" : words_.front();
  MYNAH_TRY(const MemoryFilter filter, this->filter());
  if (words_.size() > 1 && (action == "list" || action == "export")) {
    return fail(ErrorCode::Usage, fmt::format("{} takes no words, found '{}'", action, words_[1]));
  }
  if ((all_ || with_turns_) && action != "forget") {
    return fail(ErrorCode::Usage,
                fmt::format("--{}: wanted forget beside it", all_ ? "all" : "with-turns"));
  }
  if (action == "list") {
    return list(context, filter);
  }
  if (action == "search") {
    return search(context, filter);
  }
  if (action == "forget") {
    return forget(context, filter);
  }
  if (action == "export") {
    return export_all(context, filter);
  }
  return fail(ErrorCode::Usage, fmt::format("wanted list, search, forget or export, found '{}'{}",
                                            action, suggestion(action, all_actions())));
}

}  // namespace mynah::cli
