// `mynah phonemes`: how a text is read, before it is spoken.
#pragma once

#include <optional>
#include <string>

#include "cli/command/verb.h"
#include "cli/speak/text_input.h"
#include "speech/text_reader.h"
#include "text/documents/document.h"

namespace mynah::cli {

class PhonemesCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  // The language that is asked for, else the document's where it can be read, else American
  // English.
  [[nodiscard]] std::string language_of(const std::optional<Document>& document,
                                        const PhonemizerSource& phonemizers,
                                        const Context& context) const;
  Status print(const PhonemizerSource& phonemizers, const std::optional<Document>& document,
               const std::string& language, Context& context) const;

  TextInput input_;
  std::string language_;
  std::string lexicon_;
  ReadingOptions reading_;
  TextKind kind_ = TextKind::Plain;
};

}  // namespace mynah::cli
