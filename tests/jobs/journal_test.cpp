// Jobs through their lives, with an end of the process at every step.
#include "jobs/journal.h"

#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/journal_fixture.h"

namespace mynah::jobs::test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Jobs : public JournalTest {
 protected:
  void SetUp() override { open(); }

  [[nodiscard]] std::vector<std::string> ids(const std::string& owner, int64_t before = 0,
                                             int most = 100) const {
    std::vector<std::string> found;
    const auto listed = store->list(owner, before, most);
    for (const Job& job : *listed) {
      found.push_back(job.id);
    }
    return found;
  }

  // The next end to tell; it must be there.
  Job take_webhook() {
    auto taken = store->take_webhook({});
    EXPECT_TRUE(taken && *taken);
    return **std::move(taken);
  }

  static std::stop_token stopped() {
    std::stop_source source;
    source.request_stop();
    return source.get_token();
  }
};

TEST_F(Jobs, OutliveTheProcessAtEveryStep) {
  const std::string id = add();
  open();
  EXPECT_EQ(state_of(id), JobState::Queued);
  TakenJob taken = take();
  EXPECT_EQ(taken.job.id, id);
  EXPECT_EQ(taken.recording.size_bytes, 12);  // "sound of ann"
  EXPECT_EQ(state_of(id), JobState::Running);
  open();  // killed while it was heard
  EXPECT_EQ(state_of(id), JobState::Queued);
  EXPECT_TRUE(has_upload(id));
  taken = take();
  EXPECT_EQ(taken.job.attempts, 2);
  finish(taken.job, "heard");
  open();
  const auto job = store->find("ann", id);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->state, JobState::Done);
  EXPECT_EQ(job->progress.text, "heard");
  EXPECT_EQ(job->model, "tiny");
  EXPECT_EQ(store->result("ann", id, "srt")->text, "1 heard");
  EXPECT_EQ(store->result("ann", id, "vtt").error().code, ErrorCode::NotFound);
  EXPECT_FALSE(has_upload(id)) << "a recording goes when its text is there";
  EXPECT_THAT(told, IsEmpty());
}

TEST_F(Jobs, ThatEndWithTheProcessTooOftenHaveFailed) {
  const std::string bad = add();
  take();
  open();
  const std::string good = add();
  EXPECT_EQ(take().job.id, good) << "what was begun less often comes first";
  EXPECT_EQ(take().job.id, bad);
  open();
  finish(take().job, "good");
  take();
  open();
  EXPECT_EQ(state_of(bad), JobState::Failed);
  EXPECT_THAT(store->find("ann", bad)->error->message, HasSubstr("ended 3 times"));
  EXPECT_EQ(state_of(good), JobState::Done);
}

TEST_F(Jobs, ThatArePutBackLoseNoAttempt) {
  const std::string id = add();
  for (int i = 0; i < 5; ++i) {
    const TakenJob taken = take();
    EXPECT_EQ(taken.job.attempts, 1);
    EXPECT_TRUE(*store->put_back(taken.job));
    open();
  }
  EXPECT_EQ(state_of(id), JobState::Queued);
}

TEST_F(Jobs, BelongToTheirOwner) {
  const std::string hers = add("ann");
  const std::string his = add("bob");
  EXPECT_EQ(store->find("bob", hers).error().code, ErrorCode::NotFound);
  EXPECT_EQ(store->cancel("bob", hers).error().code, ErrorCode::NotFound);
  EXPECT_EQ(store->remove("bob", hers).error().code, ErrorCode::NotFound);
  EXPECT_EQ(store->result("bob", hers, "srt").error().code, ErrorCode::NotFound);
  EXPECT_THAT(ids("ann"), ElementsAre(hers));
  EXPECT_THAT(ids("bob"), ElementsAre(his));
  EXPECT_THAT(ids(""), IsEmpty());
}

TEST_F(Jobs, OfOwnersTakeTurns) {
  const std::string first = add("ann");
  const std::string second = add("ann");
  add("ann");
  const std::string his = add("bob");
  EXPECT_EQ(take().job.id, first);
  EXPECT_EQ(take().job.id, his);
  EXPECT_EQ(take().job.id, second);
}

TEST_F(Jobs, AreListedInPages) {
  const std::string first = add();
  const std::string second = add();
  const std::string third = add();
  EXPECT_THAT(ids("ann", 0, 2), ElementsAre(third, second));
  EXPECT_THAT(ids("ann", store->find("ann", second)->number, 2), ElementsAre(first));
}

TEST_F(Jobs, AreCancelledOnce) {
  const std::string waiting = add();
  EXPECT_EQ(store->cancel("ann", waiting)->state, JobState::Cancelled);
  const std::string running = add();
  const TakenJob taken = take();
  EXPECT_EQ(taken.job.id, running);
  EXPECT_EQ(store->cancel("ann", running)->state, JobState::Cancelled);
  EXPECT_FALSE(*store->finish(taken.job, {.text = "late"}));
  EXPECT_FALSE(*store->put_back(taken.job));
  EXPECT_EQ(state_of(running), JobState::Cancelled);
  EXPECT_EQ(store->cancel("ann", running)->state, JobState::Cancelled);
  EXPECT_FALSE(has_upload(running));
  open();
  EXPECT_EQ(state_of(waiting), JobState::Cancelled);
  EXPECT_EQ(*store->take(stopped()), std::nullopt);
}

