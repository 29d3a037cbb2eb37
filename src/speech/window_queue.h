// WindowQueue: windows of everybody who listens with one model, heard in batches: urgent ones
// before others, and nobody's before everybody else has had his turn.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/turns.h"
#include "speech/window_model.h"

namespace mynah {

// Thread-safe. Two threads of its own, where they are needed, one for each class: an urgent window
// is heard beside a batch of others, whose steps it goes between (base/turns.h). Where much waits
// that is not urgent it is shared out to the parts of the device, a batch each.
class WindowQueue {
 public:
  // What became of a window.
  struct Outcome {
    Result<HeardWindow> heard;
    WindowTimings spent;  // its share of its batch's
    size_t together = 1;  // windows of the batch
  };

  // Called once for each window, by its number among those that came together, from a thread of the
  // queue's or of who stops or leaves.
  using Done = std::function<void(size_t window, Outcome outcome)>;

  // Brings up to so many more windows of a client, by submit(), and returns how many are about to
  // come after those. Called from the queue's threads, one at a time, when little waits.
  using Refill = std::function<size_t(size_t wanted)>;

  // Called once, before the first window of a client is heard, from a thread of the queue's.
  using Begun = std::function<void()>;

  class Client;

  // Who asks, and how.
  struct Asking {
    Urgency urgency = Urgency::Bulk;
    int together = 1;  // windows in a batch at most, 1 at least; one where the model hears several
                       // no sooner
    std::string owner{};  // clients of one owner share a turn; "": each has one of its own
    // The queue asks for windows when it can hear them, from Client::ask_again() on; null: they are
    // submitted by themselves.
    Refill refill{};
    Begun begun{};  // may be null
  };

  // `most`: where so many windows wait nobody else is taken as a client; 1 at least.
  explicit WindowQueue(std::shared_ptr<const WindowModel> model, size_t most = 4096);

  // Nobody may be its client any more.
  ~WindowQueue();
  WindowQueue(const WindowQueue&) = delete;
  WindowQueue& operator=(const WindowQueue&) = delete;

  // Somebody whose windows are decoded with these options. Those of clients with the same options
  // share batches. Refused as WindowModel::decoder() refuses; Busy, in words that say for how long,
  // where too many wait; Environment where no thread can be had.
  Result<std::unique_ptr<Client>> client(const DecodingOptions& options, Asking asking);

  [[nodiscard]] HearingLoad load() const;

  [[nodiscard]] const WindowModel& model() const { return *model_; }

 private:
  // Decoders with the same options, for whoever wants one.
  struct Decoders {
    DecodingOptions options;
    std::vector<std::unique_ptr<WindowDecoder>> idle;
  };

  // Who is to be told what became of a window, once.
  struct Ticket {
    Client* client = nullptr;  // which lives until it was told
    size_t number = 0;         // among those that came together
    Done done;
    std::atomic_flag told{};
  };

  struct Waiting {
    std::shared_ptr<Ticket> ticket;
    WindowTask task;
    std::vector<float> samples;  // of the task
    std::stop_token stop;
    bool draft = false;
  };

  using Batch = std::vector<Waiting>;

  // What waits of one class, and who hears it.
  struct Line {
    explicit Line(Urgency of) : urgency(of) {}

    Urgency urgency;
    std::list<Client*> clients;  // with windows that wait; the next one is first
    size_t windows = 0;
    std::vector<Client*> refilling;  // who bring more when they are asked, each in his turn
    int at_work = 0;                 // of its threads: they hear a batch, or have one brought
    std::condition_variable_any changed;
    std::jthread thread;
  };

  [[nodiscard]] Line& line_of(Urgency urgency) {
    return urgency == Urgency::Interactive ? urgent_ : bulk_;
  }

