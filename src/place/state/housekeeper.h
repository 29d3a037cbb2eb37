// Housekeeper: a thread that looks after something from time to time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace mynah::place {

class Housekeeper {
 public:
  ~Housekeeper() { stop(); }

  // How long after its end it is to be called again.
  using Tend = std::function<std::chrono::milliseconds()>;

  // Calls `tend` from now on; where it runs already, or was stopped, nothing changes. Where the
  // system gives no thread nothing is looked after: the work does not depend on it.
  void start(Tend tend);

  // Has it called now, or once more where it is being called: there is something to look after.
  void wake();

  // Waits for a call of `tend` that is under way, and ends for good. Not to be called by `tend`.
  void stop();

 private:
  std::mutex mutex_;
  bool stopped_ = false;
  bool woken_ = false;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace mynah::place
