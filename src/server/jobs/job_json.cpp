#include "server/jobs/job_json.h"

#include "server/http/errors.h"

namespace mynah::server {
namespace {

// Whole seconds since 1970; null: not yet.
nlohmann::ordered_json unix_seconds(int64_t milliseconds) {
  return milliseconds == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(milliseconds / 1000);
}

}  // namespace

nlohmann::ordered_json job_json(const jobs::Job& job, WithText text) {
  using Json = nlohmann::ordered_json;
  Json json = {{"id", job.id},
               {"object", "job"},
               {"state", jobs::name(job.state)},
               {"created_at", unix_seconds(job.created_ms)},
               {"started_at", unix_seconds(job.started_ms)},
               {"ended_at", unix_seconds(job.ended_ms)},
               {"expires_at", unix_seconds(job.expires_ms)},
               {"attempts", job.attempts}};
  Json progress = {{"heard_s", job.progress.heard_s}, {"length_s", nullptr}};
  if (job.progress.length_s) {
    progress["length_s"] = *job.progress.length_s;
  }
  json["progress"] = std::move(progress);
  if (!job.model.empty()) {
    json["model"] = job.model;
    json["device"] = job.device;
  }
  json["error"] = nullptr;
  if (job.error) {
    json["error"] = Json::parse(openai_error_text(*job.error))["error"];
  }
  if (!job.request.webhook.empty()) {
    json["webhook"] = {{"state", jobs::name(job.webhook_state)}, {"tries", job.webhook_tries}};
    if (!job.webhook_error.empty()) {
      json["webhook"]["error"] = job.webhook_error;
    }
  }
  if (job.state == jobs::JobState::Done) {
    json["result"] = "/v1/jobs/" + job.id + "/result";
  }
  if (text == WithText::Yes) {
    json["text"] = job.progress.text;
  }
  return json;
}

}  // namespace mynah::server
