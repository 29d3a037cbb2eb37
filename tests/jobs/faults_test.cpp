// What a disk, a second server and other people's hands do to a journal.
#include <csignal>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "jobs/journal_fixture.h"

namespace mynah::jobs::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr std::streamoff kPage = 4096;

class JournalFaults : public JournalTest {
 protected:
  [[nodiscard]] std::string database() const { return folder / "state/jobs.db"; }

  // Writes over the pages from the first one on, up to and without the last; -1: to the end.
  void damage(std::streamoff first, std::streamoff last) const {
    const auto size = static_cast<std::streamoff>(fs::file_size(database()));
    std::fstream file(database(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(first * kPage);
    const std::streamoff end = last < 0 ? size : std::min(size, last * kPage);
    ASSERT_GT(end, first * kPage);
    const std::string noise(static_cast<size_t>(end - first * kPage), '\x5A');
    file.write(noise.data(), static_cast<std::streamsize>(noise.size()));
  }

  [[nodiscard]] mode_t mode_of(const std::string& name) const {
    struct stat info{};
    EXPECT_EQ(::stat((folder / name).c_str(), &info), 0) << name;
    return info.st_mode & 07777U;
  }

  [[nodiscard]] size_t jobs_of(const std::string& owner) const {
    return store->list(owner, 0, 1000)->size();
  }
};

TEST_F(JournalFaults, NobodyElseMayLook) {
  open();
  const std::string id = add();
  EXPECT_EQ(mode_of("state"), 0700U);
  EXPECT_EQ(mode_of("state/uploads"), 0700U);
  for (const std::string& name : std::vector<std::string>{
           "jobs.db", "jobs.db-wal", "lock", "uploads/" + id, "uploads/" + id + ".json"}) {
    EXPECT_EQ(mode_of("state/" + name), 0600U) << name;
  }
}

TEST_F(JournalFaults, ASecondServerIsRefused) {
  open();
  const auto second = open_journal(options());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::Busy);
  EXPECT_THAT(second.error().message, HasSubstr("--state-folder"));
  const std::string id = add();
  EXPECT_EQ(state_of(id), JobState::Queued) << "the first goes on";
}

TEST_F(JournalFaults, AFolderThatIsNoneIsSaid) {
  mynah::test::write_file(folder / "state", "a file");
  const auto refused = open_journal(options());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Environment);
}

