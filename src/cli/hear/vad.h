// `mynah vad`: where in recordings somebody speaks.
#pragma once

#include <string>
#include <vector>

#include "cli/command/verb.h"
#include "cli/hear/transcribe_options.h"
#include "cli/hear/voice_report.h"
#include "engine/detector.h"
#include "place/placer.h"
#include "speech/voice_detector.h"

namespace mynah::cli {

class VadCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  [[nodiscard]] Status check(const Context& context) const;
  // What the words stand for; words that stand for nothing are told, and stand among `failures`.
  std::vector<std::string> expand_recordings(Context& context, const place::Placer* placer,
                                             std::vector<ErrorCode>& failures) const;

  std::vector<std::string> recordings_;
  engine::DetectorWish wanted_;
  bool explain_ = false;
  VadOptions vad_;
  RecordingOptions recording_;
  bool rttm_ = false;
  bool probabilities_ = false;
  std::string plot_;
};

}  // namespace mynah::cli
