#include "speech/book_parts.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "audio/pcm.h"
#include "audio/sound_writer.h"
#include "base/atomic_file.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJournal = "journal";
constexpr const char* kSamples = "samples.pcm";
constexpr size_t kBlockSamples = 1 << 16;

std::unexpected<Error> fail_errno(const std::string& what) {
  return fail(ErrorCode::Io, what + ": " + std::strerror(errno));
}

Status write_all(int fd, std::span<const std::byte> bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote < 0) {
      return fail_errno("cannot write " + name);
    }
    bytes = bytes.subspan(static_cast<size_t>(wrote));
  }
  return {};
}

}  // namespace

std::string BookParts::chapter_path(size_t chapter) const {
  return path(fmt::format("chapter-{:04}.flac", chapter + 1));
}

Result<BookParts> BookParts::open(const std::string& folder, const std::string& key, int rate_hz) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return fail(ErrorCode::Io,
                fmt::format("cannot make the folder {}: {}", folder, error.message()));
  }
  BookParts parts(folder, rate_hz);
  MYNAH_TRY_STATUS(parts.lock());
  if (!parts.read_journal(key)) {
    parts.replaced_ = fs::exists(parts.path(kJournal), error);
    MYNAH_TRY_STATUS(parts.begin(key));
  }
  MYNAH_TRY_STATUS(parts.take_up());
  return parts;
}

Status BookParts::lock() {
  lock_ = UniqueFd(::open(path("lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock_) {
    return fail_errno("cannot write into " + folder_);
  }
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    return fail(ErrorCode::Busy, folder_ + ": another mynah speaks this book at the moment");
  }
  return {};
}

// Forgets what the folder holds.
Status BookParts::begin(const std::string& key) {
  chapters_.clear();
  clauses_.clear();
  samples_ = whole_samples_ = 0;
  whole_clauses_ = text_bytes_ = 0;
  paragraph_ = false;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename();
    if (name == kJournal || name == kSamples || name.starts_with("chapter-")) {
      fs::remove(entry.path(), error);
    }
  }
  MYNAH_TRY(AtomicFile journal, AtomicFile::create(path(kJournal)));
  MYNAH_TRY_STATUS(journal.write(fmt::format("mynah-book 1 {} {}\n", rate_hz_, key)));
  return journal.commit();
}

bool BookParts::read_journal(const std::string& key) {
  std::ifstream file(path(kJournal), std::ios::binary);
  std::string line;
  if (!std::getline(file, line) || line != fmt::format("mynah-book 1 {} {}", rate_hz_, key)) {
    return false;
  }
  while (std::getline(file, line)) {
    // A line without its end was being written when the process ended.
    if (file.eof()) {
      break;
    }
    if (!read_line(line)) {
      return false;
    }
  }
  return std::ranges::all_of(chapters_, [](const BookChapter& chapter) {
    std::error_code error;
    return fs::is_regular_file(chapter.path, error);
  });
}

// "clause BEGIN END START STOP SAMPLES ENDS": ENDS is 0, 1 for a sentence's end, 2 for a
// paragraph's; "chapter SAMPLES".
bool BookParts::read_line(const std::string& line) {
  std::istringstream words(line);
  std::string kind;
  words >> kind;
  if (kind == "chapter") {
    uint64_t samples = 0;
    if (!(words >> samples) || samples != whole_samples_) {
      return false;
    }
    clauses_.resize(whole_clauses_);
    chapters_.push_back({.samples = samples,
                         .clauses = std::exchange(clauses_, {}),
                         .path = chapter_path(chapters_.size())});
    samples_ = whole_samples_ = 0;
    whole_clauses_ = text_bytes_ = 0;
    paragraph_ = false;
    return true;
  }
  BookClause clause;
  uint64_t samples = 0;
  int ends = 0;
  if (kind != "clause" ||
      !(words >> clause.begin >> clause.end >> clause.start >> clause.stop >> samples >> ends) ||
      samples < samples_ || clause.end < clause.begin) {
    return false;
  }
  clauses_.push_back(clause);
  samples_ = samples;
  if (ends > 0) {
    whole_clauses_ = clauses_.size();
    whole_samples_ = samples;
    text_bytes_ = clause.end;
    paragraph_ = ends > 1;
  }
  return true;
}

