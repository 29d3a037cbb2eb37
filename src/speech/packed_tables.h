// Tables that English is read by, kept between runs in the cache of packed files.
#pragma once

#include <string>

#include "text/phonemes/phonemizer.h"

namespace mynah {

// Each file's table is made once and mapped from then on; of a file that changed, and where the
// cache cannot be written, it is made anew. `cache_folder`: the store's; "": nothing is kept.
[[nodiscard]] TableSource packed_tables(const std::string& cache_folder);

}  // namespace mynah
