#include "cli/models/import.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "backend/cpu/cpu_backend.h"
#include "base/thread_pool.h"
#include "cli/models/measure_voices.h"
#include "cli/models/store_access.h"
#include "engine/store_folders.h"
#include "place/discovery/host.h"
#include "place/kinds/families.h"
#include "store/families.h"
#include "store/file_sets.h"

namespace mynah::cli {

namespace {

// Loads what was made of `path`, as transcribe and speak would: a broken vocabulary or shapes that
// do not fit are told now, and not by the runs that take the newest model.
Status load(const StoredModel& model) {
  ThreadPool pool(place::usable_cores());
  MYNAH_TRY(const std::unique_ptr<Backend> backend, make_cpu_backend(pool));
  const place::FamilyLoader* const loader = place::find_loader(model.family);
  return loader == nullptr ? Status{} : loader->check(model, *backend);
}

Status check_loads(const std::string& path, const StoredModel& model) {
  const Status loaded = load(model);
  if (!loaded) {
    std::string_view why = loaded.error().message;
    if (const std::string copy = model.path() + ": "; why.starts_with(copy)) {
      why.remove_prefix(copy.size());  // of which nothing is left
    }
    return fail(loaded.error().code,
                fmt::format("{}: not imported, as it cannot be used: {}", path, why));
  }
  return {};
}

}  // namespace

void ImportCommand::fields(Fields& fields) {
  fields
      .positional("PATH", paths_,
                  "A model: safetensors, GGUF, whisper.cpp .bin, PyTorch .pt, ONNX, a CTranslate2 "
                  "or Hugging Face folder, a wheel; a Piper voice's .onnx with its .onnx.json "
                  "beside it; or Kokoro's voices: .pt, .npz, voices-v1.0.bin, a folder of them.")
      .completes(Complete::Files);
  fields.option("name", "NAME", name_, "What to call it; made from the path without it.").once();
  fields.option(
      "type", "TYPE", type_,
      "Round the matrices to f32, f16, bf16, int8, q8_0, q5_0, q5_1, q4_0 or q4_1; as the "
      "source has them without it.");
  fields.flag("force", force_, "Replace a model of that name.").once();
}

Result<int> ImportCommand::run(Context& context) {
  if (paths_.empty()) {
    return fail(ErrorCode::Usage, "wanted the path of a model's file or folder");
  }
  if (paths_.size() > 1 && !name_.empty()) {
    return fail(ErrorCode::Usage, "--name is for one path, found several");
  }
  ImportOptions options{.name = name_, .storage = {}, .force = force_, .check = {}};
  MYNAH_TRY(options.storage, storage_option(type_));
  const Store store(engine::store_folders(context.environment));
  std::vector<std::string> models;
  std::vector<std::string> voices;
  std::vector<FileSet> sets;
  for (const std::string& path : paths_) {
    const Importable found = find_importable(path);
    std::ranges::copy(found.sets, std::back_inserter(sets));
    std::ranges::copy(found.models, std::back_inserter(models));
    std::ranges::copy(found.voices, std::back_inserter(voices));
  }
  if (models.size() + sets.size() > 1 && !name_.empty()) {
    return fail(ErrorCode::Usage, fmt::format("--name is for one model, found {} in {}",
                                              models.size() + sets.size(), paths_.front()));
  }
  // First, so that a model that is here already does not keep them out.
  if (!voices.empty()) {
    StoreProgress progress(context);
    MYNAH_TRY(const StoredModel model, import_voices(store, voices, progress, context.stop));
    print_arrival(context, model);
  }
  for (FileSet& set : sets) {
    set.name = name_.empty() ? set.name : name_;
    const std::string& path = set.paths.front();
    const auto check = [&path](const StoredModel& model) { return check_loads(path, model); };
    MYNAH_TRY(const StoredModel model, import_file_set(store, set, force_, context.stop, check));
    print_arrival(context, model);
  }
  bool hears = false;
  bool speaks = !sets.empty();
  for (const std::string& path : models) {
    StoreProgress progress(context);
    options.check = [&path](const StoredModel& model) { return check_loads(path, model); };
    MYNAH_TRY(const StoredModel model, import_model(store, path, options, progress, context.stop));
    print_arrival(context, model);
    hears = hears || is_for(model.family, FamilyKind::SpeechToText);
    speaks = speaks || brings_voices(model.family);
  }
  if (!voices.empty() || speaks) {
    measure_voices(context);
  }
  if (hears) {
    say_newest_recogniser(context, store);
  }
  return 0;
}

}  // namespace mynah::cli
