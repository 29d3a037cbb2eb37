// Ctrl-C, SIGTERM and a closed terminal as a stop token.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

namespace mynah::cli {

// Before a second signal ends the process, `last` is called by its handler: it may do no more than
// handlers may (write, tcsetattr). Null: nothing is.
void before_second_signal(void (*last)());

// Whether the first signal ends the process at once, too: where there is nothing yet to end in
// order.
void leave_at_first_signal(bool at_once);

// While it lives, the first SIGINT, SIGTERM or SIGHUP requests a stop, so that work can end in
// order; a second one ends the process at once. SIGPIPE is ignored: writes fail with EPIPE. One in
// a process.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  [[nodiscard]] std::stop_token token() const;
  // Once a stop was requested a second ago, and this still lives, `say` is called, on a thread of
  // its own. Empty: nothing is.
  void when_late(std::function<void()> say);

  // The signal that came; 0: none.
  [[nodiscard]] int received() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mynah::cli
