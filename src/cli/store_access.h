// What verbs need to reach the store: its folders and proxies from the environment, progress and
// messages to the user, models as JSON.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "cli/verb.h"
#include "store/pull.h"
#include "store/store.h"

namespace mynah::cli {

// MYNAH_HOME, else the data folder; the cache folder.
[[nodiscard]] StoreFolders store_folders(const Environment& environment);

// http_proxy, https_proxy, all_proxy, no_proxy, in lower or upper case.
[[nodiscard]] Proxies proxies(const Environment& environment);

// Messages on stderr; on a terminal a bar with what is there, speed and time left.
class StoreProgress : public StoreObserver {
 public:
  explicit StoreProgress(const Context& context) : context_(context) {}

  ~StoreProgress() override { clear(); }

  void on_progress(std::string_view what, uint64_t done, uint64_t total) override;
  void on_message(std::string_view line) override;

 private:
  using Clock = std::chrono::steady_clock;

  void clear();

  const Context& context_;
  std::string what_;
  uint64_t first_done_ = 0;  // what was there when `what_` began: a resumed part took no time
  Clock::time_point began_;
  Clock::time_point drawn_;
  bool on_screen_ = false;
};

// One line of the bar, at most `columns` wide: "model.bin  45 % [####    ] 34.0 of 75.5 MB, 12.1
// MB/s, 3 s left". `done` counts from `first`, `seconds` since then.
[[nodiscard]] std::string progress_line(std::string_view what, uint64_t done, uint64_t total,
                                        uint64_t first, double seconds, int columns);

// A model as --json prints it: what source.json says, and where the file is.
[[nodiscard]] nlohmann::ordered_json to_json(const StoredModel& model);

// Prints a model that has just come: one line, or JSON.
void print_arrival(Context& context, const StoredModel& model);

// The model that `mynah transcribe` takes where none is named: the Whisper that came last.
[[nodiscard]] std::optional<StoredModel> newest_recogniser(const Store& store);

// Says which that is, to whom a new one may have changed it for; not with --json.
void say_newest_recogniser(const Context& context, const Store& store);

// What finds speech among the store's models, by its family: whatever it is called.
inline constexpr std::string_view kDetectorFamily = "silero";

// The voice detector that verbs take where none is named: that of the catalogue, else the one that
// came last.
[[nodiscard]] std::optional<StoredModel> default_detector(const Store& store);

// For --vad-model: that one by "auto", else as Store::resolve().
[[nodiscard]] Result<ResolvedModel> resolve_detector(const Store& store, const std::string& name);

// The storage type of a --type option; empty is the source's own.
Result<std::optional<DType>> storage_option(const std::string& text);

// An error of the store about a model that the user named. A name that the catalogue has is missing
// on this machine: Environment; one that nobody knows is a slip: Usage. What has a slash and is in
// no catalogue was meant as a path and stays NotFound.
[[nodiscard]] Error as_named(Error error, const std::string& name);

// A usage error where the model of --vad-model is one of the store's that writes text instead of
// finding speech. A path's file tells itself.
[[nodiscard]] Status check_finds_speech(const Store& store, const ResolvedModel& model);

// Brings a model of the catalogue with the user's hub, proxies and progress: what `mynah pull`
// does, and what a verb does that offers it.
Result<StoredModel> pull_for_user(const Context& context, const CatalogueEntry& entry,
                                  PullOptions options);

}  // namespace mynah::cli
