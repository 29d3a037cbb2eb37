// ReplyHold: a reply that is prepared while its question may still go on. Nothing is told of it
// until it is wanted.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>

namespace mynah::server {

// Thread-safe: who prepares it is not who decides.
class ReplyHold {
 public:
  // It is wanted. False: it has come to nothing.
  [[nodiscard]] bool release();

  // It comes to nothing. False: it was wanted before, and somebody is to be told of that.
  [[nodiscard]] bool give_up();

  [[nodiscard]] bool is_held() const;

  // Waits until it is wanted. False: stop was requested before.
  [[nodiscard]] bool wait(const std::stop_token& stop);

 private:
  enum class State : uint8_t { Held, Wanted, GivenUp };

  mutable std::mutex mutex_;
  std::condition_variable_any decided_;
  State state_ = State::Held;
};

}  // namespace mynah::server
