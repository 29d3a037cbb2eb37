// OutputRecords: which recording each output file was made of, remembered from run to run.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"

namespace mynah::cli {

// One line of JSON an output, the last one counts, in a file that several processes may append to.
// Where the file cannot be read or written nothing is known, and nothing else is different.
class OutputRecords {
 public:
  // Nothing is known, nothing is kept.
  OutputRecords() = default;

  // What is known in `path`; it need not exist. Lines that are not understood are passed over.
  static OutputRecords load(const std::string& path);

  // The recording that a file was made of, as identity() has it; none: not known, or the file is
  // gone.
  [[nodiscard]] std::optional<std::string> recording_of(const std::string& output) const;

  // Remembers, in the file too.
  void add(const std::string& output, const std::string& recording);

  // A file by its whole path, however it was named; standard input is "-".
  [[nodiscard]] static std::string identity(const std::string& file);

 private:
  std::string path_;
  std::map<std::string, std::string> recordings_;  // by output
};

}  // namespace mynah::cli
