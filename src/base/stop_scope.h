// StopScope: who asked for what a thread does, and may want it no more.
#pragma once

#include <stop_token>

namespace mynah {

// The wish to stop of who asked for what this thread does; never requested outside of a StopScope.
[[nodiscard]] const std::stop_token& stop_here();

// While it lives what this thread asks of a model ends before its next operation once `stop` is
// requested, with an error of code Cancelled.
class StopScope {
 public:
  explicit StopScope(std::stop_token stop);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  std::stop_token before_;
};

}  // namespace mynah
