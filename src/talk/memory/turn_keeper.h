// TurnKeeper: keeps in a memory what is said, on a thread of its own: who hears and speaks does not
// wait for a disk.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "talk/memory/conversation_memory.h"

namespace mynah::talk {

// Any number of threads may use it.
class TurnKeeper {
 public:
  // `fail` is told on the keeper's thread what could not be kept.
  TurnKeeper(std::shared_ptr<ConversationMemory> memory,
             std::function<void(const std::string& error)> fail);

  // What it was given is kept before it ends.
  ~TurnKeeper();
  TurnKeeper(const TurnKeeper&) = delete;
  TurnKeeper& operator=(const TurnKeeper&) = delete;

  void keep(MemoryTurn turn);

  // Whether there is time to make vectors: nobody speaks, nothing is thought. So it is at first.
  void set_idle(bool idle);

 private:
  void run();

  std::shared_ptr<ConversationMemory> memory_;
  std::function<void(const std::string& error)> fail_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<MemoryTurn> turns_;
  bool idle_ = true;
  bool has_new_ = true;       // turns that may have no vector yet
  std::stop_source vectors_;  // stops the making of vectors
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace mynah::talk