TEST_F(JournalFaults, AJournalOfANewerMynahIsLeftAlone) {
  open();
  store.reset();
  std::fstream file(database(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(63);  // the last byte of user_version (sqlite.org/fileformat2.html)
  file.put('\x63');
  file.close();
  const auto refused = open_journal(options());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("newer mynah"));
}

TEST_F(JournalFaults, ADatabaseThatIsFullAcknowledgesNothing) {
  JournalOptions small = options();
  small.most_bytes = 20 * kPage;
  open(std::move(small));
  std::vector<std::string> kept;
  Error error;
  for (int i = 0; i < 1000 && error.message.empty(); ++i) {
    const auto job =
        store->add({.owner = "ann", .parameters = std::string(2000, 'p')}, recording("sound"));
    if (job) {
      kept.push_back(job->id);
    } else {
      error = job.error();
    }
  }
  EXPECT_EQ(error.code, ErrorCode::Environment);
  EXPECT_THAT(error.message, HasSubstr("no room"));
  ASSERT_GT(kept.size(), 5U);
  EXPECT_EQ(jobs_of("ann"), kept.size());
  size_t files = 0;
  for ([[maybe_unused]] const auto& file : fs::directory_iterator(folder / "state/uploads")) {
    ++files;
  }
  EXPECT_EQ(files, 2 * kept.size()) << "what was not acknowledged leaves no file";
  // A job whose end cannot be written down has not ended; it does once there is room.
  const TakenJob taken = take();
  const auto ended = store->finish(
      taken.job, {.renditions = {{.format = "srt", .text = std::string(200'000, 't')}}});
  ASSERT_FALSE(ended);
  EXPECT_EQ(state_of(taken.job.id), JobState::Running);
  EXPECT_TRUE(has_upload(taken.job.id));
  open();
  EXPECT_EQ(jobs_of("ann"), kept.size());
  finish(take().job, "heard");
}

// In a process of its own: the limit cannot be taken back.
TEST_F(JournalFaults, AFileThatMayNotGrowAcknowledgesNothing) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    auto opened = open_journal(options());
    const InputFile sent = recording(std::string(100'000, 's'));
    const rlimit limit{.rlim_cur = 50'000, .rlim_max = 50'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto job = (*opened)->add({.owner = "ann"}, sent);
    ::_exit(!job && job.error().code == ErrorCode::Environment &&
                    (*opened)->list("ann", 0, 10)->empty()
                ? 0
                : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  open();
  EXPECT_EQ(jobs_of("ann"), 0U);
  EXPECT_TRUE(fs::is_empty(folder / "state/uploads"));
}

TEST_F(JournalFaults, AReadOnlyDatabaseAcknowledgesNothing) {
  open();
  // Rights say nothing to root: a folder in its place is written to by nobody.
  fs::remove_all(folder / "state/uploads");
  mynah::test::write_file(folder / "state/uploads", "");
  const auto job = store->add({.owner = "ann"}, recording("sound"));
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().code, ErrorCode::Environment);
  EXPECT_EQ(jobs_of("ann"), 0U);
}

TEST_F(JournalFaults, ADatabaseThatIsNoneIsMovedAsideAndRecordingsAreHeard) {
  open();
  const std::string waiting = add();
  const std::string done = add();
  finish(take().job, "heard");  // the first that came
  const bool first_done = state_of(waiting) == JobState::Done;
  store.reset();
  fs::remove(folder / "state/jobs.db-wal");
  mynah::test::write_file(database(), std::string(8 * kPage, 'x'));
  open();
  ASSERT_EQ(told.size(), 2U);
  EXPECT_THAT(told[0], HasSubstr("was damaged"));
  EXPECT_THAT(told[0], HasSubstr("0 jobs could be read"));
  EXPECT_THAT(told[0], HasSubstr("jobs.db.damaged-1"));
  EXPECT_THAT(told[1], HasSubstr("1 recordings were kept"));
  EXPECT_TRUE(folder.has("state/jobs.db.damaged-1"));
  EXPECT_EQ(state_of(first_done ? done : waiting), JobState::Queued);
  EXPECT_EQ(take().recording.size_bytes, 12);
}

TEST_F(JournalFaults, OfADamagedPageWhatCanBeReadIsKept) {
  constexpr int kJobs = 60;
  open();
  std::vector<std::string> ids;
  ids.reserve(kJobs);
  for (int i = 0; i < kJobs; ++i) {
    ids.push_back(add());
  }
  for (int i = 0; i < kJobs / 2; ++i) {
    finish(take().job, "text of " + std::string(3000, 't'));
  }
  store.reset();  // the log of changes goes into the database
  const auto pages = static_cast<std::streamoff>(fs::file_size(database())) / kPage;
  ASSERT_GT(pages, 40);
  damage(pages / 2, pages / 2 + 1);
  open();
  ASSERT_FALSE(told.empty());
  EXPECT_THAT(told[0], HasSubstr("was damaged"));
  // Nobody is silently gone: what waited still waits, what was done is there or was told of.
  size_t waiting = 0;
  size_t ended = 0;
  for (const std::string& id : ids) {
    const auto job = store->find("ann", id);
    waiting += job && job->state == JobState::Queued ? 1 : 0;
    ended += job && has_ended(job->state) ? 1 : 0;
  }
  EXPECT_EQ(waiting, kJobs / 2);
  EXPECT_GT(ended, kJobs / 4);
}

TEST_F(JournalFaults, ATextThatWasDamagedIsNotTold) {
  open();
  add();
  const TakenJob taken = take();
  const std::string text(200, 'q');
  finish(taken.job, text);
  store.reset();
  // A page that SQLite takes for whole.
  std::string bytes = mynah::test::read_file(database());
  const size_t at = bytes.find("1 " + text);
  ASSERT_NE(at, std::string::npos);
  bytes[at + 100] = 'r';
  mynah::test::write_file(database(), bytes);
  open();
  const auto result = store->result("ann", taken.job.id, "srt");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("damaged"));
}

TEST_F(JournalFaults, ARequestThatWasDamagedIsReadFromBesideItsRecording) {
  open();
  const auto job = store->add({.owner = "ann", .parameters = R"({"prompt":"Schermerhorn"})"},
                              recording("sound"));
  ASSERT_TRUE(job);
  store.reset();
  std::string bytes = mynah::test::read_file(database());
  const size_t at = bytes.find("Schermerhorn");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 's';
  mynah::test::write_file(database(), bytes);
  open();
  EXPECT_THAT(told, ElementsAre(HasSubstr("1 recordings were kept")));
  const TakenJob taken = take();
  EXPECT_EQ(taken.job.id, job->id);
  EXPECT_EQ(taken.job.request.parameters, R"({"prompt":"Schermerhorn"})");
}

TEST_F(JournalFaults, AnUploadThatWasNotKeptWholeGoes) {
  open();
  store.reset();
  mynah::test::write_file(folder / "state/uploads/job_1", "half a recor");
  mynah::test::write_file(folder / "state/uploads/job_2.json", R"({"owner":"ann")");
  mynah::test::write_file(folder / "state/uploads/job_3.json.7-0.partial", "{");
  open();
  EXPECT_TRUE(fs::is_empty(folder / "state/uploads"));
  EXPECT_EQ(jobs_of("ann"), 0U);
}

TEST_F(JournalFaults, AJobWhoseRecordingIsGoneFails) {
  open();
  const std::string id = add();
  fs::remove(folder / ("state/uploads/" + id));
  const std::string other = add();
  EXPECT_EQ(take().job.id, other);
  EXPECT_EQ(state_of(id), JobState::Failed);
}

}  // namespace
}  // namespace mynah::jobs::test
