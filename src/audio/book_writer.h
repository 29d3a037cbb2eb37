// BookWriter: an audio book in one file, M4B with chapters, by the confined program mynah-media.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/process.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace mynah {

struct BookTags {
  struct Chapter {
    std::string title;
    uint64_t begin_ms = 0;
    uint64_t end_ms = 0;
  };

  std::string title;  // "" leaves a tag out
  std::string author;
  std::vector<Chapter> chapters;
};

// The file appears under its name when it is finished.
class BookWriter {
 public:
  // `rate_hz` is one of media_writer_rates(); `program` is mynah-media, empty: beside this program.
  // Environment where it is not there; Io where the file cannot be made.
  static Result<BookWriter> create(const std::string& path, int rate_hz, const BookTags& tags,
                                   const std::string& program = {});

  Status write(std::span<const float> samples);
  Status finish();

 private:
  BookWriter(AtomicFile file, Process process, UniqueFd samples)
      : file_(std::move(file)), process_(std::move(process)), samples_(std::move(samples)) {}

  AtomicFile file_;
  Process process_;
  UniqueFd samples_;
};

}  // namespace mynah
