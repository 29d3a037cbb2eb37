// `mynah phonemes`: how a text is read, before it is spoken.
#pragma once

#include <string>

#include "cli/text_input.h"
#include "cli/verb.h"
#include "speech/text_reader.h"

namespace mynah::cli {

class PhonemesCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  Status print(const PhonemizerSource& phonemizers, Context& context) const;

  TextInput input_;
  std::string language_ = "en-US";
  std::string lexicon_;
  ReadingOptions reading_;
  TextKind kind_ = TextKind::Plain;
};

}  // namespace mynah::cli
