// `mynah wake`: where in recordings a wake word is said.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/command/verb.h"
#include "cli/hear/transcribe_options.h"
#include "cli/hear/wake_phrases.h"
#include "engine/wake.h"
#include "speech/wake/wake_spotter.h"

namespace mynah::cli {

class WakeCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  using Words = std::vector<std::shared_ptr<const WakeWord>>;

  [[nodiscard]] Status check() const;
  // Listens to one recording, prints what is heard in it, and returns its seconds. `check`: null
  // where nobody looks again.
  [[nodiscard]] Result<double> hear(Context& context, const std::string& file, const Words& words,
                                    WakeCheck* check, const AudioOpenOptions& audio) const;

  // The same with phrases, which a recogniser hears.
  [[nodiscard]] Result<double> hear_phrases_of(Context& context, const std::string& file,
                                               const Recognizer& recognizer,
                                               const std::vector<WakePhrase>& phrases,
                                               const AudioOpenOptions& audio) const;
  // Listens to all recordings with `hear_one`; the exit code.
  [[nodiscard]] Result<int> hear_all(
      Context& context, const std::function<Result<double>(const std::string&)>& hear_one) const;

  std::vector<std::string> recordings_;
  std::vector<std::string> phrases_;
  engine::RecognizerWish recogniser_;
  engine::WakeWish wish_;
  engine::WakeConfirm confirm_ = engine::WakeConfirm::Auto;
  WakeOptions options_;
  RecordingOptions recording_;
  bool probabilities_ = false;
};

}  // namespace mynah::cli
