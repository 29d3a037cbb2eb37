// `mynah ps`: what mynah processes of this user have loaded, and where.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command/verb.h"

namespace mynah::cli {

// A stage that another process says it has loaded.
struct LoadedStage {
  std::string stage;
  std::string device;
  std::optional<std::string> storage;  // the type of the weights; none: the file's own
  std::string model;
  uint64_t bytes = 0;
  std::optional<std::string> memory_with{};  // the stage whose memory it shares; none: its own
  double idle_s = 0;
};

// Reads what a process wrote on its page (place/state/status_page.h), which may be anything: what
// is not there is "?" or 0, and no text steers a terminal. None where the page is none.
[[nodiscard]] std::optional<std::vector<LoadedStage>> parse_status_page(std::string_view text);

// What a process has: "tts.acoustic and tts.vocoder on simt:0".
[[nodiscard]] std::string stages_text(const std::vector<LoadedStage>& stages);

class PsCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  // A process that has a page, and what it says there.
  struct Process {
    int pid = 0;
    std::vector<LoadedStage> stages;
  };

  // Processes that are wanted; NotFound where one has no page. None wanted: all.
  static Result<std::vector<Process>> find(const std::vector<int>& wanted);
  static Result<int> unload(Context& context, const std::vector<Process>& processes, bool named);

  std::vector<std::string> words_;
  bool unload_ = false;
};

}  // namespace mynah::cli
