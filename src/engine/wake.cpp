#include "engine/wake.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/installed.h"
#include "engine/store_folders.h"
#include "store/families.h"
#include "store/store.h"

namespace mynah::engine {

namespace {

// What a newcomer is offered.
constexpr std::string_view kFirstWord = "okay-nabu";

// By name.
std::vector<StoredModel> stored_words(const Store& store) {
  std::vector<StoredModel> words = store.list();
  std::erase_if(
      words, [](const StoredModel& model) { return !is_for(model.family, FamilyKind::WakeWord); });
  return words;
}

// The folder or file of each word that is wanted, and what the store calls it.
Result<std::vector<ResolvedModel>> find_words(const Store& store, const WakeWish& wish) {
  std::vector<ResolvedModel> found;
  if (wish.empty()) {
    for (const StoredModel& model : stored_words(store)) {
      found.push_back({.path = model.path(), .name = model.name});
    }
    if (found.empty()) {
      return fail(ErrorCode::Environment,
                  fmt::format("no wake word is on this machine: run 'mynah pull {}', or take in a "
                              ".tflite file of microWakeWord with its .json by 'mynah import'",
                              kFirstWord));
    }
  }
  for (const std::string& name : wish) {
    auto resolved = store.resolve(name);
    if (!resolved) {
      return std::unexpected(as_named(std::move(resolved).error(), name));
    }
    if (const auto stored = store.find(resolved->name);
        stored && !is_for(stored->family, FamilyKind::WakeWord)) {
      return fail(ErrorCode::Usage,
                  fmt::format("{} ({}) is no wake word; wanted one, such as {}", stored->name,
                              kind_of_family(stored->family), kFirstWord));
    }
    if (std::ranges::find(found, resolved->path, &ResolvedModel::path) == found.end()) {
      found.push_back(*std::move(resolved));
    }
  }
  return found;
}

}  // namespace

Result<std::vector<std::shared_ptr<const WakeWord>>> open_wake_words(
    const WakeWish& wish, const Environment& environment) {
  MYNAH_TRY(const std::vector<ResolvedModel> found,
            find_words(Store(store_folders(environment)), wish));
  std::vector<std::shared_ptr<const WakeWord>> words;
  for (const ResolvedModel& model : found) {
    auto word = WakeWord::load(model.path);
    if (!word) {
      return std::unexpected(as_stored(std::move(word).error(), model.name, "--word"));
    }
    words.push_back(*std::move(word));
  }
  return words;
}

Result<OpenedWakeCheck> open_wake_check(WakeConfirm confirm, const RecognizerWish& wish,
                                        const Surroundings& surroundings) {
  OpenedWakeCheck opened;
  const bool wanted =
      confirm == WakeConfirm::Yes ||
      (confirm == WakeConfirm::Auto && !hearing_model(wish, surroundings.environment).empty());
  if (!wanted) {
    return opened;
  }
  MYNAH_TRY(opened.recognizer, open_recognizer(wish, surroundings));
  if (opened.recognizer.model == nullptr) {
    return fail(ErrorCode::Unsupported,
                "the built-in recogniser cannot confirm a wake word: wanted a model, such as "
                "tiny.en (mynah pull tiny.en)");
  }
  MYNAH_TRY(opened.check, WakeCheck::create(opened.recognizer.model));
  return opened;
}

std::string wake_words_here(const Environment& environment) {
  std::string names;
  for (const StoredModel& model : stored_words(Store(store_folders(environment)))) {
    names += (names.empty() ? "" : ", ") + model.name;
  }
  return names.empty() ? fmt::format("none ('mynah pull {}' brings one)", kFirstWord) : names;
}

std::vector<std::shared_ptr<const WakeWord>> installed_wake_words(const Environment& environment) {
  std::vector<std::shared_ptr<const WakeWord>> words;
  for (const StoredModel& model : stored_words(Store(store_folders(environment)))) {
    if (auto word = WakeWord::load(model.path())) {
      words.push_back(*std::move(word));
    }
  }
  return words;
}

}  // namespace mynah::engine
