#include "cli/models/pull.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/nearest_name.h"
#include "cli/models/measure_voices.h"
#include "cli/models/store_access.h"
#include "cli/models/surroundings.h"
#include "engine/installed.h"
#include "engine/model_files.h"
#include "engine/store_folders.h"
#include "engine/what_fits.h"
#include "store/families.h"
#include "store/files.h"

namespace mynah::cli {

namespace {

std::vector<std::string> names_of_catalogue() {
  std::vector<std::string> names;
  for (const CatalogueEntry& known : catalogue()) {
    names.push_back(known.name);
  }
  return names;
}

Result<const CatalogueEntry*> entry_of(const std::string& name) {
  const CatalogueEntry* entry = find_in_catalogue(name);
  if (entry != nullptr) {
    return entry;
  }
  const std::vector<std::string> names = names_of_catalogue();
  return fail(ErrorCode::Usage,
              fmt::format("there is no model '{}'{}; `mynah models list --all` shows what can be "
                          "pulled, `mynah import` takes a file you have",
                          name, suggestion(name, names)));
}

void pull_companion(Context& context, const CatalogueEntry& entry, const PullOptions& options) {
  const auto model = engine::pull_from_catalogue(surroundings_of(context), entry, options);
  if (model) {
    print_arrival(context, *model);
  } else {
    context.say(fmt::format("{} ({}) did not come along: {}", entry.name, entry.description,
                            model.error().message));
  }
}

// Brings what a model is better with: Silero for a recogniser, voices for Kokoro. Not an error
// where one does not come, because the model works without or can be given it later.
void pull_companions(Context& context, const std::vector<const CatalogueEntry*>& entries,
                     PullOptions options) {
  options.storage = std::nullopt;
  options.force = false;
  std::set<std::string> tried;
  for (const CatalogueEntry* entry : entries) {
    const Store store(engine::store_folders(context.environment));
    for (const CatalogueEntry* companion : engine::missing_companions(store, *entry)) {
      if (tried.insert(companion->name).second) {
        pull_companion(context, *companion, options);
      }
    }
  }
}

}  // namespace

void PullCommand::fields(Fields& fields) {
  fields.positional("MODEL", names_, "Models to bring: tiny.en, silero, kokoro ...")
      .offering(names_of_catalogue());
  fields.option(
      "type", "TYPE", type_,
      "Round the matrices to f32, f16, bf16, int8, q8_0, q5_0, q5_1, q4_0 or q4_1; as the "
      "source has them without it.");
  fields.option("hub", "URL", hub_, "A mirror of the model hub.");
  fields.flag("offline", offline_, "Fetch nothing: fail where a model is not here already.");
  fields.flag("explain", explain_, "Say why the model hub cannot be reached.");
  fields.flag("force", force_, "Bring a model again that is here already.").once();
}

std::string PullCommand::details() const {
  std::string text = "Models:\n";
  for (const CatalogueEntry& entry : catalogue()) {
    text += fmt::format("  {:<20} {:>9}  {}\n", entry.name, human_bytes(entry.download_bytes),
                        entry.description);
  }
  return text;
}

Result<int> PullCommand::run(Context& context) {
  if (names_.empty()) {
    return fail(ErrorCode::Usage, "wanted the name of a model, such as tiny.en");
  }
  PullOptions options;
  options.offline = offline_;
  options.force = force_;
  options.explain = explain_;
  MYNAH_TRY(options.storage, storage_option(type_));
  if (!hub_.empty()) {
    options.hub = hub_;
    while (options.hub.ends_with('/')) {
      options.hub.pop_back();
    }
  }
  std::vector<const CatalogueEntry*> entries;
  for (const std::string& name : names_) {
    MYNAH_TRY(const CatalogueEntry* entry, entry_of(name));
    entries.push_back(entry);
  }
  const auto writes = std::ranges::find_if(
      entries, [](const auto* entry) { return is_for(entry->family, FamilyKind::Language); });
  if (options.storage && writes != entries.end()) {
    return fail(ErrorCode::Usage,
                fmt::format("--type: {} is a language model, which keeps the types that its file "
                            "has; wanted no --type",
                            (*writes)->name));
  }
  std::vector<StoredModel> arrived;
  engine::WhatFits fits(surroundings_of(context));
  for (const CatalogueEntry* entry : entries) {
    if (const auto room = fits.of(*entry)) {
      context.say(fmt::format("{} {}", entry->name, engine::describe(*room)));
    }
    MYNAH_TRY(StoredModel model,
              engine::pull_from_catalogue(surroundings_of(context), *entry, options));
    print_arrival(context, model);
    arrived.push_back(std::move(model));
  }
  const bool hears = std::ranges::any_of(
      entries, [](const auto* e) { return is_for(e->family, FamilyKind::SpeechToText); });
  if (!offline_) {
    pull_companions(context, entries, options);
  }
  for (const StoredModel& model : arrived) {
    engine::prepare_reference(surroundings_of(context), model);
  }
  if (std::ranges::any_of(arrived, brings_voices, &StoredModel::family)) {
    measure_voices(context);
  }
  if (hears) {
    say_newest_recogniser(context, Store(engine::store_folders(context.environment)));
  }
  return 0;
}

}  // namespace mynah::cli
