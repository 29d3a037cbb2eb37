#include "cli/models/store_access.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/models/surroundings.h"
#include "engine/installed.h"
#include "engine/what_fits.h"
#include "store/convert.h"
#include "store/files.h"

namespace mynah::cli {

namespace {

constexpr int kBarColumns = 24;
constexpr auto kRedrawEvery = std::chrono::milliseconds(100);

std::string time_left(double seconds) {
  if (seconds < 100) {
    return fmt::format("{:.0f} s", seconds);
  }
  return fmt::format("{:.0f} min", seconds / 60);
}

}  // namespace

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
  const auto room = engine::WhatFits(surroundings_of(context)).of(model);
  if (context.json) {
    nlohmann::ordered_json json = to_json(model);
    if (room) {
      json["memory"] = engine::to_json(*room);
    }
    context.out.line(json.dump());
  } else {
    // A set is called as its family is.
    const std::string family = model.family == model.name ? "" : model.family + " ";
    context.out.line(fmt::format("{}  {}{}, {}, licence {}", model.name, family, model.storage,
                                 human_bytes(model.size), model.licence));
    if (room) {
      context.out.line(fmt::format("  {}", engine::describe(*room)));
    }
  }
}

void say_newest_recogniser(const Context& context, const Store& store) {
  const auto newest = engine::newest_recogniser(store);
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

}  // namespace mynah::cli
