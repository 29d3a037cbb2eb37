#include "cli/talk/key_confirm.h"

#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"

namespace mynah::cli {

Result<talk::Confirm::Answer> KeyConfirm::ask(const talk::ToolQuestion& question,
                                              const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  // What matters first: the row may be too short for it, and the call stands above it, too.
  question_ = fmt::format("y: run it, any other key: do not. {} of {}: {}", question.tool,
                          question.origin, question.shown);
  shown_ = false;
  answer_.reset();
  answered_.wait(lock, stop, [this] { return answer_.has_value(); });
  question_.reset();
  const auto answer = std::exchange(answer_, std::nullopt);
  if (!answer) {
    return fail(ErrorCode::Cancelled, "stopped before a key was pressed");
  }
  return *answer;
}

std::optional<std::string> KeyConfirm::asked() const {
  const std::lock_guard lock(mutex_);
  return answer_ ? std::nullopt : question_;
}

void KeyConfirm::shown(const std::string& question) {
  const std::lock_guard lock(mutex_);
  shown_ = question_ == question;
}

bool KeyConfirm::press(char key) {
  const std::lock_guard lock(mutex_);
  if (!question_ || !shown_ || answer_) {
    return false;
  }
  answer_ = ascii_lower(key) == 'y' ? Answer::Yes : Answer::No;
  answered_.notify_all();
  return true;
}

}  // namespace mynah::cli
