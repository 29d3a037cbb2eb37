// KeyConfirm: asks on the screen of a conversation out loud whether a tool may change something.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include "talk/tools/confirm.h"

namespace mynah::cli {

// ask() waits on a thread of its own; who has the screen shows the question and gives the key.
class KeyConfirm final : public talk::Confirm {
 public:
  // Waits for press(). Cancelled once stop is requested.
  [[nodiscard]] Result<Answer> ask(const talk::ToolQuestion& question,
                                   const std::stop_token& stop) override;

  // What is asked now, to be shown; none: nothing.
  [[nodiscard]] std::optional<std::string> asked() const;

  // That question is shown: keys count from now on, those that were pressed before were no answer.
  void shown(const std::string& question);

  // Whether the key was for the question that is shown: y lets the tool run, any other does not.
  bool press(char key);

 private:
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable_any answered_;
  std::optional<std::string> question_;
  bool shown_ = false;
  std::optional<Answer> answer_;
};

}  // namespace mynah::cli
