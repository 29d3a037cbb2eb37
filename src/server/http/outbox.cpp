#include "server/http/outbox.h"

#include <utility>

namespace mynah::server {
namespace {

// A second of uncompressed speech at 48 kHz: enough for the network to be busy.
constexpr size_t kMostUnsent = 96U << 10U;

}  // namespace

Status Outbox::write(std::string_view bytes) {
  {
    std::unique_lock lock(mutex_);
    const bool room =
        taken_.wait(lock, stop_.get_token(), [this] { return kept_.bytes.size() < kMostUnsent; });
    if (!room || stop_.stop_requested()) {
      return fail(ErrorCode::Cancelled, "the client left");
    }
    kept_.bytes += bytes;
  }
  wake_();
  return {};
}

void Outbox::add(std::string_view bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (!kept_.over) {
      kept_.bytes += bytes;
    }
  }
  wake_();
}

void Outbox::end(std::string_view last) {
  {
    const std::lock_guard lock(mutex_);
    kept_.bytes += last;
    kept_.over = true;
  }
  wake_();
}

void Outbox::break_off() {
  {
    const std::lock_guard lock(mutex_);
    kept_.over = true;
    kept_.broken_off = true;
  }
  wake_();
}

bool Outbox::is_over() const {
  const std::lock_guard lock(mutex_);
  return kept_.over;
}

Outbox::Taken Outbox::take() {
  const std::lock_guard lock(mutex_);
  Taken taken{
      .bytes = std::exchange(kept_.bytes, {}), .over = kept_.over, .broken_off = kept_.broken_off};
  taken_.notify_all();
  return taken;
}

}  // namespace mynah::server
