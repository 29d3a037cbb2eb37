#include "cli/models/models.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/nearest_name.h"
#include "chat/language_model.h"
#include "cli/models/store_access.h"
#include "cli/models/surroundings.h"
#include "engine/installed.h"
#include "engine/store_folders.h"
#include "engine/what_fits.h"
#include "server/compat/model_details.h"
#include "store/families.h"
#include "store/files.h"

namespace mynah::cli {

namespace {

using Json = nlohmann::ordered_json;

// "; needs 1.3 GB ...", of a model that writes texts.
std::string room_text(const std::optional<engine::WritingRoom>& room) {
  return room ? "; " + engine::describe(*room) : std::string();
}

constexpr size_t kNameColumns = 20;

// A model that can be pulled; its name has so many columns.
void print_entry(Context& context, const CatalogueEntry& entry, engine::WhatFits& fits,
                 size_t columns = kNameColumns) {
  const auto room = fits.of(entry);
  if (context.json) {
    Json json = {{"name", entry.name},
                 {"family", entry.family},
                 {"kind", kind_of_family(entry.family)},
                 {"here", false},
                 {"description", entry.description},
                 {"licence", entry.licence},
                 {"download_bytes", entry.download_bytes}};
    if (room) {
      json["memory"] = engine::to_json(*room);
    }
    context.out.line(json.dump());
  } else {
    context.out.line(fmt::format(
        "{:<{}} {:<14} {:<8} {:>9}  {}{}", entry.name, columns, kind_of_family(entry.family),
        "not here", human_bytes(entry.download_bytes), entry.description, room_text(room)));
  }
}

void print_catalogue(Context& context, const std::vector<StoredModel>& here, engine::WhatFits& fits,
                     size_t columns) {
  for (const CatalogueEntry& entry : catalogue()) {
    if (std::ranges::find(here, entry.name, &StoredModel::name) == here.end()) {
      print_entry(context, entry, fits, columns);
    }
  }
}

// The store's own name of each, once; an error that tells all that the store has not.
Result<std::vector<std::string>> own_names(const Store& store,
                                           const std::vector<std::string>& words) {
  std::vector<std::string> names;
  std::vector<std::string> unknown;
  std::optional<Error> first;
  for (const std::string& word : words) {
    auto name = store.own_name(word);
    if (!name) {
      unknown.push_back(word);
      first = first ? first : engine::as_named(std::move(name).error(), word);
    } else if (std::ranges::count(names, *name) == 0) {
      names.push_back(*std::move(name));
    }
  }
  if (!first) {
    return names;
  }
  if (unknown.size() > 1) {
    first->message =
        fmt::format("there are no models '{}' here; `mynah models` shows what there is",
                    fmt::join(unknown, "', '"));
  }
  if (words.size() > unknown.size()) {
    first->message += "; nothing was removed";
  }
  return std::unexpected(*std::move(first));
}

// What a language model's file says of it.
struct WritingFacts {
  server::ModelDetails details;
  int64_t trained_context = 0;
};

// None where the model writes no texts, or its file cannot be read.
std::optional<WritingFacts> facts_of(const StoredModel& model) {
  if (!is_for(model.family, FamilyKind::Language)) {
    return std::nullopt;
  }
  const auto file = open_writing(model.path());
  return file ? std::optional(WritingFacts{.details = server::details_of((*file)->contents()),
                                           .trained_context = (*file)->trained_context()})
              : std::nullopt;
}

std::string describe(const WritingFacts& facts) {
  return fmt::format("{}, {} parameters, trained for {} tokens", facts.details.architecture,
                     server::parameters_text(facts.details.parameters), facts.trained_context);
}

void print_model(Context& context, const StoredModel& model,
                 const std::optional<WritingFacts>& facts,
                 const std::optional<engine::WritingRoom>& room) {
  const auto line = [&](std::string_view label, std::string_view value) {
    context.out.line(fmt::format("  {:<9} {}", label, value));
  };
  context.out.line(model.name);
  line("kind", kind_of_family(model.family));
  line("family", model.family);
  if (facts) {
    line("network", describe(*facts));
  }
  line("storage", model.storage);
  if (model.set.empty()) {
    line("file", fmt::format("{} ({})", model.path(), human_bytes(model.size)));
    line("sha256", model.sha256);
  } else {
    line("folder", fmt::format("{} ({})", model.path(), human_bytes(model.size)));
    for (const StoredFile& file : model.set) {
      line("file",
           fmt::format("{} ({}, SHA-256 {})", file.name, human_bytes(file.size), file.sha256));
    }
  }
  line("licence", model.licence_url.empty()
                      ? model.licence
                      : fmt::format("{} ({})", model.licence, model.licence_url));
  if (room) {
    line("memory", engine::describe(*room));
  }
  line("source", model.source);
  line("created", model.created);
  for (const OriginFile& file : model.files) {
    line("from", fmt::format("{} ({}, SHA-256 {}, {})", file.from, human_bytes(file.size),
                             file.sha256, file.proof));
  }
}

}  // namespace

void ModelsCommand::fields(Fields& fields) {
  fields
      .positional("ACTION", words_,
                  "list (the default), show, verify or remove, then names of models.")
      .as_optional()
      .offering({"list", "show", "verify", "remove"})
      .completes(Complete::Models);
  fields.flag("all", all_, "list: also what can be pulled; verify: every model.").once();
}

std::string ModelsCommand::details() const {
  return "Actions:\n"
         "  list             what is on this machine; with --all also what can be pulled, and of\n"
         "                   language models where they fit\n"
         "  show NAME ...    where a model came from, its licence and digests; of one that is not\n"
         "                   here what pull would bring\n"
         "  verify [NAME...] compare models, or all, with the digests taken when they came\n"
         "  remove NAME ...  remove models and what was cached for them\n";
}

Result<int> ModelsCommand::run(Context& context) {
  const Store store(engine::store_folders(context.environment));
  const std::string action = words_.empty() ? "list" : words_.front();
  if (action == "list") {
    if (words_.size() > 1) {
      return fail(
          ErrorCode::Usage,
          fmt::format("list takes no names, found '{0}'; 'mynah models show {0}' tells about "
                      "one model",
                      words_[1]));
    }
    return list(context, store);
  }
  if (action == "show") {
    return show(context, store);
  }
  if (action == "verify") {
    return verify(context, store);
  }
  if (action == "remove") {
    return remove(context, store);
  }
  const std::vector<std::string> actions = {"list", "show", "verify", "remove"};
  return fail(ErrorCode::Usage, fmt::format("wanted list, show, verify or remove, found '{}'{}",
                                            action, suggestion(action, actions)));
}

Result<int> ModelsCommand::list(Context& context, const Store& store) const {
  std::vector<std::string> damaged;
  const std::vector<StoredModel> models = store.list(&damaged);
  engine::WhatFits fits(surroundings_of(context));
  size_t columns = kNameColumns;
  for (const StoredModel& model : models) {
    columns = std::max(columns, model.name.size());
  }
  for (const StoredModel& model : models) {
    // A model's file is read for it: where all is asked for, and not by the short list.
    const auto room = all_ ? fits.of(model) : std::nullopt;
    if (context.json) {
      Json json = to_json(model);
      json["here"] = true;
      if (room) {
        json["memory"] = engine::to_json(*room);
      }
      context.out.line(json.dump());
    } else {
      context.out.line(fmt::format("{:<{}} {:<14} {:<8} {:>9}  licence {}, {}{}", model.name,
                                   columns, kind_of_family(model.family), model.storage,
                                   human_bytes(model.size), model.licence, model.source,
                                   room_text(room)));
    }
  }
  for (const std::string& name : damaged) {
    context.say(
        fmt::format("{} is damaged: `mynah models remove {}`, then pull it again", name, name));
  }
  if (all_) {
    print_catalogue(context, models, fits, columns);
  } else if (models.empty() && !context.json) {
    context.say(
        "no models yet: `mynah pull tiny.en` brings one, `mynah models list --all` shows "
        "which there are");
  }
  return 0;
}

Result<std::vector<StoredModel>> ModelsCommand::named(const Store& store) const {
  if (words_.size() <= 1) {
    return store.list();
  }
  std::vector<StoredModel> models;
  for (size_t i = 1; i < words_.size(); ++i) {
    auto model = store.find(words_[i]);
    if (!model) {
      return std::unexpected(engine::as_named(std::move(model).error(), words_[i]));
    }
    models.push_back(*std::move(model));
  }
  return models;
}

Result<int> ModelsCommand::show(Context& context, const Store& store) const {
  if (words_.size() <= 1) {
    return fail(ErrorCode::Usage, "show: wanted the name of a model");
  }
  engine::WhatFits fits(surroundings_of(context));
  for (size_t i = 1; i < words_.size(); ++i) {
    const auto model = store.find(words_[i]);
    const CatalogueEntry* const entry = find_in_catalogue(words_[i]);
    if (!model && model.error().code == ErrorCode::NotFound && entry != nullptr) {
      print_entry(context, *entry, fits);
      continue;
    }
    if (!model) {
      return std::unexpected(engine::as_named(model.error(), words_[i]));
    }
    const auto facts = facts_of(*model);
    const auto room = fits.of(*model);
    if (context.json) {
      Json json = to_json(*model);
      if (facts) {
        json["architecture"] = facts->details.architecture;
        json["parameters"] = facts->details.parameters;
        json["trained_context"] = facts->trained_context;
      }
      if (room) {
        json["memory"] = engine::to_json(*room);
      }
      context.out.line(json.dump());
    } else {
      print_model(context, *model, facts, room);
    }
  }
  return 0;
}

Result<int> ModelsCommand::verify(Context& context, const Store& store) const {
  MYNAH_TRY(const std::vector<StoredModel> models, named(store));
  int code = 0;
  for (const StoredModel& model : models) {
    Status status;
    {
      StoreProgress progress(context);
      status = store.verify(model, progress, context.stop);
    }
    if (!status && status.error().code == ErrorCode::Cancelled) {
      return std::unexpected(std::move(status).error());
    }
    code = status ? code : 1;
    const std::string problem = status ? "" : status.error().message;
    if (context.json) {
      Json json = {{"name", model.name}, {"good", status.has_value()}};
      if (!status) {
        json["problem"] = problem;
      }
      context.out.line(json.dump());
    } else {
      context.out.line(fmt::format("{}: {}", model.name, status ? "good" : problem));
    }
  }
  return code;
}

Result<int> ModelsCommand::remove(Context& context, const Store& store) const {
  if (words_.size() <= 1) {
    return fail(ErrorCode::Usage, "remove: wanted the name of a model");
  }
  const std::vector<std::string> words(words_.begin() + 1, words_.end());
  MYNAH_TRY(const std::vector<std::string> names, own_names(store, words));
  for (const std::string& name : names) {
    const auto removed = store.remove(name);
    if (!removed) {
      return std::unexpected(engine::as_named(removed.error(), name));
    }
    const uint64_t freed = removed->model + removed->packed;
    if (context.json) {
      const Json json = {{"name", name}, {"freed_bytes", freed}};
      context.out.line(json.dump());
    } else {
      context.out.line(fmt::format("removed {}: {} freed{}", name, human_bytes(freed),
                                   removed->packed > 0 ? ", with its packed copies" : ""));
    }
  }
  return 0;
}

}  // namespace mynah::cli
