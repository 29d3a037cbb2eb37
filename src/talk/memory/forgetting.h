// Forgetting: items leave the memory's files, to the last byte.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "store/sqlite.h"

namespace mynah::talk {

class Forgetting {
 public:
  // The database must outlive it.
  Forgetting(const Database& database, std::string folder)
      : database_(database), folder_(std::move(folder)) {}

  // Marks items as gone, with what was made of them and what they were made of: from then on they
  // are, whatever happens. How many items that is.
  Result<int64_t> mark(std::span<const int64_t> ids) const;

  // Finishes what was marked, by this process or by one that ended; nothing where there is nothing.
  Status finish() const;

 private:
  Status remove_rows() const;
  // Nothing of what was removed stays in the log, in pages that are free, or in an index.
  Status tidy() const;

  const Database& database_;
  std::string folder_;
};

}  // namespace mynah::talk
