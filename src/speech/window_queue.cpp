#include "speech/window_queue.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "tensor/device_error.h"

namespace mynah {
namespace {

// Windows of a part that make up for its doing without the others' threads at the end.
constexpr size_t kFewWindowsOfPart = 4;

// Requests a stop once all of so many have.
class AllStopped {
 public:
  explicit AllStopped(std::span<const std::stop_token> of) : left_(of.size()) {
    for (const std::stop_token& one : of) {
      callbacks_.emplace_back(one, Count{this});
    }
  }

  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }

 private:
  struct Count {
    AllStopped* of;

    void operator()() const {
      if (of->left_.fetch_sub(1) == 1) {
        of->stop_.request_stop();
      }
    }
  };

  std::atomic<size_t> left_;
  std::stop_source stop_;
  std::list<std::stop_callback<Count>> callbacks_;  // the first to go
};

// Of what either requests.
class EitherStops {
 public:
  EitherStops(const std::stop_token& one, const std::stop_token& other)
      : one_(one, Request{&stop_}), other_(other, Request{&stop_}) {}

  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }

 private:
  struct Request {
    std::stop_source* stop;

    void operator()() const { stop->request_stop(); }
  };

  std::stop_source stop_;
  std::stop_callback<Request> one_;
  std::stop_callback<Request> other_;
};

std::unexpected<Error> cancelled() {
  return fail(ErrorCode::Cancelled, "stopped before the window was heard");
}

}  // namespace

WindowQueue::WindowQueue(std::shared_ptr<const WindowModel> model, size_t most)
    : model_(std::move(model)), most_(std::max<size_t>(1, most)) {}

WindowQueue::~WindowQueue() {
  for (Line* line : {&bulk_, &urgent_}) {
    line->thread = {};  // which asks it to end
    MYNAH_CHECK(line->windows == 0, "a queue ends before its clients");
  }
}

Result<std::unique_ptr<WindowQueue::Client>> WindowQueue::client(const DecodingOptions& options,
                                                                 Asking asking) {
  std::shared_ptr<Decoders> decoders;
  {
    const std::lock_guard lock(mutex_);
    Line& line = line_of(asking.urgency);
    if (line.windows >= most_) {
      constexpr double kOfMillisecond = 1e-3;
      return fail(
          ErrorCode::Busy,
          fmt::format("{} windows wait to be heard, which takes some {:.0f} s; ask again then",
                      line.windows,
                      kOfMillisecond * window_ms_ * static_cast<double>(line.windows)));
    }
    MYNAH_TRY_STATUS(start(line));
    std::erase_if(decoders_, [](const auto& some) { return some.expired(); });
    for (const auto& some : decoders_) {
      const auto held = some.lock();
      if (held != nullptr && held->options == options) {
        decoders = held;
      }
    }
    if (decoders == nullptr) {
      decoders = std::make_shared<Decoders>(Decoders{.options = options, .idle = {}});
      decoders_.push_back(decoders);
    }
  }
  // Made at once: options that it refuses are refused here.
  MYNAH_TRY(auto decoder, borrow(*decoders));
  const std::lock_guard lock(mutex_);
  decoders->idle.push_back(std::move(decoder));
  const int most = model_->header()->facts().hears_together ? std::max(1, asking.together) : 1;
  std::unique_ptr<Client> made(
      new Client(*this, std::move(decoders), static_cast<size_t>(most), std::move(asking)));
  if (made->refill_) {
    line_of(made->urgency_).refilling.push_back(made.get());
  }
  return made;
}

HearingLoad WindowQueue::load() const {
  const std::lock_guard lock(mutex_);
  return {.urgent_windows = windows_left(urgent_),
          .bulk_windows = windows_left(bulk_),
          .window_ms = window_ms_};
}

Result<std::unique_ptr<WindowDecoder>> WindowQueue::borrow(Decoders& decoders) {
  {
    const std::lock_guard lock(mutex_);
    if (!decoders.idle.empty()) {
      std::unique_ptr<WindowDecoder> decoder = std::move(decoders.idle.back());
      decoders.idle.pop_back();
      return decoder;
    }
  }
  return or_device_error([&] { return model_->decoder(decoders.options); });
}

