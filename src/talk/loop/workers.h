// Workers: threads beside a conversation, one for each of its organs.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace mynah::talk {

enum class Organ : uint8_t { Ear, EndRule, Mind, Mouth };

inline constexpr size_t kOrgans = 4;

// Thread-safe.
class Workers {
 public:
  virtual ~Workers() = default;

  // Has it done soon, behind what the organ was given before. It throws nothing.
  virtual void run(Organ organ, std::function<void()> work) = 0;
};

// Four threads; what was given is done before they end.
class ThreadWorkers final : public Workers {
 public:
  ThreadWorkers();
  ~ThreadWorkers() override;
  ThreadWorkers(const ThreadWorkers&) = delete;
  ThreadWorkers& operator=(const ThreadWorkers&) = delete;

  void run(Organ organ, std::function<void()> work) override;

 private:
  struct Worker {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> work;
    bool ends = false;
    std::thread thread;
  };

  static void serve(Worker& worker);

  std::array<Worker, kOrgans> workers_;
};

}  // namespace mynah::talk
