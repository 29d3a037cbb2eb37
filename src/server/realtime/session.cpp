#include "server/realtime/session.h"

#include <algorithm>
#include <array>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <random>
#include <stop_token>
#include <utility>

#include <fmt/format.h>

#include "server/http/json_text.h"
#include "server/http/message_session.h"
#include "server/http/websocket.h"
#include "server/net/work_threads.h"
#include "server/realtime/dialogue.h"
#include "server/realtime/lanes.h"

namespace mynah::server {
namespace {

// A sender that is faster than its sound is heard is slowed down where so much waits; more is read
// as it is dealt with.
constexpr size_t kMuch = size_t{1} << 20;
// Where no thread is free.
constexpr std::chrono::milliseconds kTryAgain{100};
// Sessions that are dealt with at once: those whose clients take nothing must not keep the others
// waiting, and work that waits for others is none of theirs.
constexpr size_t kLanes = 64;

std::string random_name() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

// Takes the client's messages and has one thread at a time deal with them; none where there is
// nothing to do.
class RealtimeSession final : public MessageSession,
                              public std::enable_shared_from_this<RealtimeSession> {
 public:
  RealtimeSession(Service& service, const TurnPlaces& turns, const RequestHead& head,
                  std::shared_ptr<Outbox> outbox, std::shared_ptr<Lanes> lanes,
                  WorkThreads& threads)
      : service_(service),
        turns_(turns, head),
        outbox_(std::move(outbox)),
        lanes_(std::move(lanes)),
        threads_(threads),
        share_(share_of(head)) {}

  // Once it is shared.
  void begin(const RequestHead& head) {
    const std::weak_ptr<RealtimeSession> weak = weak_from_this();
    Dialogue::Surroundings surroundings{
        .service = service_,
        .turns = turns_,
        .outbox = outbox_,
        .name = random_name(),
        .wake =
            [weak] {
              if (const auto self = weak.lock()) {
                self->answers_came();
              }
            },
        .give =
            [weak](Reply reply, std::stop_source stop) {
              const auto self = weak.lock();
              return self != nullptr && self->give(std::move(reply), std::move(stop));
            },
        .warm_up =
            [weak](std::string model, std::string voice) {
              if (const auto self = weak.lock()) {
                self->warm_up(std::move(model), std::move(voice));
              }
            },
        .open =
            [weak](std::string model) {
              const auto self = weak.lock();
              return self != nullptr && self->open(std::move(model));
            }};
    dialogue_ = std::make_unique<Dialogue>(std::move(surroundings), head);
  }

  void take(std::string text) override {
    const std::lock_guard lock(mutex_);
    backlog_ += held_by(text);
    waiting_.push_back({.text = std::move(text)});
    schedule();
  }

  [[nodiscard]] size_t backlog() const override {
    const std::lock_guard lock(mutex_);
    return backlog_;
  }

  [[nodiscard]] std::optional<Clock::time_point> due() const override {
    const std::lock_guard lock(mutex_);
    return due_;
  }

  void on_time() override {
    const std::lock_guard lock(mutex_);
    due_.reset();
    time_came_ = true;
    schedule();
  }

  void leave() override {
    const std::lock_guard lock(mutex_);
    left_ = true;
    waiting_.clear();
    schedule();
  }

 private:
  // A message, or what became of a response.
  struct Task {
    std::string text{};
    std::optional<Replied> replied{};
  };

  // A message without a letter takes memory, too.
  static size_t held_by(const std::string& text) { return text.size() + sizeof(Task); }

  // What is to be done next.
  struct Next {
    std::optional<Task> task;
    bool answers = false;
    bool time = false;
    bool left = false;
    bool sooner = false;  // nothing, until a time that the network does not know yet

    [[nodiscard]] bool is_nothing() const { return !task && !answers && !time && !left; }
  };

  void answers_came() {
    const std::lock_guard lock(mutex_);
    answers_came_ = true;
    schedule();
  }

  // Under the lock.
  void schedule() {
    if (!working_) {
      working_ = lanes_->run([self = shared_from_this()] { self->work(); }, threads_);
      if (!working_) {
        due_ = Clock::now() + kTryAgain;
      }
    }
  }

  // A response is given by another thread: the client may interrupt it.
  bool give(Reply reply, std::stop_source stop) {
    auto give_it = [self = shared_from_this(), reply = std::move(reply), stop]() mutable {
      const auto hold = reply.hold;
      const std::stop_callback gone(self->outbox_->stop(), [&stop] { stop.request_stop(); });
      const ReplyWays ways{.service = self->service_,
                           .turns = self->turns_,
                           .conversation = self->dialogue_->conversation(),
                           .teller = self->dialogue_->teller()};
      Replied replied{.response_id = reply.response_id};
      try {
        replied = give_reply(ways, std::move(reply), stop.get_token());
      } catch (const std::exception& error) {
        replied.status = fail(ErrorCode::Environment,
                              fmt::format("a fault of the server's own: {}", error.what()));
        replied.unwanted = hold != nullptr && hold->give_up();
      }
      if (replied.unwanted) {
        return;
      }
      const std::lock_guard lock(self->mutex_);
      self->waiting_.push_back({.replied = std::move(replied)});
      self->schedule();
    };
    return threads_.run(std::move(give_it), share_);
  }

  // What cannot be opened is told by the response that wants it.
  void warm_up(std::string model, std::string voice) {
    static_cast<void>(threads_.run(
        [self = shared_from_this(), model = std::move(model), voice = std::move(voice)] {
          static_cast<void>(self->service_.chats().writing(model, UnknownName::MeansDefault));
          static_cast<void>(self->service_.speaking({.model = {}, .voice = voice, .language = {}}));
        },
        share_));
  }

  // A model may take seconds to open: no lane waits for it. What fails is told by whoever wants it.
  bool open(std::string model) {
    const std::lock_guard lock(mutex_);
    opening_ = threads_.run(
        [self = shared_from_this(), model = std::move(model)] {
          static_cast<void>(self->service_.hearing(model));
          const std::lock_guard inner(self->mutex_);
          self->opening_ = false;
          self->schedule();
        },
        share_);
    return opening_;
  }

  Next take_next(std::optional<Clock::time_point> due) {
    const std::lock_guard lock(mutex_);
    Next next{.task = {},
              .answers = std::exchange(answers_came_, false),
              .time = std::exchange(time_came_, false),
              .left = left_};
    if (!waiting_.empty() && !opening_) {
      next.task = std::move(waiting_.front());
      waiting_.pop_front();
    }
    if (next.is_nothing()) {
      working_ = false;  // of a client that left the last work is under way: no other follows
    }
    next.sooner = next.is_nothing() && due && (!due_ || *due < *due_);
    due_ = due;
    return next;
  }

  void work() {
    while (true) {
      Next next = take_next(dialogue_->due());
      if (next.left) {
        dialogue_->end();
        return;
      }
      if (next.is_nothing()) {
        if (next.sooner) {
          static_cast<void>(outbox_->write({}));  // so that it is looked at
        }
        return;
      }
      try {
        deal_with(next);
      } catch (const std::exception& error) {
        dialogue_->teller().tell_error(
            {ErrorCode::Environment, fmt::format("a fault of the server's own: {}", error.what())},
            {});
      }
    }
  }

  void deal_with(Next& next) {
    if (next.answers) {
      dialogue_->go_on();
    }
    if (next.time) {
      dialogue_->on_time(Clock::now());
    }
    if (next.task && next.task->replied) {
      dialogue_->end_reply(*next.task->replied);
    } else if (next.task) {
      if (dialogue_->take(next.task->text)) {
        shrink_backlog(held_by(next.task->text));
      } else {
        const std::lock_guard lock(mutex_);
        waiting_.push_front(*std::move(next.task));
      }
    }
  }

  void shrink_backlog(size_t bytes) {
    size_t before = 0;
    {
      const std::lock_guard lock(mutex_);
      before = backlog_;
      backlog_ -= std::min(backlog_, bytes);
    }
    if (before >= kMuch) {
      static_cast<void>(outbox_->write({}));  // so that more is read
    }
  }

  Service& service_;
  SocketTurns turns_;
  std::shared_ptr<Outbox> outbox_;
  std::shared_ptr<Lanes> lanes_;
  WorkThreads& threads_;
  const std::string share_;
  std::unique_ptr<Dialogue> dialogue_;  // of the thread that works

  mutable std::mutex mutex_;
  std::deque<Task> waiting_;
  size_t backlog_ = 0;
  bool answers_came_ = false;
  bool time_came_ = false;
  bool left_ = false;
  bool working_ = false;
  bool opening_ = false;  // a model, for the event that waits first
  std::optional<Clock::time_point> due_;
};

}  // namespace

std::vector<Route> realtime_routes(Service& service, const TurnPlaces& turns) {
  const auto make = [&service, &turns, lanes = std::make_shared<Lanes>(kLanes)](
                        const RequestHead& head, const std::shared_ptr<Outbox>& outbox,
                        WorkThreads& threads) {
    const auto session =
        std::make_shared<RealtimeSession>(service, turns, head, outbox, lanes, threads);
    session->begin(head);
    return session;
  };
  return {{.method = "GET",
           .path = "/v1/realtime",
           .help = "Speech to text while somebody speaks, and texts spoken, as OpenAI's Realtime.",
           .handler = {},
           .rights = {Right::Hear},
           .socket = {.make = make, .protocol = "realtime"}}};
}

}  // namespace mynah::server
