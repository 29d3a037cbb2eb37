// What can still be read of a damaged journal.
#pragma once

#include <string>

#include "store/sqlite.h"

namespace mynah::jobs {

struct Salvaged {
  int jobs = 0;          // taken over
  int lost_results = 0;  // of those: done, and no text is left; they have failed
};

// Takes over what can be read of the database at `path` into one that is new.
Salvaged salvage(const std::string& path, const Database& into);

}  // namespace mynah::jobs
