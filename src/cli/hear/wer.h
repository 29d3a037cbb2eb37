// `mynah wer`: a folder of recordings scored against what was said in them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command/verb.h"
#include "cli/hear/transcribe_options.h"
#include "engine/recognizer.h"
#include "text/wer_report.h"

namespace mynah::cli {

// One row of a table of references.
struct ReferenceClip {
  std::string clip;  // as the table has it, relative to the table's folder
  std::string language = "en";
  std::string text;
};

// Reads a tab-separated table with a header: columns clip and text, lang where there is one, any
// others ignored. `path` is for messages.
Result<std::vector<ReferenceClip>> parse_references(const std::string& table,
                                                    const std::string& path);

class WerCommand : public Command {
 public:
  explicit WerCommand(engine::RecognizerOpener open = engine::open_recognizer)
      : open_(std::move(open)) {}

  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  Result<std::vector<ReferenceClip>> read_references() const;
  // Hypotheses in the order of the clips.
  Result<std::vector<std::string>> recognise(Context& context, std::vector<ReferenceClip>& clips);
  Result<std::vector<std::string>> read_hypotheses(Context& context,
                                                   const std::vector<ReferenceClip>& clips) const;
  Status write_files(const WerReport& report) const;
  void print(Context& context, const WerReport& report) const;

  engine::RecognizerOpener open_;
  engine::RecognizerWish engine_;
  RecognizerFlags flags_;
  std::vector<std::string> tables_;
  std::vector<std::string> languages_;
  std::string hypotheses_;
  std::string write_hypotheses_;
  std::string html_;
  bool auto_language_ = false;
  bool explain_ = false;
  double audio_s_ = 0;
  double elapsed_s_ = 0;
  std::vector<ErrorCode> failures_;
  std::optional<PlacementReport> placement_;  // none: nothing was recognised
  Status right_;                              // what the last look found
};

}  // namespace mynah::cli
