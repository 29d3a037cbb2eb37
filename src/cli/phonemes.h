// `mynah phonemes`: how a text is read, before it is spoken.
#pragma once

#include <string>
#include <vector>

#include "cli/verb.h"
#include "speech/text_reader.h"

namespace mynah::cli {

class PhonemesCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  Result<std::string> text(const Context& context) const;

  std::vector<std::string> text_;
  std::string file_;
  std::string language_ = "en-US";
  bool normalize_ = true;
};

}  // namespace mynah::cli
