#include "talk/loop/workers.h"

#include <utility>

namespace mynah::talk {

ThreadWorkers::ThreadWorkers() {
  for (Worker& worker : workers_) {
    worker.thread = std::thread([&worker] { serve(worker); });
  }
}

ThreadWorkers::~ThreadWorkers() {
  for (Worker& worker : workers_) {
    {
      const std::lock_guard lock(worker.mutex);
      worker.ends = true;
    }
    worker.changed.notify_one();
    worker.thread.join();
  }
}

void ThreadWorkers::run(Organ organ, std::function<void()> work) {
  Worker& worker = workers_[static_cast<size_t>(organ)];
  {
    const std::lock_guard lock(worker.mutex);
    worker.work.push_back(std::move(work));
  }
  worker.changed.notify_one();
}

void ThreadWorkers::serve(Worker& worker) {
  std::unique_lock lock(worker.mutex);
  while (true) {
    worker.changed.wait(lock, [&worker] { return worker.ends || !worker.work.empty(); });
    if (worker.work.empty()) {
      return;
    }
    const std::function<void()> work = std::move(worker.work.front());
    worker.work.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace mynah::talk