void WindowQueue::submit(Client& client, std::vector<Waiting> windows) {
  const std::lock_guard lock(mutex_);
  Line& line = line_of(client.urgency_);
  if (client.waiting_.empty() && !windows.empty()) {
    line.clients.push_back(&client);
  }
  line.windows += windows.size();
  client.has_more_ = client.has_more_ || !windows.empty();
  client.untold_ += windows.size();
  std::ranges::move(windows, std::back_inserter(client.waiting_));
  line.changed.notify_all();
}

Status WindowQueue::start(Line& line) try {
  if (!line.thread.joinable()) {
    line.thread = std::jthread([this, &line](const std::stop_token& end) { serve(line, end); });
  }
  return {};
} catch (const std::system_error& error) {
  return fail(
      ErrorCode::Environment,
      fmt::format("no thread can be started to hear with: {}; see `ulimit -u`", error.what()));
}

void WindowQueue::drop(Client& client, bool all) {
  std::vector<Waiting> dropped;
  {
    const std::lock_guard lock(mutex_);
    Line& line = line_of(client.urgency_);
    std::deque<Waiting> kept;
    for (Waiting& window : client.waiting_) {
      if (all || window.stop.stop_requested()) {
        dropped.push_back(std::move(window));
      } else {
        kept.push_back(std::move(window));
      }
    }
    client.waiting_ = std::move(kept);
    line.windows -= dropped.size();
    if (client.waiting_.empty()) {
      std::erase(line.clients, &client);
    }
    if (all) {
      std::erase(line.refilling, &client);
    }
  }
  for (const Waiting& window : dropped) {
    tell(*window.ticket, {.heard = cancelled(), .spent = {}});
  }
}

void WindowQueue::tell(Ticket& ticket, Outcome outcome) {
  if (ticket.told.test_and_set()) {
    return;
  }
  ticket.done(ticket.number, std::move(outcome));
  const std::lock_guard lock(mutex_);
  --ticket.client->untold_;
  left_.notify_all();
}

void WindowQueue::leave(Client& client) {
  client.ends_.request_stop();
  drop(client, true);
  std::unique_lock lock(mutex_);
  left_.wait(lock, [&] { return client.untold_ == 0 && !client.is_refilling_; });
}

void WindowQueue::serve(Line& line, const std::stop_token& end) {
  const UrgencyScope as_urgent(line.urgency);
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (!line.changed.wait(lock, end, [&] { return has_work(line); })) {
        return;
      }
      refill_if_empty(line, SIZE_MAX, lock);  // so that it is known how much there is
    }
    // Where no device is left that tells of its parts, those who wait hear that from the decoder.
    static_cast<void>(or_device_error([&] {
      if (const int parts = useful_parts(line); parts > 1) {
        model_->run_parts(parts, [&](int /*part*/) { serve_part(line, parts); });
      }
    }));
    Batch batch;
    {
      std::unique_lock lock(mutex_);
      batch = next_batch(line, lock, 1);
    }
    if (!batch.empty()) {
      hear(std::move(batch), 1);
    }
  }
}

int WindowQueue::useful_parts(const Line& line) const {
  const int parts = line.urgency == Urgency::Bulk ? model_->parts() : 1;
  const std::lock_guard lock(mutex_);
  return windows_left(line) >= kFewWindowsOfPart * static_cast<size_t>(parts) ? parts : 1;
}

void WindowQueue::serve_part(Line& line, int parts) {
  std::unique_lock lock(mutex_);
  while (true) {
    ++line.at_work;
    Batch batch = next_batch(line, lock, parts);
    const bool is_empty = batch.empty();
    if (!is_empty) {
      lock.unlock();
      hear(std::move(batch), parts);
      lock.lock();
    }
    --line.at_work;
    line.changed.notify_all();
    if (is_empty) {
      // What others hear now may bring more.
      line.changed.wait(lock, [&] { return has_work(line) || line.at_work == 0; });
      if (!has_work(line)) {
        return;
      }
    }
  }
}

