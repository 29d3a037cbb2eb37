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

  // Calls `tend` every `every` from now on; where it runs already, or was stopped, nothing changes.
  // Where the system gives no thread nothing is looked after: the work does not depend on it.
  void start(std::chrono::milliseconds every, std::function<void()> tend);

  // Waits for a call of `tend` that is under way, and ends for good. Not to be called by `tend`.
  void stop();

 private:
  std::mutex mutex_;
  bool stopped_ = false;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace mynah::place
