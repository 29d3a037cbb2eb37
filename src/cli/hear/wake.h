// `mynah wake`: where in recordings a wake word is said.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command/verb.h"
#include "cli/hear/transcribe_options.h"
#include "engine/wake.h"
#include "speech/wake/wake_word.h"

namespace mynah::cli {

class WakeCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  using Words = std::vector<std::shared_ptr<const WakeWord>>;

  [[nodiscard]] Status check() const;
  // Listens to one recording, prints what is heard in it, and returns its seconds.
  [[nodiscard]] Result<double> hear(Context& context, const std::string& file, const Words& words,
                                    const AudioOpenOptions& audio) const;

  std::vector<std::string> recordings_;
  engine::WakeWish wish_;
  WakeOptions options_;
  RecordingOptions recording_;
  bool probabilities_ = false;
};

}  // namespace mynah::cli
