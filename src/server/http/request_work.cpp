#include "server/http/request_work.h"

namespace mynah::server {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): this thread's own
thread_local std::shared_ptr<RequestWork> of_this_thread;

}  // namespace

void RequestWork::begin() {
  Clock::time_point none{};
  begun_.compare_exchange_strong(none, Clock::now());
}

std::optional<RequestWork::Clock::duration> RequestWork::waited() const {
  const Clock::time_point begun = begun_;
  return begun == Clock::time_point() ? std::nullopt : std::optional(begun - arrived_.load());
}

std::shared_ptr<RequestWork> RequestWork::here() {
  return of_this_thread;
}

RequestScope::RequestScope(std::shared_ptr<RequestWork> work)
    : before_(std::exchange(of_this_thread, std::move(work))) {}

RequestScope::~RequestScope() {
  of_this_thread = std::move(before_);
}

}  // namespace mynah::server
