#include "cli/engine.h"

#include <fmt/format.h>

#include "cli/memory_advice.h"
#include "cli/store_access.h"
#include "speech/window_model.h"
#include "store/pull.h"
#include "store/store.h"

namespace mynah::cli {

namespace {

// What a newcomer is offered: small, and its weights can be had without a model hub.
constexpr std::string_view kFirstModel = "tiny.en";
// The voice detector that comes with it.
constexpr std::string_view kVoiceModel = "silero";

struct FoundModel {
  std::string path;  // empty: the built-in recogniser
  std::string why;
  std::string name;  // in the store; empty where a path was named
};

// What is wrong with a model of the store, with its name and the ways out: the user may not have
// named it, since the newest is taken. `flag` names another.
Error as_stored(Error error, const std::string& name, std::string_view flag) {
  const bool of_the_file = error.code == ErrorCode::InvalidInput ||
                           error.code == ErrorCode::Unsupported ||
                           error.code == ErrorCode::NotFound || error.code == ErrorCode::Io;
  if (of_the_file && !name.empty()) {
    error.message = fmt::format(
        "the model {0} cannot be used: {1}; remove it with `mynah models remove {0}`, or name "
        "another with {2}",
        name, error.message, flag);
  }
  return error;
}

bool wants_pull(const CatalogueEntry& entry, const EngineOptions& options, Context& context) {
  if (options.offline) {
    return false;
  }
  if (options.yes) {
    return true;
  }
  if (!context.in.is_terminal() || !context.err.is_terminal() || context.json) {
    return false;
  }
  context.err.write(
      fmt::format("The model {} is not here yet: {:.0f} MB, licence {}. Pull it now? [Y/n] ",
                  entry.name, static_cast<double>(entry.download_bytes) / 1e6, entry.licence));
  context.err.flush();
  const auto answer = context.in.read_line();
  return answer && (answer->empty() || answer->front() == 'y' || answer->front() == 'Y');
}

// Pulls a model, and the voice detector with it: a Whisper alone hears less well.
Result<FoundModel> pull_model_of(const CatalogueEntry& entry, const Store& store,
                                 const Context& context) {
  MYNAH_TRY(const StoredModel model, pull_for_user(context, entry, PullOptions{}));
  const CatalogueEntry* voice = find_in_catalogue(kVoiceModel);
  if (voice != nullptr && !default_detector(store)) {
    const auto pulled = pull_for_user(context, *voice, PullOptions{});
    if (!pulled) {
      context.say(pulled.error().message);  // the built-in one will do
    }
  }
  return FoundModel{.path = model.path(), .why = entry.name + ": just pulled", .name = model.name};
}

// The voice detector is the model that users take for the other one. A path's file tells itself.
Status check_writes(const Store& store, const std::string& name) {
  if (name.empty()) {
    return {};
  }
  const auto model = store.find(name);
  if (model && model->family == kDetectorFamily) {
    return fail(ErrorCode::Usage,
                fmt::format("{} is a voice detector, which finds speech but does not write it "
                            "(--vad-model takes it); wanted a Whisper model, such as {}",
                            name, kFirstModel));
  }
  return {};
}

// A model named by the user: that one, or an error that says how to get it.
Result<FoundModel> find_named(const Store& store, const EngineOptions& options, Context& context) {
  if (options.model == "builtin") {
    return FoundModel{.path = "", .why = "builtin: asked for by name", .name = {}};
  }
  const auto resolved = store.resolve(options.model);
  if (resolved) {
    MYNAH_TRY_STATUS(check_writes(store, resolved->name));
    return FoundModel{.path = resolved->path,
                      .why = options.model + ": asked for by name",
                      .name = resolved->name};
  }
  const CatalogueEntry* entry = find_in_catalogue(options.model);
  if (resolved.error().code != ErrorCode::NotFound || entry == nullptr) {
    return std::unexpected(as_named(resolved.error(), options.model));
  }
  if (wants_pull(*entry, options, context)) {
    return pull_model_of(*entry, store, context);
  }
  return fail(
      ErrorCode::Environment,
      fmt::format("the model {0} is not on this machine: run 'mynah pull {0}', or add --yes",
                  entry->name));
}

// No model named: the newest Whisper of the store, else tiny.en pulled, else the built-in one.
Result<FoundModel> find_any(const Store& store, const EngineOptions& options, Context& context) {
  if (const auto newest = newest_recogniser(store)) {
    return FoundModel{
        .path = newest->path(), .why = newest->name + ": the newest here", .name = newest->name};
  }
  const CatalogueEntry* entry = find_in_catalogue(kFirstModel);
  if (entry != nullptr && wants_pull(*entry, options, context)) {
    auto pulled = pull_model_of(*entry, store, context);
    if (pulled) {
      return pulled;
    }
    if (pulled.error().code == ErrorCode::Cancelled) {
      return std::unexpected(pulled.error());
    }
    context.say(pulled.error().message);
  }
  if (!options.wish.quiet) {
    context.say(
        fmt::format("no model was pulled: using the built-in recogniser, which is for US "
                    "English and much less exact; 'mynah pull {}' brings a better one",
                    kFirstModel));
  }
  return FoundModel{.path = "", .why = "builtin: no model was pulled", .name = {}};
}

Result<std::shared_ptr<const VoiceDetector>> open_voice(const Store& store,
                                                        const EngineOptions& options,
                                                        const Context& context, Engine& engine) {
  constexpr int kRate_hz = 16000;
  if (options.vad_model == "builtin") {
    engine.explanation.emplace_back("voice detector builtin: asked for by name");
    return builtin_voice_detector();
  }
  const bool any = options.vad_model == "auto";
  const auto resolved = resolve_detector(store, options.vad_model);
  if (!resolved) {
    if (!any) {
      return std::unexpected(as_named(resolved.error(), options.vad_model));
    }
    if (options.cuts && !options.wish.quiet) {
      context.say(
          "silero was not pulled: using the built-in voice detector, which knows speech less well; "
          "'mynah pull silero' brings the better one, --vad-model builtin keeps this one");
    }
    engine.explanation.emplace_back("voice detector builtin: silero was not pulled");
    return builtin_voice_detector();
  }
  MYNAH_TRY_STATUS(check_finds_speech(store, *resolved));
  engine.explanation.push_back("voice detector " + resolved->path);
  auto loaded = engine.placer->detector({.path = resolved->path, .rate_hz = kRate_hz});
  if (!loaded) {
    return std::unexpected(
        as_stored(std::move(loaded).error(), resolved->name, "--vad-model OTHER"));
  }
  return loaded;
}

// What would fit, where a device had no room for the model.
Error with_room(Error error, const std::string& model_path, const place::Placer& placer) {
  const auto full = placer.no_room(place::hearing_group());
  if (error.code != ErrorCode::OutOfMemory || !full || full->no_room.memory.total == 0) {
    return error;
  }
  return with_what_fits(full->no_room.error, model_path, full->device, full->no_room.memory);
}

}  // namespace

Result<Engine> open_engine(const EngineOptions& options, Context& context) {
  Engine engine;
  MYNAH_TRY(engine.placer, open_placer(options.wish, context));
  const Store store(store_folders(context.environment));
  MYNAH_TRY(const FoundModel found, options.model == "auto" ? find_any(store, options, context)
                                                            : find_named(store, options, context));
  engine.explanation.push_back("model " + found.why);
  engine.model_path = found.path;
  if (found.path.empty()) {
    MYNAH_TRY_STATUS(
        engine.placer->check_processor(place::hearing_group(), "the built-in recogniser"));
    MYNAH_TRY(engine.recognizer, builtin_recognizer());
    return engine;
  }
  MYNAH_TRY(auto voice, open_voice(store, options, context, engine));
  auto loaded = engine.placer->windows({.path = found.path,
                                        .precision = options.wish.precision,
                                        .cache_folder = store.folders().cache});
  if (!loaded) {
    return std::unexpected(
        as_stored(with_room(std::move(loaded).error(), found.path, *engine.placer), found.name,
                  "--model OTHER"));
  }
  engine.voice = voice;
  engine.recognizer = make_recognizer(std::move(*loaded), std::move(voice));
  for (const StagePlacement& stage : engine.placer->report().stages) {
    if (stage.stage == place::stage_name(place::stages_of(place::hearing_group()).front())) {
      engine.architecture = stage.architecture;
    }
  }
  for (std::string& line : engine.placer->explain()) {
    engine.explanation.push_back(std::move(line));
  }
  return engine;
}

}  // namespace mynah::cli
