#include "server/http/exchange.h"

#include <utility>

#include "base/check.h"

namespace mynah::server {

Exchange::Exchange(RequestHead head, Body body, std::function<void()> wake)
    : head_(std::move(head)), body_(std::move(body)), outbox_(std::move(wake)) {}

void Exchange::answer(Response response) {
  {
    const std::lock_guard lock(mutex_);
    MYNAH_CHECK(!begun_, "a request is answered once");
    begun_ = true;
    whole_ = true;
    answer_ = std::move(response);
  }
  outbox_.end();
}

void Exchange::begin(Response response) {
  const std::string first = std::exchange(response.body, {});
  {
    const std::lock_guard lock(mutex_);
    MYNAH_CHECK(!begun_, "a request is answered once");
    begun_ = true;
    answer_ = std::move(response);
  }
  // Where the client left, the next piece is told so.
  static_cast<void>(outbox_.write(first));
}

void Exchange::add_heard(double seconds) {
  const std::lock_guard lock(mutex_);
  audio_.heard += seconds;
}

void Exchange::add_spoken(double seconds) {
  const std::lock_guard lock(mutex_);
  audio_.spoken += seconds;
}

AudioSeconds Exchange::audio() const {
  const std::lock_guard lock(mutex_);
  return audio_;
}

bool Exchange::has_begun() const {
  const std::lock_guard lock(mutex_);
  return begun_;
}

Exchange::Outgoing Exchange::take_outgoing() {
  // The body first: what it holds comes behind a head that is there by then.
  Outgoing taken;
  taken.body = outbox_.take();
  const std::lock_guard lock(mutex_);
  taken.head = std::exchange(answer_, std::nullopt);
  taken.whole = whole_;
  return taken;
}

}  // namespace mynah::server
