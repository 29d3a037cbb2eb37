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

std::vector<std::shared_ptr<RequestWork>> WorkBoard::working() const {
  std::vector<std::shared_ptr<RequestWork>> all;
  const std::lock_guard lock(mutex_);
  std::ranges::copy_if(works_, std::back_inserter(all),
                       [](const auto& work) { return work->does() != RequestWork::Does::Other; });
  return all;
}

}  // namespace mynah::server
