// Random lives of jobs, beside a model of them in memory; the process ends now and then.
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "jobs/journal_fixture.h"

namespace mynah::jobs::test {
namespace {

constexpr int kMostAttempts = 3;

struct KnownJob {
  std::string owner;
  JobState state = JobState::Queued;
  int attempts = 0;
  std::string text;
  size_t order = 0;
};

class JobLives : public JournalTest {
 public:
  void live(int steps) {
    folder_number_ += 1;
    known_.clear();
    taken_.clear();
    reopen();
    for (int i = 0; i < steps; ++i) {
      step();
      compare();
    }
  }

  void TestBody() override {}

 private:
  void reopen() {
    JournalOptions how = options();
    how.folder = folder / ("state" + std::to_string(folder_number_));
    how.most_attempts = kMostAttempts;
    open(std::move(how));
    for (auto& [id, job] : known_) {
      if (job.state == JobState::Running) {
        job.state = job.attempts < kMostAttempts ? JobState::Queued : JobState::Failed;
      }
    }
    taken_.clear();
    turns_.clear();
  }

  void step() {
    switch (*rc::gen::inRange(0, 9)) {
      case 0:
      case 1: {
        const std::string owner = *rc::gen::element<std::string>("ann", "bob");
        known_[add(owner)] = {.owner = owner, .order = known_.size() + removed_};
        break;
      }
      case 2:
      case 3:
        take_next();
        break;
      case 4:
        end_one();
        break;
      case 5:
        with_one([this](const std::string& id, KnownJob& job) {
          const auto cancelled = store->cancel(job.owner, id);
          RC_ASSERT(cancelled.has_value());
          job.state = has_ended(job.state) ? job.state : JobState::Cancelled;
        });
        break;
      case 6:
        with_one([this](const std::string& id, const KnownJob& job) {
          RC_ASSERT(store->remove(job.owner, id).has_value());
          known_.erase(std::string(id));
          ++removed_;
        });
        break;
      case 7:
        clock.of_day_ms += *rc::gen::inRange(-100'000'000, 100'000'000);
        break;
      default:
        reopen();
    }
  }

  template <class Do>
  void with_one(Do&& work) {
    if (!known_.empty()) {
      const auto one =
          std::next(known_.begin(), *rc::gen::inRange<int>(0, static_cast<int>(known_.size())));
      const std::string id = one->first;
      work(id, one->second);
    }
  }

  // The owner's whose turn is longest ago; of that one's the one that was begun the fewest times,
  // then the oldest.
  void take_next() {
    std::map<std::string, size_t> oldest;  // of an owner's jobs
    for (const auto& [id, job] : known_) {
      if (job.state == JobState::Queued) {
        const auto [owner, first] = oldest.emplace(job.owner, job.order);
        owner->second = std::min(owner->second, job.order);
      }
    }
    const auto place = [&](const KnownJob& job) {
      return std::tuple(turns_[job.owner], oldest[job.owner], job.attempts, job.order);
    };
    const KnownJob* next = nullptr;
    for (const auto& [id, job] : known_) {
      if (job.state == JobState::Queued && (next == nullptr || place(job) < place(*next))) {
        next = &job;
      }
    }
    if (next == nullptr) {
      return;
    }
    auto taken = store->take({});
    RC_ASSERT(taken && *taken);
    KnownJob& job = known_.at((*taken)->job.id);
    RC_ASSERT(&job == next);
    job.state = JobState::Running;
    ++job.attempts;
    turns_[job.owner] = ++turn_;
    RC_ASSERT((*taken)->job.attempts == job.attempts);
    taken_.push_back((*taken)->job);
  }

  // Whoever took a job comes back with it, be it still there or not.
  void end_one() {
    if (taken_.empty()) {
      return;
    }
    const Job job = taken_.back();
    taken_.pop_back();
    const auto known = known_.find(job.id);
    const bool runs = known != known_.end() && known->second.state == JobState::Running &&
                      known->second.attempts == job.attempts;
    Result<bool> ended = false;
    JobState state = JobState::Queued;
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        ended = store->finish(job, {.text = "text of " + job.id});
        state = JobState::Done;
        break;
      case 1:
        ended = store->fail_with(job, {ErrorCode::InvalidInput, "no sound"});
        state = JobState::Failed;
        break;
      default:
        ended = store->put_back(job);
    }
    RC_ASSERT(ended && *ended == runs);
    if (runs) {
      known->second.state = state;
      known->second.text = state == JobState::Done ? "text of " + job.id : "";
      known->second.attempts -= state == JobState::Queued ? 1 : 0;
    }
  }

  void compare() {
    size_t found = 0;
    for (const std::string owner : {"ann", "bob"}) {
      const auto list = store->list(owner, 0, 10'000);
      RC_ASSERT(list.has_value());
      size_t before = SIZE_MAX;
      for (const Job& job : *list) {
        const auto known = known_.find(job.id);
        RC_ASSERT(known != known_.end());
        RC_ASSERT(known->second.owner == owner);
        RC_ASSERT(known->second.state == job.state);
        RC_ASSERT(known->second.attempts == job.attempts);
        RC_ASSERT(known->second.text == job.progress.text);
        RC_ASSERT(known->second.order < before);  // the newest first
        RC_ASSERT(folder.has("state" + std::to_string(folder_number_) + "/uploads/" + job.id) ==
                  !has_ended(job.state));
        before = known->second.order;
        ++found;
      }
    }
    RC_ASSERT(found == known_.size());
    RC_ASSERT(told.empty());
  }

  int folder_number_ = 0;
  size_t removed_ = 0;
  std::map<std::string, size_t> turns_;
  size_t turn_ = 0;
  std::map<std::string, KnownJob> known_;
  std::vector<Job> taken_;
};

TEST(JobLivesProperty, AreThoseOfTheModel) {
  EXPECT_TRUE(rc::check("jobs live as the model says", [] {
    JobLives lives;
    lives.live(*rc::gen::inRange(5, 30));
  }));
}

}  // namespace
}  // namespace mynah::jobs::test
