// OutputRecords: what each output file was made of, remembered from run to run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"

namespace mynah::cli {

// One line of JSON an output, the last one counts, in a file that several processes may add to:
// each holds a lock on it meanwhile. A file that has become long by lines that say nothing any more
// is written anew. Where it cannot be read or written nothing is known, and nothing else is
// different. An object is used from one thread.
class OutputRecords {
 public:
  // Nothing is known, nothing is kept.
  OutputRecords() = default;

  // What is known in `path`, which need not exist: it is read when something is asked. Lines that
  // are not understood are passed over.
  explicit OutputRecords(std::string path) : path_(std::move(path)) {}

  // True where the file is known to be made of another recording than this.
  [[nodiscard]] bool is_of_another(const std::string& output, const std::string& recording) const;

  // True where the file is known to have been made of this recording with nothing in it, as nobody
  // spoke.
  [[nodiscard]] bool was_empty(const std::string& output, const std::string& recording) const;

  // True where the file is known to have been made with other options than these.
  [[nodiscard]] bool is_made_otherwise(const std::string& output, const std::string& options) const;

  // Remembers a file that was just written, in the file of records too. `options` is what was asked
  // for that shapes the text, in any words that are the same for the same.
  void add(const std::string& output, const std::string& recording,
           const std::string& options = {});

  // A file by its whole path, however it was named; standard input is "-".
  [[nodiscard]] static std::string identity(const std::string& file);

 private:
  struct Origin {
    std::string recording;
    bool empty = false;                       // nothing was written
    std::optional<std::string> options = {};  // none: an older mynah did not say
  };

  using Origins = std::map<std::string, Origin>;  // by output

  [[nodiscard]] static std::string line_of(const std::string& output, const Origin& origin);
  [[nodiscard]] static Origins read(const std::string& path);
  // Leaves out what is of no use; the caller holds the lock.
  static void shorten(const std::string& path, uint64_t size);

  // What is known of a file that is there still; null: nothing.
  [[nodiscard]] const Origin* origin_of(const std::string& output) const;

  std::string path_;
  mutable std::optional<Origins> known_;  // none: not read yet
  bool looked_at_size_ = false;
};

}  // namespace mynah::cli
