#include "server/http/exchange.h"

#include <utility>

#include "base/check.h"

namespace mynah::server {

Exchange::Exchange(RequestHead head, Body body, std::function<void()> wake)
    : head_(std::move(head)), body_(std::move(body)), outbox_(std::move(wake)) {}

const SentJson& Exchange::json() const {
  if (!json_) {
    json_.emplace(body_.text);
  }
  return *json_;
}

void Exchange::answer(Response response) {
  std::unique_lock lock(mutex_);
  MYNAH_CHECK(!begun_, "a request is answered once");
  begun_ = true;
  if (!filler_ || !filler_->sent) {
    whole_ = true;
    answer_ = std::move(response);
    lock.unlock();
    outbox_.end();
    return;
  }
  lock.unlock();
  constexpr int kFirstError = 400;
  if (response.status >= kFirstError) {
    outbox_.break_off();
  } else {
    outbox_.end(response.body);
  }
}

void Exchange::begin(Response response) {
  const std::string first = std::exchange(response.body, {});
  {
    const std::lock_guard lock(mutex_);
    MYNAH_CHECK(!begun_, "a request is answered once");
    begun_ = true;
    if (!filler_ || !filler_->sent) {
      answer_ = std::move(response);
    }
  }
  // Where the client left, the next piece is told so.
  static_cast<void>(outbox_.write(first));
}

void Exchange::fill_with(Response head, std::function<std::string()> bytes, bool between) {
  {
    const std::lock_guard lock(mutex_);
    filler_ = Filler{.head = std::move(head), .bytes = std::move(bytes), .between = between};
  }
  outbox_.add({});  // the network looks up, and counts from now on
}

bool Exchange::has_filler() const {
  const std::lock_guard lock(mutex_);
  return filler_ && (!begun_ || filler_->between);
}

void Exchange::fill() {
  std::function<std::string()> bytes;
  {
    const std::lock_guard lock(mutex_);
    if (!filler_ || (begun_ && !filler_->between)) {
      return;
    }
    if (!begun_ && !filler_->sent) {
      filler_->sent = true;
      answer_ = std::move(filler_->head);
    }
    bytes = filler_->bytes;
  }
  outbox_.add(bytes());
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
