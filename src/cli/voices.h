// `mynah voices`: what there is to speak with, and how it sounds.
#pragma once

#include <string>
#include <vector>

#include "cli/speech_engine.h"
#include "cli/verb.h"

namespace mynah::cli {

class VoicesCommand : public Command {
 public:
  explicit VoicesCommand(SpeechEngineOpener open = open_speech_engine) : open_(std::move(open)) {}

  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  Result<int> list(Context& context) const;
  // Says a sentence with each of the voices that were named.
  Result<int> sample(Context& context) const;

  SpeechEngineOpener open_;
  std::vector<std::string> names_;
  std::string language_;
  bool play_ = false;
  std::string out_;
  std::string player_;
  SpeechEngineOptions engine_;
};

}  // namespace mynah::cli
