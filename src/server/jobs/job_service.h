// JobService: long work that a client leaves here and comes back for.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "jobs/job_store.h"
#include "server/jobs/job_runner.h"
#include "server/jobs/webhook_rule.h"
#include "server/jobs/webhook_sender.h"
#include "server/models/service.h"

namespace mynah::server {

struct JobOptions {
  std::string folder;  // where jobs are kept; "": nowhere, and there are none
  int at_once = 2;
  int most_attempts = 3;  // that may begin and end with the process
  std::chrono::milliseconds keep_results = std::chrono::days(7);
  std::vector<std::string> webhook_allow;  // private addresses, ranges, hosts
  std::string webhook_secret_file;         // "": in the folder
  HttpOptions webhook_http;
};

// Thread-safe.
class JobService {
 public:
  // Takes up what the process before left. Busy where another has the folder; where it cannot be
  // used at all, there are no jobs, and `tell` is told why. `service` must outlive it.
  static Result<std::unique_ptr<JobService>> create(const JobOptions& options, Service& service,
                                                    const std::string& media_program,
                                                    std::function<void(const std::string&)> tell);

  ~JobService();
  JobService(const JobService&) = delete;
  JobService& operator=(const JobService&) = delete;

  // Where jobs are kept. Environment, with the reason, where there are none.
  [[nodiscard]] Result<jobs::JobStore*> store() const;

  // What is computed for the job is let go.
  void let_go(const std::string& id);

  // The models that hear, and mynah-media.
  [[nodiscard]] Service& service() const { return service_; }

  [[nodiscard]] const std::string& media_program() const { return media_program_; }

  // What the ends of that owner's jobs are signed with, as "whsec_BASE64"; where there are jobs.
  [[nodiscard]] std::string webhook_secret(const std::string& owner) const;

  // Who may be told of a job's end.
  [[nodiscard]] const WebhookRule& webhook_rule() const { return rule_; }

  // The server ends: what is being heard is put back, nobody watches any more. Waits for nothing.
  void stop();

  [[nodiscard]] bool is_stopping() const { return stopping_.stop_requested(); }

 private:
  JobService(const JobOptions& options, Service& service, std::string media_program);
  void keep_house(const std::stop_token& end);
  void tell_counts(Exposition& to) const;

  Service& service_;
  std::string media_program_;
  std::unique_ptr<jobs::JobStore> store_;  // null: there are no jobs
  std::string reason_;
  std::string webhook_key_;
  WebhookRule rule_;
  std::stop_source stopping_;
  std::function<void(const std::string&)> tell_;
  std::unique_ptr<WebhookSender> sender_;
  std::unique_ptr<JobRunner> runner_;
  std::jthread housekeeper_;  // the first to go
};

}  // namespace mynah::server