WindowQueue::Batch WindowQueue::next_batch(Line& line, std::unique_lock<std::mutex>& lock,
                                           int parts) {
  // Smaller batches towards the end, so that all parts come to it together.
  const auto fair = [&] {
    return parts == 1 ? SIZE_MAX : windows_left(line) / static_cast<size_t>(parts) + 1;
  };
  refill_if_empty(line, fair(), lock);
  return take(line, fair());
}

bool WindowQueue::has_work(const Line& line) {
  return line.windows > 0 || somebody_with_more(line) != nullptr;
}

// Where some have a window each, as many as are heard together are asked; what one has brought is
// not kept waiting until he has read more.
void WindowQueue::refill_if_empty(Line& line, size_t most, std::unique_lock<std::mutex>& lock) {
  if (line.windows > 0) {
    return;
  }
  std::vector<const Client*> asked;
  for (Client* client = somebody_with_more(line);
       client != nullptr && std::ranges::find(asked, client) == asked.end() &&
       line.windows < std::min(client->together_, most);
       client = somebody_with_more(line)) {
    asked.push_back(client);
    refill(*client, std::min(client->together_, most) - line.windows, lock);
  }
}

template <class Clients>
void WindowQueue::have_had_turn(Clients& all, Client* client) {
  if (!client->owner_.empty()) {
    std::ranges::stable_partition(
        all, [client](const Client* other) { return other->owner_ != client->owner_; });
  }
  if (std::erase(all, client) > 0) {
    all.push_back(client);
  }
}

void WindowQueue::refill(Client& client, size_t wanted, std::unique_lock<std::mutex>& lock) {
  have_had_turn(line_of(client.urgency_).refilling, &client);  // the others come first now
  client.is_refilling_ = true;
  client.has_more_ = false;  // unless it brings some, or says so meanwhile
  lock.unlock();
  const size_t to_come = client.refill_(wanted);
  lock.lock();
  client.to_come_ = to_come;
  client.is_refilling_ = false;
  line_of(client.urgency_).changed.notify_all();
  left_.notify_all();
}

size_t WindowQueue::windows_left(const Line& line) {
  size_t left = line.windows;
  for (const Client* client : line.refilling) {
    left += std::max<size_t>(client->to_come_, client->has_more_ ? 1 : 0);
  }
  return left;
}

WindowQueue::Client* WindowQueue::somebody_with_more(const Line& line) {
  const auto found = std::ranges::find_if(line.refilling, [](const Client* client) {
    return client->has_more_ && !client->is_refilling_;
  });
  return found == line.refilling.end() ? nullptr : *found;
}

WindowQueue::Batch WindowQueue::take(Line& line, size_t most) {
  Batch batch;
  const Decoders* decoders = nullptr;
  std::list<Client*> others;  // whose options are others
  while (!line.clients.empty() && batch.size() < most) {
    Client* const client = line.clients.front();
    Waiting& next = client->waiting_.front();
    if (!batch.empty() && (decoders != client->decoders_.get() || next.draft)) {
      line.clients.pop_front();
      others.push_back(client);
      continue;
    }
    decoders = client->decoders_.get();
    most = std::min(most, next.draft ? 1 : client->together_);
    batch.push_back(std::move(next));
    client->waiting_.pop_front();
    --line.windows;
    have_had_turn(line.clients, client);
    if (client->waiting_.empty()) {
      line.clients.pop_back();
    }
  }
  line.clients.splice(line.clients.begin(), others);
  return batch;
}

