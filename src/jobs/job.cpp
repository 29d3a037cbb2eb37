#include "jobs/job.h"

namespace mynah::jobs {

std::string_view name(JobState state) {
  switch (state) {
    case JobState::Queued:
      return "queued";
    case JobState::Running:
      return "running";
    case JobState::Done:
      return "done";
    case JobState::Failed:
      return "failed";
    case JobState::Cancelled:
      return "cancelled";
  }
  return "failed";
}

std::string_view name(WebhookState state) {
  switch (state) {
    case WebhookState::None:
      return "waiting";
    case WebhookState::Pending:
      return "pending";
    case WebhookState::Delivered:
      return "delivered";
    case WebhookState::GivenUp:
      return "given_up";
  }
  return "waiting";
}

}  // namespace mynah::jobs
