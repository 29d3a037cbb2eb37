#include "server/http/exchange.h"

#include <utility>

#include "base/check.h"

namespace mynah::server {
namespace {

// A second of uncompressed speech at 48 kHz: enough for the network to be busy.
constexpr size_t kMostUnsent = 96U << 10U;

}  // namespace

Exchange::Exchange(RequestHead head, Body body, std::function<void()> wake)
    : head_(std::move(head)), body_(std::move(body)), wake_(std::move(wake)) {}

void Exchange::answer(Response response) {
  {
    const std::lock_guard lock(mutex_);
    MYNAH_CHECK(!begun_, "a request is answered once");
    begun_ = true;
    outgoing_.head = std::move(response);
    outgoing_.whole = true;
    outgoing_.over = true;
  }
  wake_();
}

void Exchange::begin(Response response) {
  {
    const std::lock_guard lock(mutex_);
    MYNAH_CHECK(!begun_, "a request is answered once");
    begun_ = true;
    outgoing_.bytes = std::move(response.body);
    response.body.clear();
    outgoing_.head = std::move(response);
  }
  wake_();
}

Status Exchange::write(std::string_view bytes) {
  {
    std::unique_lock lock(mutex_);
    if (!taken_.wait(lock, stop_.get_token(),
                     [this] { return outgoing_.bytes.size() < kMostUnsent; })) {
      return fail(ErrorCode::Cancelled, "the client left");
    }
    outgoing_.bytes += bytes;
  }
  wake_();
  return {};
}

void Exchange::end() {
  {
    const std::lock_guard lock(mutex_);
    outgoing_.over = true;
  }
  wake_();
}

void Exchange::break_off() {
  {
    const std::lock_guard lock(mutex_);
    outgoing_.over = true;
    outgoing_.broken_off = true;
  }
  wake_();
}

bool Exchange::has_begun() const {
  const std::lock_guard lock(mutex_);
  return begun_;
}

Exchange::Outgoing Exchange::take_outgoing() {
  const std::lock_guard lock(mutex_);
  Outgoing taken;
  taken.head = std::exchange(outgoing_.head, std::nullopt);
  taken.whole = outgoing_.whole;
  taken.bytes = std::exchange(outgoing_.bytes, {});
  taken.over = outgoing_.over;
  taken.broken_off = outgoing_.broken_off;
  taken_.notify_all();
  return taken;
}

void Exchange::leave() {
  stop_.request_stop();
}

}  // namespace mynah::server