TEST_F(Jobs, AreRemovedWhole) {
  const std::string secret = "a text that nobody else may read";
  const std::string done = add();
  finish(take().job, secret);
  const std::string running = add();
  const TakenJob taken = take();
  ASSERT_TRUE(store->remove("ann", done));
  ASSERT_TRUE(store->remove("ann", running));
  EXPECT_FALSE(*store->finish(taken.job, {.text = secret}));
  EXPECT_THAT(ids("ann"), IsEmpty());
  open();
  EXPECT_THAT(ids("ann"), IsEmpty());
  EXPECT_FALSE(has_upload(running));
  store.reset();
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder / "state")) {
    if (file.is_regular_file()) {
      EXPECT_THAT(mynah::test::read_file(file.path()), Not(HasSubstr(secret))) << file.path();
    }
  }
}

TEST_F(Jobs, TellHowFarTheyAre) {
  const std::string id = add();
  const TakenJob taken = take();
  uint64_t seen = store->wait_for_change(id, 0, milliseconds(0), {});
  std::jthread watcher([&] { seen = store->wait_for_change(id, seen, hours(1), {}); });
  store->report(id, {.heard_s = 1.5, .length_s = 3, .text = "half"});
  watcher.join();
  EXPECT_EQ(store->find("ann", id)->progress.text, "half");
  EXPECT_EQ(store->find("ann", id)->progress.heard_s, 1.5);
  watcher = std::jthread([&] { store->wait_for_change(id, seen, hours(1), {}); });
  finish(taken.job, "all");
  watcher.join();
  store->report(id, {.text = "too late"});
  EXPECT_EQ(store->find("ann", id)->progress.text, "all");
  const std::string other = add();
  seen = store->wait_for_change(other, 0, milliseconds(0), {});
  watcher = std::jthread([&] { store->wait_for_change(other, seen, hours(1), {}); });
  store->close();
  watcher.join();
}

TEST_F(Jobs, AreTakenByWhoeverWaits) {
  std::string taken;
  std::jthread taker([&] { taken = take().job.id; });
  const std::string id = add();
  taker.join();
  EXPECT_EQ(taken, id);
  std::jthread stopped_one([this](const std::stop_token& stop) {
    const auto none = store->take(stop);
    EXPECT_TRUE(none && !*none);
  });
}

TEST_F(Jobs, ExpireByTheTimeThatPassed) {
  const std::string old = add();
  finish(take().job, "old");
  clock.pass(minutes(59));
  const std::string young = add();
  EXPECT_EQ(*store->expire(), 0);
  EXPECT_THAT(ids("ann"), ElementsAre(young, old));
  clock.pass(minutes(2));
  EXPECT_EQ(*store->expire(), 1);
  EXPECT_THAT(ids("ann"), ElementsAre(young)) << "what has not ended does not expire";
}

TEST_F(Jobs, NeitherExpireNorChangeTheirOrderByTheClock) {
  const std::string first = add();
  finish(take().job, "first");
  clock.of_day_ms += std::chrono::milliseconds(hours(24 * 365)).count();  // set forward
  EXPECT_EQ(*store->expire(), 0);
  clock.of_day_ms = 0;  // set back to 1970
  open();
  const std::string second = add();
  EXPECT_THAT(ids("ann"), ElementsAre(second, first));
  EXPECT_GE(store->find("ann", second)->created_ms, store->find("ann", first)->ended_ms);
  EXPECT_EQ(*store->expire(), 0);
  clock.pass(minutes(61));
  EXPECT_EQ(*store->expire(), 1) << "time goes on from the latest that was";
}

TEST_F(Jobs, TellTheirEndUntilItArrived) {
  const std::string id = add("ann", "https://example.org/heard");
  EXPECT_EQ(*store->take_webhook(stopped()), std::nullopt);
  finish(take().job, "heard");
  open();
  Job telling = take_webhook();
  EXPECT_EQ(telling.id, id);
  EXPECT_EQ(telling.webhook_tries, 0);
  open();  // killed while it told it
  telling = take_webhook();
  ASSERT_TRUE(store->webhook_failed(telling, "no answer", minutes(5)));
  open();
  clock.pass(minutes(4));
  std::string taken;
  {
    std::jthread waiter([&](const std::stop_token& stop) {
      const auto early = store->take_webhook(stop);
      taken = early && *early ? (*early)->id : "";
    });
  }
  EXPECT_EQ(taken, "") << "it is not due";
  clock.pass(minutes(2));
  telling = take_webhook();
  EXPECT_EQ(telling.webhook_tries, 1);
  EXPECT_EQ(telling.webhook_error, "no answer");
  clock.pass(hours(2));
  EXPECT_EQ(*store->expire(), 0) << "what is not told yet stays";
  ASSERT_TRUE(store->webhook_told(telling));
  EXPECT_EQ(store->find("ann", id)->webhook_state, WebhookState::Delivered);
  EXPECT_EQ(*store->expire(), 1);
}

TEST_F(Jobs, GiveUpTellingAtLast) {
  const std::string id = add("ann", "https://example.org/heard");
  EXPECT_TRUE(store->cancel("ann", id));
  ASSERT_TRUE(store->webhook_failed(take_webhook(), "gone", std::nullopt));
  EXPECT_EQ(store->find("ann", id)->webhook_state, WebhookState::GivenUp);
  EXPECT_EQ(store->find("ann", id)->webhook_tries, 1);
}

TEST_F(Jobs, AreRefusedWhereTooManyWait) {
  JournalOptions few = options();
  few.most_waiting = 1;
  open(std::move(few));
  add();
  EXPECT_EQ(store->add({.owner = "ann"}, recording("x")).error().code, ErrorCode::Busy);
}

}  // namespace
}  // namespace mynah::jobs::test
