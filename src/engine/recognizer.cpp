#include "engine/recognizer.h"

#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "engine/installed.h"
#include "engine/memory_advice.h"
#include "engine/store_folders.h"
#include "place/terms/stage.h"
#include "speech/window_model.h"
#include "store/store.h"
#include "tensor/device_error.h"

namespace mynah::engine {

namespace {

// What a newcomer is offered: small, and its weights can be had without a model hub.
constexpr std::string_view kFirstModel = "tiny.en";

struct FoundModel {
  std::string path;  // empty: the built-in recogniser
  std::string why;
  std::string name;  // in the store; empty where a path was named
};

bool may_pull(const CatalogueEntry& entry, const RecognizerWish& wish,
              const Surroundings& surroundings) {
  return !wish.offline && (wish.yes || (surroundings.may_pull && surroundings.may_pull(entry)));
}

// Pulls a model, and the voice detector with it: a Whisper alone hears less well.
Result<FoundModel> pull_model_of(const CatalogueEntry& entry, const Store& store,
                                 const Surroundings& surroundings) {
  MYNAH_TRY(const StoredModel model, pull_from_catalogue(surroundings, entry, PullOptions{}));
  if (!default_detector(store)) {
    const auto pulled = pull_from_catalogue(surroundings, detector_entry(), PullOptions{});
    if (!pulled) {  // the built-in one will do
      surroundings.note({.code = "pull-failed", .text = pulled.error().message, .remedy = {}});
    }
  }
  return FoundModel{.path = model.path(), .why = entry.name + ": just pulled", .name = model.name};
}

// A model named by the user: that one, or an error that says how to get it.
Result<FoundModel> find_named(const Store& store, const RecognizerWish& wish,
                              const Surroundings& surroundings) {
  if (wish.model == "builtin") {
    return FoundModel{.path = "", .why = "builtin: asked for by name", .name = {}};
  }
  const auto resolved = store.resolve(wish.model);
  if (resolved) {
    MYNAH_TRY_STATUS(check_writes(store, resolved->name, kFirstModel));
    return FoundModel{
        .path = resolved->path, .why = wish.model + ": asked for by name", .name = resolved->name};
  }
  const CatalogueEntry* entry = find_in_catalogue(wish.model);
  if (resolved.error().code != ErrorCode::NotFound || entry == nullptr) {
    return std::unexpected(as_named(resolved.error(), wish.model));
  }
  if (may_pull(*entry, wish, surroundings)) {
    return pull_model_of(*entry, store, surroundings);
  }
  return fail(ErrorCode::Environment,
              fmt::format("the model {0} is not on this machine: run 'mynah pull {0}'{1}",
                          entry->name, surroundings.may_pull ? ", or add --yes" : ""));
}

// No model named: the newest Whisper of the store, else tiny.en pulled, else the built-in one.
Result<FoundModel> find_any(const Store& store, const RecognizerWish& wish,
                            const Surroundings& surroundings) {
  if (const auto newest = newest_recogniser(store)) {
    return FoundModel{
        .path = newest->path(), .why = newest->name + ": the newest here", .name = newest->name};
  }
  const CatalogueEntry* entry = find_in_catalogue(kFirstModel);
  if (entry != nullptr && may_pull(*entry, wish, surroundings)) {
    auto pulled = pull_model_of(*entry, store, surroundings);
    if (pulled) {
      return pulled;
    }
    if (pulled.error().code == ErrorCode::Cancelled) {
      return std::unexpected(pulled.error());
    }
    surroundings.note({.code = "pull-failed", .text = pulled.error().message, .remedy = {}});
  }
  if (!wish.placement.quiet) {
    surroundings.note(
        {.code = "builtin-recognizer",
         .text = "no model was pulled: using the built-in recogniser, which is for US English and "
                 "much less exact",
         .remedy = fmt::format("'mynah pull {}' brings a better one", kFirstModel)});
  }
  return FoundModel{.path = "", .why = "builtin: no model was pulled", .name = {}};
}

Result<std::shared_ptr<const VoiceDetector>> open_voice(const Store& store,
                                                        const RecognizerWish& wish,
                                                        const Surroundings& surroundings,
                                                        OpenedRecognizer& opened) {
  constexpr int kRate_hz = 16000;
  if (wish.vad_model == "builtin") {
    opened.explanation.emplace_back("voice detector builtin: asked for by name");
    return builtin_voice_detector();
  }
  const bool any = wish.vad_model == "auto";
  const auto resolved = resolve_detector(store, wish.vad_model);
  if (!resolved) {
    if (!any) {
      return std::unexpected(as_named(resolved.error(), wish.vad_model));
    }
    const std::string& better = detector_entry().name;
    if (wish.cuts && !wish.placement.quiet) {
      surroundings.note(
          {.code = "builtin-detector",
           .text = better +
                   " was not pulled: using the built-in voice detector, which knows speech less "
                   "well",
           .remedy = fmt::format("'mynah pull {}' brings the better one, --vad-model builtin keeps "
                                 "this one",
                                 better)});
    }
    opened.explanation.push_back("voice detector builtin: " + better + " was not pulled");
    return builtin_voice_detector();
  }
  MYNAH_TRY_STATUS(check_finds_speech(store, *resolved));
  opened.explanation.push_back("voice detector " + resolved->path);
  auto loaded = opened.placer->detector({.path = resolved->path, .rate_hz = kRate_hz});
  if (!loaded) {
    return std::unexpected(
        as_stored(std::move(loaded).error(), resolved->name, "--vad-model OTHER"));
  }
  return loaded;
}

// What would fit, where a device had no room for the model.
Error with_room(Error error, const place::WindowsFile& file, const place::Placer& placer) {
  const auto full = placer.no_room(placer.id_of(file));
  if (error.code != ErrorCode::OutOfMemory || !full || full->no_room.memory.total == 0) {
    return error;
  }
  return with_what_fits(full->no_room.error, file.path, full->device, full->no_room.memory);
}

// What the first of its stages is compiled for.
std::string architecture_of(const place::Placer& placer) {
  const auto first = place::stage_name(place::stages_of(place::hearing_group()).front());
  std::string architecture;
  for (const StagePlacement& stage : placer.report().stages) {
    if (stage.stage == first) {
      architecture = stage.architecture;
    }
  }
  return architecture;
}

}  // namespace

std::string OpenedRecognizer::device() const {
  return model != nullptr && placer ? placer->device(id) : "cpu";
}

Status OpenedRecognizer::warm_up() const {
  if (model == nullptr) {
    return {};
  }
  const auto computed = or_device_error([this] { return model->probe(); });
  return computed ? Status{} : std::unexpected(computed.error());
}

std::string hearing_model(const RecognizerWish& wish, const Environment& environment) {
  const Store store(store_folders(environment));
  if (wish.model == "auto") {
    const auto newest = newest_recogniser(store);
    return newest ? newest->path() : std::string();
  }
  const auto resolved = store.resolve(wish.model);
  return resolved ? resolved->path : std::string();
}

Result<std::string> check_hearing_model(const RecognizerWish& wish,
                                        const Environment& environment) {
  const Store store(store_folders(environment));
  FoundModel found;
  if (wish.model != "auto") {
    MYNAH_TRY(found, find_named(store, wish, {.environment = environment}));
  } else if (const auto newest = newest_recogniser(store)) {
    found = {.path = newest->path(), .why = {}, .name = newest->name};
  }
  if (found.path.empty()) {
    return found.path;
  }
  if (auto file = open_hearing(found.path); !file) {
    return std::unexpected(as_stored(std::move(file).error(), found.name, "--model OTHER"));
  }
  return found.path;
}

Result<OpenedRecognizer> open_recognizer(const RecognizerWish& wish,
                                         const Surroundings& surroundings) {
  OpenedRecognizer opened;
  MYNAH_TRY(opened.placer, open_placer(wish.placement, surroundings));
  const Store store(store_folders(surroundings.environment));
  MYNAH_TRY(const FoundModel found, wish.model == "auto" ? find_any(store, wish, surroundings)
                                                         : find_named(store, wish, surroundings));
  opened.explanation.push_back("model " + found.why);
  opened.model_path = found.path;
  if (found.path.empty()) {
    MYNAH_TRY_STATUS(
        opened.placer->check_processor(place::hearing_group(), "the built-in recogniser"));
    MYNAH_TRY(opened.recognizer, builtin_recognizer());
    return opened;
  }
  MYNAH_TRY(auto voice, open_voice(store, wish, surroundings, opened));
  const place::WindowsFile file{.path = found.path,
                                .precision = wish.placement.precision,
                                .cache_folder = store.folders().cache};
  auto loaded = opened.placer->windows(file);
  if (!loaded) {
    return std::unexpected(as_stored(with_room(std::move(loaded).error(), file, *opened.placer),
                                     found.name, "--model OTHER"));
  }
  opened.id = opened.placer->id_of(file);
  opened.voice = voice;
  opened.model = *loaded;
  opened.recognizer = make_recognizer(*std::move(loaded), std::move(voice));
  opened.architecture = architecture_of(*opened.placer);
  for (std::string& line : opened.placer->explain()) {
    opened.explanation.push_back(std::move(line));
  }
  return opened;
}

}  // namespace mynah::engine
