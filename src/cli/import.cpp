#include "cli/import.h"

#include <memory>

#include <fmt/format.h>

#include "backend/cpu/cpu_backend.h"
#include "base/thread_pool.h"
#include "cli/cores.h"
#include "cli/store_access.h"
#include "speech/recognizer.h"

namespace mynah::cli {

namespace {

// Loads what was made of `path`, as transcribe would: a broken vocabulary or shapes that do not fit
// are told now, and not by the runs that take the newest model.
Status check_loads(const std::string& path, const StoredModel& model) {
  if (model.family != "whisper") {
    return {};
  }
  ThreadPool pool(physical_cores());
  MYNAH_TRY(const std::unique_ptr<Backend> backend, make_cpu_backend(pool));
  const auto loaded = load_whisper(
      model.path(), {.storage = DType::I8, .precision = Precision::Fast, .cache_folder = {}},
      *backend, nullptr);
  if (!loaded) {
    return fail(loaded.error().code, fmt::format("{}: not imported, as it cannot be used: {}", path,
                                                 loaded.error().message));
  }
  return {};
}

}  // namespace

void ImportCommand::fields(Fields& fields) {
  fields
      .positional("PATH", paths_,
                  "A model: safetensors, GGUF, whisper.cpp .bin, PyTorch .pt, ONNX, a CTranslate2 "
                  "or Hugging Face folder, a wheel.")
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
  const Store store(store_folders(context.environment));
  bool hears = false;
  for (const std::string& path : paths_) {
    StoreProgress progress(context);
    options.check = [&path](const StoredModel& model) { return check_loads(path, model); };
    MYNAH_TRY(const StoredModel model, import_model(store, path, options, progress, context.stop));
    print_arrival(context, model);
    hears = hears || model.family == "whisper";
  }
  if (hears) {
    say_newest_recogniser(context, store);
  }
  return 0;
}

}  // namespace mynah::cli
