#include "cli/serve/job_fields.h"

#include <fmt/format.h>

#include "engine/open_placer.h"

namespace mynah::cli {
namespace {

constexpr int kMostAtOnce = 64;
constexpr int kMostAttempts = 1'000'000;

Status check_number(const char* name, int found, int most) {
  return found >= 1 && found <= most
             ? Status()
             : fail(ErrorCode::Usage,
                    fmt::format("{}: wanted a number from 1 to {}, found {}", name, most, found));
}

}  // namespace

void JobFields::declare(Fields& fields) {
  fields.section("Jobs");
  fields
      .option(
          "state-folder", "FOLDER", options_.folder,
          "Where jobs, their recordings and their texts are kept; empty: mynah/serve among this "
          "user's state ($XDG_STATE_HOME).")
      .completes(Complete::Folders);
  fields.option("jobs", "N", options_.at_once, "How many jobs are heard at once.");
  fields.option("job-attempts", "N", options_.most_attempts,
                "How often a job may be begun that ended with the server, as when it was killed; "
                "after that it has failed.");
  fields.option("keep-results", "TIME", keep_results_,
                "How long a job's text is kept: 30m, 12h, 7d.");
  fields.names("webhook-allow", "ADDRESS", options_.webhook_allow,
               "Private addresses, ranges (10.0.0.0/8) and hosts that may be told of a job's end.");
  fields
      .option("webhook-secret-file", "FILE", options_.webhook_secret_file,
              "The secret that webhooks are signed with, as whsec_BASE64; empty: one in the state "
              "folder, made at the first start.")
      .completes(Complete::Files);
}

Result<server::JobOptions> JobFields::read(const Environment& environment) const {
  MYNAH_TRY_STATUS(check_number("--jobs", options_.at_once, kMostAtOnce));
  MYNAH_TRY_STATUS(check_number("--job-attempts", options_.most_attempts, kMostAttempts));
  for (const std::string& one : options_.webhook_allow) {
    if (const Status allowed = server::WebhookRule::check_allowed(one); !allowed) {
      return fail(ErrorCode::Usage, "--webhook-allow: " + allowed.error().message);
    }
  }
  const auto keep = engine::parse_duration(keep_results_);
  if (!keep || keep->count() <= 0) {
    return fail(ErrorCode::Usage,
                fmt::format("--keep-results: wanted a time such as 30m, 12h or 7d, found '{}'",
                            keep_results_));
  }
  server::JobOptions options = options_;
  options.keep_results = *keep;
  if (options.folder.empty()) {
    options.folder = environment.state_folder() + "/serve";
  }
  return options;
}

}  // namespace mynah::cli
