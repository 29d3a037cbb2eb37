// WorkBoard: the requests that are under way.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
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

  // Where a request is among those that wait for a model, in the order in which they came.
  struct Place {
    size_t number = 0;  // from 1
    size_t waiting = 0;
  };

  // None: it does not wait.
  [[nodiscard]] std::optional<Place> place_of(const RequestWork& work) const;

 private:
  mutable std::mutex mutex_;
  std::list<std::shared_ptr<RequestWork>> works_;
};

}  // namespace mynah::server
