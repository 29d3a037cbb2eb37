// A journal in a folder of its own, on a clock that a test sets.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "jobs/journal.h"
#include "temporary_folder.h"

namespace mynah::jobs::test {

struct TestClock {
  int64_t of_day_ms = 1'800'000'000'000;
  int64_t since_up_ms = 5'000;

  void pass(std::chrono::milliseconds time) {
    of_day_ms += time.count();
    since_up_ms += time.count();
  }
};

class JournalTest : public ::testing::Test {
 protected:
  [[nodiscard]] JournalOptions options() {
    return {.folder = folder / "state",
            .keep_results = std::chrono::hours(1),
            .time = {.of_day = [this] { return clock.of_day_ms; },
                     .since_up = [this] { return clock.since_up_ms; }},
            .tell = [this](const std::string& text) { told.push_back(text); }};
  }

  // As a process that begins; the one before has ended.
  void open(JournalOptions how) {
    store.reset();
    auto opened = open_journal(std::move(how));
    ASSERT_TRUE(opened) << opened.error().message;
    store = *std::move(opened);
  }

  void open() { open(options()); }

  // A recording that a client sent.
  [[nodiscard]] InputFile recording(const std::string& bytes) const {
    mynah::test::write_file(folder / "sent", bytes);
    auto input = open_input_file(folder / "sent");
    EXPECT_TRUE(input);
    return *std::move(input);
  }

  // The id of a new job.
  std::string add(const std::string& owner = "ann", const std::string& webhook = {}) {
    const auto job = store->add({.owner = owner, .parameters = "{}", .webhook = webhook},
                                recording("sound of " + owner));
    EXPECT_TRUE(job) << job.error().message;
    return job ? job->id : std::string();
  }

  // The next job to hear; it must be there.
  TakenJob take() {
    auto taken = store->take({});
    EXPECT_TRUE(taken && *taken);
    return **std::move(taken);
  }

  void finish(const Job& job, const std::string& text) {
    const auto done = store->finish(
        job, {.text = text,
              .length_s = 2,
              .model = "tiny",
              .device = "cpu",
              .renditions = {{.format = "srt", .type = "text/plain", .text = "1 " + text}}});
    EXPECT_TRUE(done && *done);
  }

  [[nodiscard]] JobState state_of(const std::string& id, const std::string& owner = "ann") const {
    const auto job = store->find(owner, id);
    EXPECT_TRUE(job) << job.error().message;
    return job ? job->state : JobState::Failed;
  }

  [[nodiscard]] bool has_upload(const std::string& id) const {
    return folder.has("state/uploads/" + id);
  }

  mynah::test::TemporaryFolder folder;
  TestClock clock;
  std::vector<std::string> told;
  std::unique_ptr<JobStore> store;
};

}  // namespace mynah::jobs::test
