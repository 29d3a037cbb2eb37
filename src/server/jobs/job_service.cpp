#include "server/jobs/job_service.h"

#include <utility>

#include "jobs/journal.h"
#include "server/jobs/pause.h"

namespace mynah::server {
namespace {

constexpr std::chrono::minutes kExpiryPause{10};

}  // namespace

JobService::JobService(const JobOptions& options, Service& service, std::string media_program)
    : service_(service), media_program_(std::move(media_program)), rule_(options.webhook_allow) {}

Result<std::unique_ptr<JobService>> JobService::create(
    const JobOptions& options, Service& service, const std::string& media_program,
    std::function<void(const std::string&)> tell) {
  std::unique_ptr<JobService> jobs(new JobService(options, service, media_program));
  if (options.folder.empty()) {
    jobs->reason_ = "this server keeps no jobs: it was started without a state folder";
    return jobs;
  }
  auto store = jobs::open_journal({.folder = options.folder,
                                   .keep_results = options.keep_results,
                                   .most_attempts = options.most_attempts,
                                   .tell = tell});
  if (!store && store.error().code == ErrorCode::Busy) {
    return std::unexpected(store.error());
  }
  const bool own_secret = options.webhook_secret_file.empty();
  const Result<std::string> key = store
                                      ? webhook_key(own_secret ? options.folder + "/webhook-secret"
                                                               : options.webhook_secret_file)
                                      : std::unexpected(store.error());
  if (store && !key && !own_secret) {
    return std::unexpected(key.error());
  }
  if (!key) {
    tell("no jobs are taken, all else is served: " + key.error().message);
    jobs->reason_ = key.error().message;
    return jobs;
  }
  jobs->store_ = *std::move(store);
  jobs->tell_ = tell;
  jobs->webhook_key_ = *key;
  jobs->sender_ = std::make_unique<WebhookSender>(
      *jobs->store_, WebhookOptions{.key = *key, .rule = jobs->rule_, .http = options.webhook_http},
      tell);
  jobs->runner_ = std::make_unique<JobRunner>(
      *jobs->store_, service, media_program, static_cast<size_t>(options.at_once), std::move(tell));
  service.metrics().watch([jobs = jobs.get()](Exposition& to) { jobs->tell_counts(to); });
  jobs->housekeeper_ =
      std::jthread([jobs = jobs.get()](const std::stop_token& end) { jobs->keep_house(end); });
  return jobs;
}

JobService::~JobService() {
  stop();
}

Result<jobs::JobStore*> JobService::store() const {
  if (store_ == nullptr) {
    return fail(ErrorCode::Environment, reason_);
  }
  return store_.get();
}

std::string JobService::webhook_secret(const std::string& owner) const {
  return server::webhook_secret(owner_webhook_key(webhook_key_, owner));
}

void JobService::tell_counts(Exposition& to) const {
  const auto counts = store_->counts();
  if (!counts) {
    return;  // a journal that cannot be read says so wherever a job is asked for
  }
  const auto tell_states = [&to](const std::map<jobs::JobState, int64_t>& by_state,
                                 const char* label, bool ended) {
    for (const jobs::JobState state : jobs::kJobStates) {
      if (!ended || jobs::has_ended(state)) {
        const auto found = by_state.find(state);
        to.sample(found == by_state.end() ? 0 : static_cast<double>(found->second),
                  {{label, std::string(name(state))}});
      }
    }
  };
  to.gauge("mynah_jobs", "Jobs that are kept, by their state.");
  tell_states(counts->kept, "state", false);
  to.counter("mynah_jobs_ended_total", "Jobs that came to an end, by their result.");
  tell_states(counts->ended, "result", true);
}

void JobService::let_go(const std::string& id) {
  if (runner_ != nullptr) {
    runner_->let_go(id);
  }
}

void JobService::stop() {
  stopping_.request_stop();
  if (store_ != nullptr) {
    runner_->stop();
    sender_->stop();
    store_->close();
  }
}

void JobService::keep_house(const std::stop_token& end) {
  do {
    if (const auto expired = store_->expire(); !expired) {
      tell_("old results cannot be removed: " + expired.error().message);
    }
  } while (pause_for(kExpiryPause, end));
}

}  // namespace mynah::server
