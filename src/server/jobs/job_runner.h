// JobRunner: hears the jobs of a store, some at once, behind all whom somebody waits for.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "jobs/job_store.h"
#include "server/models/service.h"

namespace mynah::server {

class JobRunner {
 public:
  // `tell`: told in a sentence what whoever runs the server should know. `store` and `service` must
  // outlive it.
  JobRunner(jobs::JobStore& store, Service& service, std::string media_program, size_t at_once,
            std::function<void(const std::string&)> tell);

  // Jobs that are being heard wait again.
  ~JobRunner();
  JobRunner(const JobRunner&) = delete;
  JobRunner& operator=(const JobRunner&) = delete;

  // Takes no more, and puts back what is being heard; waits for nothing.
  void stop();

  // The job was cancelled: nothing is computed for it any more.
  void let_go(const std::string& id);

 private:
  void serve(const std::stop_token& end);
  // Hears it, and writes down what came of it.
  void run(jobs::TakenJob taken, const std::stop_token& end);
  [[nodiscard]] Result<jobs::JobResult> hear(const jobs::TakenJob& taken,
                                             const std::stop_token& stop);
  void write_down(const jobs::Job& job, const Result<jobs::JobResult>& result,
                  const std::stop_token& end);

  jobs::JobStore& store_;
  Service& service_;
  std::string media_program_;
  std::function<void(const std::string&)> tell_;

  std::mutex mutex_;
  std::map<std::string, std::stop_source> running_;
  std::vector<std::jthread> threads_;  // the first to go
};

}  // namespace mynah::server
