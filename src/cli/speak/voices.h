// `mynah voices`: what there is to speak with, and how it sounds.
#pragma once

#include <string>
#include <vector>

#include "cli/command/verb.h"
#include "engine/synthesizer.h"

namespace mynah::cli {

class VoicesCommand : public Command {
 public:
  explicit VoicesCommand(engine::SynthesizerOpener open = engine::open_synthesizer)
      : open_(std::move(open)) {}

  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  Result<int> list(Context& context) const;
  // Says a sentence with each of the voices that were named.
  Result<int> sample(Context& context) const;

  engine::SynthesizerOpener open_;
  std::vector<std::string> names_;
  std::string language_;
  bool play_ = false;
  std::string out_;
  std::string player_;
  engine::SynthesizerWish engine_;
};

}  // namespace mynah::cli
