// BookParts: what of a book was spoken already, kept in a folder clause by clause, so that a
// process that is killed goes on where it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "speech/synthesizer.h"

namespace mynah {

// Where a clause is in its chapter.
struct BookClause {
  size_t begin = 0;  // bytes of the chapter's text
  size_t end = 0;
  uint64_t start = 0;  // samples
  uint64_t stop = 0;
};

// A chapter that is done.
struct BookChapter {
  uint64_t samples = 0;
  std::vector<BookClause> clauses;
  std::string path;  // a FLAC file of 16 bits
};

// Where to go on.
struct BookPlace {
  size_t chapter = 0;
  size_t text_bytes = 0;   // of the chapter's text, spoken
  bool begun = false;      // something of the chapter was
  bool paragraph = false;  // what was spoken last ended one
};

// The folder holds a journal, the samples of the chapter in work (16 bits, as they come) and each
// chapter that is done. Whole sentences count: what was spoken of one when the process ended is
// spoken again and not kept twice.
class BookParts {
 public:
  // Opens the folder, or makes it. What it holds counts where it was made of the same `key` (text,
  // voice, options) and can be read; else it is begun anew. Io where it cannot be written; Busy
  // where another process writes there.
  static Result<BookParts> open(const std::string& folder, const std::string& key, int rate_hz);

  [[nodiscard]] BookPlace place() const;

  // Of the chapter in work.
  [[nodiscard]] uint64_t samples_in_work() const { return samples_; }

  // Whether open() found another book half spoken in the folder, and forgot it.
  [[nodiscard]] bool replaced() const { return replaced_; }

  [[nodiscard]] const std::vector<BookChapter>& chapters() const { return chapters_; }

  // Clauses of the chapter in work, in order; their places count from `text_bytes` of place() as it
  // was when the chapter was taken up. On disk when it returns, where the clause ends a sentence.
  Status add(const SpokenClause& clause, size_t text_offset);

  // The chapter in work is done.
  Status finish_chapter();

  // Everything was made of it: the folder goes.
  Status remove();

 private:
  BookParts(std::string folder, int rate_hz) : folder_(std::move(folder)), rate_hz_(rate_hz) {}

  Status lock();
  Status begin(const std::string& key);
  bool read_journal(const std::string& key);
  bool read_line(const std::string& line);
  Status take_up();
  Status note(const std::string& line, bool sync);

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

  [[nodiscard]] std::string chapter_path(size_t chapter) const;

  std::string folder_;
  int rate_hz_;
  UniqueFd lock_;
  UniqueFd journal_;
  UniqueFd samples_file_;
  std::vector<BookChapter> chapters_;
  // Of the chapter in work: up to the last whole sentence, and what came since.
  std::vector<BookClause> clauses_;
  uint64_t samples_ = 0;
  size_t whole_clauses_ = 0;
  uint64_t whole_samples_ = 0;
  size_t text_bytes_ = 0;
  bool paragraph_ = false;
  bool replaced_ = false;
};

}  // namespace mynah
