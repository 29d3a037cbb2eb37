// A job as clients see it.
#pragma once

#include <nlohmann/json.hpp>

#include "jobs/job.h"

namespace mynah::server {

// Whether its text is told too.
enum class WithText : uint8_t { No, Yes };

[[nodiscard]] nlohmann::ordered_json job_json(const jobs::Job& job, WithText text);

}  // namespace mynah::server
