// StopTexts: texts that end a reply wherever they come, over any number of tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mynah {

class StopTexts {
 public:
  // Empty ones end nothing.
  explicit StopTexts(std::vector<std::string> stops);

  // What of the text so far can be told, since the last call: what may be the beginning of a stop
  // is held back, and nothing comes from a stop on.
  std::string push(std::string_view text);

  // The text has ended: what was held back.
  std::string finish();

  [[nodiscard]] bool found() const { return found_; }

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool found_ = false;
};

}  // namespace mynah
