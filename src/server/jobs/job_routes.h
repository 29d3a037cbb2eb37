// Requests about jobs.
#pragma once

#include <vector>

#include "server/http/route.h"
#include "server/jobs/job_service.h"

namespace mynah::server {

// /v1/jobs and what is below it. `jobs` must outlive the routes.
[[nodiscard]] std::vector<Route> job_routes(JobService& jobs);

// Those of transcriptions and translations, which are jobs where the query says async=1.
[[nodiscard]] std::vector<Route> or_as_jobs(JobService& jobs, std::vector<Route> routes);

}  // namespace mynah::server
