// Uploads: recordings that wait to be heard, each a file with what is asked of it beside it: a
// journal that is lost can be written anew from them.
#pragma once

#include <string>
#include <vector>

#include "audio/input_file.h"
#include "jobs/job.h"

namespace mynah::jobs {

class Uploads {
 public:
  // Of a folder that is there.
  explicit Uploads(std::string folder) : folder_(std::move(folder)) {}

  // Keeps a recording and what is asked; both are on the disk when it returns. Environment where
  // there is no room.
  [[nodiscard]] Status keep(const Job& job, const InputFile& recording) const;

  // NotFound: it is not there.
  [[nodiscard]] Result<InputFile> open(const std::string& id) const;

  // What was asked, for a journal that knows nothing of it: id, request and when it came. NotFound
  // or InvalidInput where that was not written to its end.
  [[nodiscard]] Result<Job> read(const std::string& id) const;

  // Whatever there is of it.
  void remove(const std::string& id) const;

  // The ids of all that is there, whole or not; what was being written when the process ended is
  // removed.
  [[nodiscard]] std::vector<std::string> tidy() const;

 private:
  [[nodiscard]] std::string path_of(const std::string& id) const { return folder_ + "/" + id; }

  std::string folder_;
};

}  // namespace mynah::jobs
