// `mynah vad`: where in recordings somebody speaks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/open_placer.h"
#include "cli/transcribe_options.h"
#include "cli/verb.h"
#include "cli/voice_report.h"
#include "place/placer.h"
#include "speech/voice_detector.h"

namespace mynah::cli {

class VadCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  // A detector and what it stands on, in the order that they must be destroyed from the end.
  struct Engine {
    std::unique_ptr<place::Placer> placer;  // null: the built-in detector
    std::shared_ptr<const VoiceDetector> detector;
  };

  [[nodiscard]] Status check(const Context& context) const;
  Result<Engine> open_engine(const Context& context) const;
  // What the words stand for; words that stand for nothing are told, and stand among `failures`.
  std::vector<std::string> expand_recordings(Context& context, const place::Placer* placer,
                                             std::vector<ErrorCode>& failures) const;

  std::vector<std::string> recordings_;
  std::string model_ = "auto";
  PlacementWish wish_;
  bool explain_ = false;
  int rate_hz_ = 16000;
  VadOptions vad_;
  RecordingOptions recording_;
  bool rttm_ = false;
  bool probabilities_ = false;
  std::string plot_;
};

}  // namespace mynah::cli
