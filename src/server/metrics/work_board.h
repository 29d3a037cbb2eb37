// WorkBoard: the requests that are under way.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "server/http/request_work.h"

namespace mynah::server {

// Thread-safe.
class WorkBoard {
 public:
  // A request is on the board as long as it lives.
  class Entry {
   public:
    Entry(WorkBoard& board, std::shared_ptr<RequestWork> work);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    WorkBoard& board_;
    std::list<std::shared_ptr<RequestWork>>::iterator place_;
  };

  // Those that want a model, the one that came first in front.
  [[nodiscard]] std::vector<std::shared_ptr<RequestWork>> working() const;

 private:
  mutable std::mutex mutex_;
  std::list<std::shared_ptr<RequestWork>> works_;
};

}  // namespace mynah::server