void WindowQueue::hear(Batch batch, int parts) {
  const auto begin = std::chrono::steady_clock::now();
  // Who was told may be gone: these are asked for before anybody is.
  const std::shared_ptr<Decoders> decoders = batch.front().ticket->client->decoders_;
  std::list<EitherStops> stops;
  std::vector<std::stop_token> tokens;
  for (const Waiting& window : batch) {
    Client& client = *window.ticket->client;
    if (client.begun_ && !client.has_begun_.test_and_set()) {
      client.begun_();
    }
    tokens.push_back(
        stops.emplace_back(window.stop, window.ticket->client->ends_.get_token()).token());
  }
  const auto tells = [this](const Waiting& window) {
    return [this, ticket = window.ticket] { tell(*ticket, {.heard = cancelled(), .spent = {}}); };
  };
  std::list<std::stop_callback<decltype(tells(batch.front()))>> at_once;
  for (size_t i = 0; i < batch.size(); ++i) {
    at_once.emplace_back(tokens[i], tells(batch[i]));
  }
  WindowTimings spent;
  Result<std::vector<HeardWindow>> heard = cancelled();
  {
    const AllStopped all(tokens);
    heard = decode(*decoders, batch, tokens, all.token(), spent);
  }
  const double share = 1.0 / (static_cast<double>(batch.size()) * parts);
  constexpr double kOfLatest = 0.2;
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  {
    const std::lock_guard lock(mutex_);
    window_ms_ += (window_ms_ == 0 ? 1 : kOfLatest) * (took.count() * share - window_ms_);
  }
  WindowTimings each;
  each.add(spent, share);
  for (size_t i = 0; i < batch.size(); ++i) {
    Outcome outcome{.heard = cancelled(), .spent = each, .together = batch.size()};
    if (!heard) {
      outcome.heard = std::unexpected(heard.error());
    } else if (!tokens[i].stop_requested()) {
      outcome.heard = std::move((*heard)[i]);
    }
    tell(*batch[i].ticket, std::move(outcome));
  }
}

Result<std::vector<HeardWindow>> WindowQueue::decode(Decoders& decoders, const Batch& batch,
                                                     std::span<const std::stop_token> stops,
                                                     const std::stop_token& all_stop,
                                                     WindowTimings& spent) {
  MYNAH_TRY(std::unique_ptr<WindowDecoder> decoder, borrow(decoders));
  const WindowTimings before = decoder->timings();
  std::vector<WindowTask> tasks;
  for (size_t i = 0; i < batch.size(); ++i) {
    tasks.push_back(batch[i].task);
    tasks.back().samples = batch[i].samples;
    tasks.back().stop = stops[i];
  }
  auto heard = or_device_error([&]() -> Result<std::vector<HeardWindow>> {
    if (!batch.front().draft) {
      return decoder->decode(tasks, all_stop);
    }
    MYNAH_TRY(HeardWindow draft, decoder->draft(tasks.front(), all_stop));
    return std::vector{std::move(draft)};
  });
  spent = decoder->timings().since(before);
  const std::lock_guard lock(mutex_);
  decoders.idle.push_back(std::move(decoder));
  return heard;
}

WindowQueue::Client::~Client() {
  leave();
}

void WindowQueue::Client::leave() {
  queue_.leave(*this);
}

void WindowQueue::Client::ask_again() {
  const std::lock_guard lock(queue_.mutex_);
  has_more_ = true;
  queue_.line_of(urgency_).changed.notify_all();
}

WindowQueue::Waiting WindowQueue::Client::window_of(const WindowTask& task, size_t number,
                                                    const std::stop_token& stop, const Done& done) {
  auto ticket = std::make_shared<Ticket>();
  ticket->client = this;
  ticket->number = number;
  ticket->done = done;
  return {.ticket = std::move(ticket),
          .task = task,
          .samples = {task.samples.begin(), task.samples.end()},
          .stop = stop};
}

void WindowQueue::Client::submit(std::span<const WindowTask> tasks, const std::stop_token& stop,
                                 const Done& done, bool draft) {
  std::vector<Waiting> windows;
  windows.reserve(tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) {
    windows.push_back(window_of(tasks[i], i, stop, done));
    windows.back().draft = draft;
  }
  queue_.submit(*this, std::move(windows));
}

void WindowQueue::Client::drop_stopped() {
  queue_.drop(*this, false);
}

}  // namespace mynah