  void submit(Client& client, std::vector<Waiting> windows);
  // Starts a line's thread, where it has none; wants the lock. Environment.
  Status start(Line& line);
  // Tells of those windows of a client that wait and are wanted no more.
  void drop(Client& client, bool all);
  void leave(Client& client);
  void serve(Line& line, const std::stop_token& end);
  // Into how many parts what waits is best shared out.
  [[nodiscard]] int useful_parts(const Line& line) const;
  // What one part does, until there is nothing more to hear.
  void serve_part(Line& line, int parts);
  // The next batch, for which more is brought where little waits; empty: there is nothing.
  [[nodiscard]] Batch next_batch(Line& line, std::unique_lock<std::mutex>& lock, int parts);
  // Whether there is something to hear, or somebody to be asked for it; wants the lock.
  [[nodiscard]] static bool has_work(const Line& line);
  // Has somebody bring up to so many windows where none wait, and others where he has fewer. Wants
  // the lock, and lets go of it meanwhile.
  void refill_if_empty(Line& line, size_t most, std::unique_lock<std::mutex>& lock);
  void refill(Client& client, size_t wanted, std::unique_lock<std::mutex>& lock);
  // Windows that wait, and those that are about to come; wants the lock.
  [[nodiscard]] static size_t windows_left(const Line& line);
  // Puts a client behind all others who have not had their turn since: those of its owner, too.
  template <class Clients>
  static void have_had_turn(Clients& all, Client* client);
  // Somebody who can be asked for more; null: nobody.
  [[nodiscard]] static Client* somebody_with_more(const Line& line);
  // Windows that can be heard together, one of each client after the other; wants the lock.
  [[nodiscard]] static Batch take(Line& line, size_t most);
  // Tells whoever was not told yet.
  void tell(Ticket& ticket, Outcome outcome);
  // Hears them and tells who asked; who stops meanwhile is told at once. `parts`: so many batches
  // are heard at once.
  void hear(Batch batch, int parts);
  // `stops`: a window's own; `all_stop`: that of all of them.
  [[nodiscard]] Result<std::vector<HeardWindow>> decode(Decoders& decoders, const Batch& batch,
                                                        std::span<const std::stop_token> stops,
                                                        const std::stop_token& all_stop,
                                                        WindowTimings& spent);
  [[nodiscard]] Result<std::unique_ptr<WindowDecoder>> borrow(Decoders& decoders);

  std::shared_ptr<const WindowModel> model_;
  size_t most_;
  mutable std::mutex mutex_;
  std::condition_variable left_;  // a client's window was told of
  std::list<std::weak_ptr<Decoders>> decoders_;
  double window_ms_ = 0;  // that a window took of late
  Line bulk_{Urgency::Bulk};
  Line urgent_{Urgency::Interactive};
};

// One run over recordings, one live session, one request. Thread-safe; the queue must outlive it.
class WindowQueue::Client {
 public:
  // Leaves.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // There may be more than when the queue asked last.
  void ask_again();

  // Drops what waits, stops what is being heard, and waits until all of that was told of and nobody
  // asks for more. It is the last that is asked of it.
  void leave();

  // Has the windows heard, and calls `done` for each: with Cancelled once stop is requested, with
  // the device's error where none is left that can hear it. What the tasks refer to is copied.
  // `draft`: a draft of each will do (WindowDecoder::draft()).
  void submit(std::span<const WindowTask> tasks, const std::stop_token& stop, const Done& done,
              bool draft = false);

  // Tells at once of windows that wait though they were stopped; else they are told of when their
  // turn comes.
  void drop_stopped();

 private:
  friend class WindowQueue;

  Client(WindowQueue& queue, std::shared_ptr<Decoders> decoders, size_t together, Asking asking)
      : queue_(queue),
        decoders_(std::move(decoders)),
        urgency_(asking.urgency),
        together_(together),
        owner_(std::move(asking.owner)),
        begun_(std::move(asking.begun)),
        refill_(std::move(asking.refill)) {}

  [[nodiscard]] Waiting window_of(const WindowTask& task, size_t number,
                                  const std::stop_token& stop, const Done& done);

  WindowQueue& queue_;
  std::shared_ptr<Decoders> decoders_;
  Urgency urgency_;
  size_t together_;
  std::string owner_;
  Begun begun_;
  std::atomic_flag has_begun_{};
  std::stop_source ends_;  // of what is being heard
  // The queue's, under its lock.
  std::deque<Waiting> waiting_;
  size_t untold_ = 0;  // windows, waiting or being heard
  Refill refill_;
  bool has_more_ = false;      // as far as is known
  bool is_refilling_ = false;  // it is being asked
  size_t to_come_ = 0;         // windows, after those that wait
};

}  // namespace mynah
