#include "server/metrics/work_board.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mynah::server {

WorkBoard::Entry::Entry(WorkBoard& board, std::shared_ptr<RequestWork> work) : board_(board) {
  const std::lock_guard lock(board_.mutex_);
  place_ = board_.works_.insert(board_.works_.end(), std::move(work));
}

WorkBoard::Entry::~Entry() {
  const std::lock_guard lock(board_.mutex_);
  board_.works_.erase(place_);
}

std::optional<WorkBoard::Place> WorkBoard::place_of(const RequestWork& work) const {
  Place place;
  const std::lock_guard lock(mutex_);
  for (const auto& one : works_) {
    const bool waits = one->does() != RequestWork::Does::Other && !one->waited();
    place.waiting += waits ? 1 : 0;
    if (waits && one.get() == &work) {
      place.number = place.waiting;
    }
  }
  return place.number == 0 ? std::nullopt : std::optional(place);
}

std::vector<std::shared_ptr<RequestWork>> WorkBoard::working() const {
  std::vector<std::shared_ptr<RequestWork>> all;
  const std::lock_guard lock(mutex_);
  std::ranges::copy_if(works_, std::back_inserter(all),
                       [](const auto& work) { return work->does() != RequestWork::Does::Other; });
  return all;
}

}  // namespace mynah::server
