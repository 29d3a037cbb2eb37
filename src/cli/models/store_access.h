// What verbs show of the store: progress and messages, models as a line or JSON.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "cli/command/verb.h"
#include "store/pull.h"
#include "store/store.h"

namespace mynah::cli {

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

// Prints a model that has just come: one line, or JSON, with the room there is for it where it
// writes texts.
void print_arrival(Context& context, const StoredModel& model);

// Says which recogniser is taken where none is named, to whom a new one may have changed it for;
// not with --json.
void say_newest_recogniser(const Context& context, const Store& store);

// The storage type of a --type option; empty is the source's own.
Result<std::optional<DType>> storage_option(const std::string& text);

}  // namespace mynah::cli
