#include "engine/chat.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "engine/installed.h"
#include "engine/store_folders.h"
#include "store/families.h"
#include "store/store.h"

namespace mynah::engine {

namespace {

// What a newcomer is offered: small, and its weights can be had without a model hub.
constexpr std::string_view kFirstModel = "smollm2";

struct Found {
  std::string path;
  std::string name;
  std::string stored;  // as the store calls it; "": it is no model of the store
  std::string why;
};

Result<Found> find(const Store& store, const ChatWish& wish) {
  if (wish.model == "auto") {
    const auto newest = newest_language_model(store);
    if (!newest) {
      return fail(ErrorCode::Environment,
                  fmt::format("no language model is on this machine: run 'mynah pull {}', or take "
                              "in a GGUF file with 'mynah import'",
                              kFirstModel));
    }
    return Found{.path = newest->path(),
                 .name = newest->name,
                 .stored = newest->name,
                 .why = "the newest here"};
  }
  auto resolved = store.resolve(wish.model);
  if (!resolved) {
    return std::unexpected(as_named(std::move(resolved).error(), wish.model));
  }
  if (const auto stored = store.find(resolved->name);
      stored && !is_for(stored->family, FamilyKind::Language)) {
    return fail(ErrorCode::Usage,
                fmt::format("{} ({}) writes no texts; wanted a language model, such as {}",
                            stored->name, kind_of_family(stored->family), kFirstModel));
  }
  std::string name = resolved->name.empty() ? name_of_path(resolved->path) : resolved->name;
  return Found{.path = resolved->path,
               .name = std::move(name),
               .stored = resolved->name,
               .why = "asked for by name"};
}

// As many tokens as the wish has, or the refusal of more than there can be.
Status check_context(const ChatWish& wish, const std::string& name, int64_t trained) {
  if (wish.lowers_context || wish.context.value_or(0) <= trained) {
    return {};
  }
  return fail(ErrorCode::Usage,
              fmt::format("{} was trained for {} tokens, and a context of {} is wanted: name {} at "
                          "most, or 0 for all of them",
                          name, trained, *wish.context, trained));
}

// That there is no room for as many tokens as usual.
void tell_of_context(const OpenedChat& opened, const place::LanguageFile& file,
                     const Surroundings& surroundings) {
  const LanguageFacts& facts = opened.chat->facts();
  const int64_t usual = std::min(file.context, facts.trained_context);
  if (facts.context >= usual) {
    return;
  }
  surroundings.note(
      {.code = "context-lowered",
       .text = fmt::format("{} has no room for {} tokens of this model's texts: a conversation may "
                           "have {}",
                           opened.device(), usual, facts.context),
       .remedy =
           fmt::format("--context {} insists, and computes elsewhere where it has to", usual)});
}

}  // namespace

Result<OpenedChat> open_chat(const ChatWish& wish, const Surroundings& surroundings) {
  const Store store(store_folders(surroundings.environment));
  MYNAH_TRY(Found found, find(store, wish));
  OpenedChat opened;
  opened.explanation.push_back(fmt::format("model {}: {}", found.name, found.why));
  MYNAH_TRY(opened.placer, open_placer(wish.placement, surroundings));
  MYNAH_TRY_STATUS(opened.placer->check_profile(place::writing_group()));
  place::LanguageFile file{.path = found.path,
                           .precision = wish.placement.precision,
                           .cache_folder = store.folders().cache,
                           .context = wish.context.value_or(ChatWish::kUsualContext),
                           .least_context = wish.context ? 0 : ChatWish::kLeastContext};
  const auto read = open_writing(found.path);
  if (read) {
    MYNAH_TRY_STATUS(check_context(wish, found.name, (*read)->trained_context()));
    MYNAH_TRY(file, opened.placer->cut(file, **read, wish.placement.gpu_layers));
  }
  auto model = read ? opened.placer->language(file, *read)
                    : Result<std::shared_ptr<const LanguageModel>>(std::unexpected(read.error()));
  if (!model) {
    return std::unexpected(as_stored(std::move(model).error(), found.stored, "--model"));
  }
  opened.id = opened.placer->id_of(file);
  MYNAH_TRY(opened.chat, ChatModel::open((*read)->contents(), *std::move(model)));
  tell_of_context(opened, file, surroundings);
  for (std::string& line : opened.placer->explain()) {
    opened.explanation.push_back(std::move(line));
  }
  opened.model_path = std::move(found.path);
  opened.name = std::move(found.name);
  return opened;
}

Result<std::string> check_writing_model(const ChatWish& wish, const Environment& environment) {
  MYNAH_TRY(Found found, find(Store(store_folders(environment)), wish));
  return std::move(found.path);
}

Status check_context(const ChatWish& wish, const Environment& environment) {
  if (wish.context.value_or(0) == 0) {
    return {};
  }
  const auto found = find(Store(store_folders(environment)), wish);
  if (!found) {
    return {};
  }
  const auto read = open_writing(found->path);
  return read ? check_context(wish, found->name, (*read)->trained_context()) : Status();
}

std::string writing_model(const ChatWish& wish, const Environment& environment) {
  return check_writing_model(wish, environment).value_or("");
}

}  // namespace mynah::engine
