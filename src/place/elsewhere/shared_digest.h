// What two mynahs know a model by: the bytes of its files, whatever it is called.
#pragma once

#include <string>

#include "base/result.h"
#include "place/terms/workload.h"

namespace mynah::place {

// model_digest() of its file; of a voice the SHA-256 over that of its network, its configuration
// and each of its voices with its name. Lower-case hexadecimal.
[[nodiscard]] Result<std::string> shared_digest(const ModelFile& file,
                                                const std::string& cache_folder);

}  // namespace mynah::place