// Goes back to the last whole sentence, in the journal by a word about it and in the samples.
Status BookParts::take_up() {
  clauses_.resize(whole_clauses_);
  samples_ = whole_samples_;
  journal_ = UniqueFd(::open(path(kJournal).c_str(), O_WRONLY | O_APPEND | O_CLOEXEC, 0666));
  samples_file_ =
      UniqueFd(::open(path(kSamples).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!journal_ || !samples_file_) {
    return fail_errno("cannot write into " + folder_);
  }
  std::error_code error;
  const uint64_t there = fs::file_size(path(kSamples), error) / sizeof(int16_t);
  if (error || there < samples_) {
    // Samples that the journal knows are gone: the chapter is spoken from its begin.
    clauses_.clear();
    samples_ = whole_samples_ = 0;
    whole_clauses_ = text_bytes_ = 0;
    paragraph_ = false;
  }
  if (::ftruncate(samples_file_.get(), static_cast<off_t>(samples_ * sizeof(int16_t))) != 0) {
    return fail_errno("cannot write " + path(kSamples));
  }
  // The journal is written anew with what counts: a line that was cut off must not run into the
  // next one.
  std::ifstream file(path(kJournal), std::ios::binary);
  std::string head;
  std::getline(file, head);
  std::string text = head + "\n";
  const auto add_clauses = [&text](const std::vector<BookClause>& clauses, uint64_t samples) {
    for (size_t i = 0; i < clauses.size(); ++i) {
      const BookClause& clause = clauses[i];
      const bool last = i + 1 == clauses.size();
      text += fmt::format("clause {} {} {} {} {} {}\n", clause.begin, clause.end, clause.start,
                          clause.stop, last ? samples : clause.stop, last ? 1 : 0);
    }
  };
  for (const BookChapter& chapter : chapters_) {
    add_clauses(chapter.clauses, chapter.samples);
    text += fmt::format("chapter {}\n", chapter.samples);
  }
  add_clauses(clauses_, samples_);
  if (paragraph_ && text.ends_with(" 1\n")) {
    text.replace(text.size() - 2, 1, "2");
  }
  MYNAH_TRY(AtomicFile journal, AtomicFile::create(path(kJournal)));
  MYNAH_TRY_STATUS(journal.write(text));
  MYNAH_TRY_STATUS(journal.commit());
  journal_ = UniqueFd(::open(path(kJournal).c_str(), O_WRONLY | O_APPEND | O_CLOEXEC, 0666));
  return journal_ ? Status{} : fail_errno("cannot write into " + folder_);
}

BookPlace BookParts::place() const {
  return {.chapter = chapters_.size(),
          .text_bytes = text_bytes_,
          .begun = !clauses_.empty(),
          .paragraph = paragraph_};
}

Status BookParts::note(const std::string& line, bool sync) {
  MYNAH_TRY_STATUS(write_all(journal_.get(), std::as_bytes(std::span(line)), path(kJournal)));
  if (sync && ::fdatasync(journal_.get()) != 0) {
    return fail_errno("cannot sync " + path(kJournal));
  }
  return {};
}

Status BookParts::add(const SpokenClause& clause, size_t text_offset) {
  std::vector<int16_t> block(clause.samples.size());
  std::ranges::transform(clause.samples, block.begin(), to_s16);
  MYNAH_TRY_STATUS(write_all(samples_file_.get(), std::as_bytes(std::span(block)), path(kSamples)));
  if (clause.ends_sentence && ::fdatasync(samples_file_.get()) != 0) {
    return fail_errno("cannot sync " + path(kSamples));
  }
  const uint64_t silence =
      clause.samples.size() -
      static_cast<uint64_t>(std::llround((clause.end_s - clause.start_s) * rate_hz_));
  const BookClause kept{.begin = clause.begin + text_offset,
                        .end = clause.end + text_offset,
                        .start = samples_ + silence,
                        .stop = samples_ + clause.samples.size()};
  samples_ = kept.stop;
  clauses_.push_back(kept);
  if (clause.ends_sentence) {
    whole_clauses_ = clauses_.size();
    whole_samples_ = samples_;
    text_bytes_ = kept.end;
    paragraph_ = clause.ends_paragraph;
  }
  const int ends = clause.ends_paragraph ? 2 : clause.ends_sentence ? 1 : 0;
  return note(fmt::format("clause {} {} {} {} {} {}\n", kept.begin, kept.end, kept.start, kept.stop,
                          samples_, ends),
              clause.ends_sentence);
}

Status BookParts::finish_chapter() {
  const std::string chapter = chapter_path(chapters_.size());
  MYNAH_TRY(AtomicFile file, AtomicFile::create(chapter));
  FileSink sink(std::move(file));
  MYNAH_TRY(const auto writer, make_sound_writer(sink, {.format = SoundFormat::Flac,
                                                        .rate_hz = rate_hz_,
                                                        .file_rate_hz = {},
                                                        .media_program = {}}));
  std::ifstream samples(path(kSamples), std::ios::binary);
  std::vector<int16_t> block(kBlockSamples);
  std::vector<float> floats;
  for (uint64_t left = whole_samples_; left > 0;) {
    const auto count = static_cast<size_t>(std::min<uint64_t>(left, kBlockSamples));
    if (!samples.read(reinterpret_cast<char*>(block.data()),
                      static_cast<std::streamsize>(count * sizeof(int16_t)))) {
      return fail(ErrorCode::Io, "cannot read " + path(kSamples));
    }
    floats.resize(count);
    std::transform(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(count),
                   floats.begin(), [](int16_t x) { return static_cast<float>(x) / 32768.0F; });
    MYNAH_TRY_STATUS(writer->write(floats));
    left -= count;
  }
  MYNAH_TRY_STATUS(writer->finish());
  MYNAH_TRY_STATUS(sink.commit());
  MYNAH_TRY_STATUS(note(fmt::format("chapter {}\n", whole_samples_), true));
  clauses_.resize(whole_clauses_);
  chapters_.push_back(
      {.samples = whole_samples_, .clauses = std::exchange(clauses_, {}), .path = chapter});
  samples_ = whole_samples_ = 0;
  whole_clauses_ = text_bytes_ = 0;
  paragraph_ = false;
  if (::ftruncate(samples_file_.get(), 0) != 0) {
    return fail_errno("cannot write " + path(kSamples));
  }
  return {};
}

Status BookParts::remove() {
  std::error_code error;
  fs::remove_all(folder_, error);
  if (error) {
    return fail(ErrorCode::Io, fmt::format("cannot remove {}: {}", folder_, error.message()));
  }
  return {};
}

}  // namespace mynah
