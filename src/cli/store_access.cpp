#include "cli/store_access.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "store/convert.h"
#include "store/files.h"

namespace mynah::cli {

namespace {

constexpr int kBarColumns = 24;
constexpr auto kRedrawEvery = std::chrono::milliseconds(100);

std::string from_either_case(const Environment& environment, std::string name) {
  if (const auto value = environment.get(name)) {
    return *value;
  }
  return environment.get(ascii_upper(name)).value_or("");
}

std::optional<StoredModel> newest_of_family(const Store& store, std::string_view family) {
  std::vector<StoredModel> models = store.list();
  std::erase_if(models, [family](const StoredModel& model) { return model.family != family; });
  const auto newest = std::ranges::max_element(models, {}, &StoredModel::created);
  return newest == models.end() ? std::nullopt : std::optional(std::move(*newest));
}

std::string time_left(double seconds) {
  if (seconds < 100) {
    return fmt::format("{:.0f} s", seconds);
  }
  return fmt::format("{:.0f} min", seconds / 60);
}

}  // namespace

StoreFolders store_folders(const Environment& environment) {
  return {.home = environment.get("MYNAH_HOME").value_or(environment.data_folder()),
          .cache = environment.cache_folder()};
}

Proxies proxies(const Environment& environment) {
  // HTTP_PROXY in upper case is left alone: in a CGI program it is a header of the request's.
  return {.http = environment.get("http_proxy").value_or(""),
          .https = from_either_case(environment, "https_proxy"),
          .all = from_either_case(environment, "all_proxy"),
          .no_proxy = from_either_case(environment, "no_proxy")};
}

void StoreProgress::on_progress(std::string_view what, uint64_t done, uint64_t total) {
  if (!context_.err.is_terminal() || context_.json) {
    return;
  }
  const Clock::time_point now = Clock::now();
  if (what != what_) {
    clear();
    what_ = what;
    first_done_ = done;
    began_ = now;
  } else if (now - drawn_ < kRedrawEvery && done != total) {
    return;
  }
  drawn_ = now;
  on_screen_ = true;
  const double seconds = std::chrono::duration<double>(now - began_).count();
  context_.err.write(
      "\r" + progress_line(what, done, total, first_done_, seconds, context_.err.columns() - 1) +
      "\x1b[K");
  context_.err.flush();
}

void StoreProgress::on_message(std::string_view line) {
  clear();
  context_.say(line);
}

void StoreProgress::clear() {
  if (on_screen_) {
    context_.err.write("\r\x1b[K");
    context_.err.flush();
    on_screen_ = false;
  }
}

std::string progress_line(std::string_view what, uint64_t done, uint64_t total, uint64_t first,
                          double seconds, int columns) {
  std::string line(what);
  const double speed =
      seconds > 0 ? static_cast<double>(done - std::min(first, done)) / seconds : 0;
  if (total > 0) {
    const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    const auto filled = static_cast<size_t>(share * kBarColumns);
    line +=
        fmt::format("  {:3.0f} % [{}{}] {} of {}", share * 100, std::string(filled, '#'),
                    std::string(kBarColumns - filled, ' '), human_bytes(done), human_bytes(total));
  } else {
    line += fmt::format("  {}", human_bytes(done));
  }
  if (speed >= 1) {
    line += fmt::format(", {}/s", human_bytes(static_cast<uint64_t>(speed)));
    if (total > done) {
      line += fmt::format(", {} left", time_left(static_cast<double>(total - done) / speed));
    }
  }
  return line.substr(0, static_cast<size_t>(std::max(columns, 0)));
}

nlohmann::ordered_json to_json(const StoredModel& model) {
  using Json = nlohmann::ordered_json;
  Json files = Json::array();
  for (const OriginFile& file : model.files) {
    files.push_back({{"name", file.name},
                     {"from", file.from},
                     {"sha256", file.sha256},
                     {"size", file.size},
                     {"proof", file.proof}});
  }
  Json json = {{"name", model.name},       {"family", model.family},
               {"storage", model.storage}, {"path", model.path()},
               {"size", model.size},       {"sha256", model.sha256},
               {"licence", model.licence}, {"licence_url", model.licence_url},
               {"source", model.source},   {"created", model.created},
               {"origin", files},          {"kind", kind_of_family(model.family)}};
  for (const StoredFile& file : model.set) {
    json["files"].push_back({{"name", file.name}, {"sha256", file.sha256}, {"size", file.size}});
  }
  return json;
}

void print_arrival(Context& context, const StoredModel& model) {
  if (context.json) {
    context.out.line(to_json(model).dump());
  } else {
    // A set is called as its family is.
    const std::string family = model.family == model.name ? "" : model.family + " ";
    context.out.line(fmt::format("{}  {}{}, {}, licence {}", model.name, family, model.storage,
                                 human_bytes(model.size), model.licence));
  }
}

std::optional<StoredModel> newest_recogniser(const Store& store) {
  return newest_of_family(store, "whisper");
}

std::optional<StoredModel> default_detector(const Store& store) {
  auto pulled = store.find(kDetectorFamily);  // the catalogue calls it as its family
  return pulled && pulled->family == kDetectorFamily ? std::optional(*std::move(pulled))
                                                     : newest_of_family(store, kDetectorFamily);
}

Result<ResolvedModel> resolve_detector(const Store& store, const std::string& name) {
  if (name != "auto") {
    return store.resolve(name);
  }
  if (const auto found = default_detector(store)) {
    return ResolvedModel{.path = found->path(), .name = found->name};
  }
  return store.resolve(std::string(kDetectorFamily));  // why there is none
}

void say_newest_recogniser(const Context& context, const Store& store) {
  const auto newest = newest_recogniser(store);
  if (newest && !context.json) {
    context.say(fmt::format(
        "where no model is named, mynah transcribe takes {} now: the newest here", newest->name));
  }
}

Result<std::optional<DType>> storage_option(const std::string& text) {
  if (text.empty()) {
    return std::optional<DType>();
  }
  auto storage = parse_storage(text);
  if (!storage) {
    return fail(ErrorCode::Usage, "--type: " + storage.error().message);
  }
  return std::optional(*storage);
}

Error as_named(Error error, const std::string& name) {
  if (error.code == ErrorCode::NotFound) {
    const bool known = find_in_catalogue(name) != nullptr;
    const bool path = name.contains('/');
    error.code = known ? ErrorCode::Environment : path ? ErrorCode::NotFound : ErrorCode::Usage;
  }
  return error;
}

Status check_finds_speech(const Store& store, const ResolvedModel& model) {
  if (model.name.empty()) {
    return {};
  }
  const auto stored = store.find(model.name);
  if (stored && stored->family == "whisper") {
    return fail(
        ErrorCode::Usage,
        fmt::format(
            "{0} is a Whisper model, which writes what is said (transcribe --model takes it); "
            "--vad-model wants a voice detector: silero, or builtin",
            model.name));
  }
  return {};
}

Result<StoredModel> pull_for_user(const Context& context, const CatalogueEntry& entry,
                                  PullOptions options) {
  options.download.http.proxies = proxies(context.environment);
  StoreProgress progress(context);
  return pull_model(Store(store_folders(context.environment)), entry, options, progress,
                    context.stop);
}

}  // namespace mynah::cli
