// WebhookSender: tells of the ends of jobs, as Standard Webhooks has it: signed, and again until it
// arrived.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "jobs/job_store.h"
#include "server/jobs/webhook_rule.h"
#include "store/http.h"

namespace mynah::server {

struct WebhookOptions {
  std::string key;  // that signatures are made with
  WebhookRule rule;
  HttpOptions http;
};

// "v1,BASE64": the signature of a message.
[[nodiscard]] std::string webhook_signature(const std::string& key, const std::string& id,
                                            int64_t timestamp, const std::string& body);

// What an owner's messages are signed with besides the key itself: nobody who knows it can sign
// another owner's. The key itself where no key is wanted of anybody (owner "").
[[nodiscard]] std::string owner_webhook_key(const std::string& key, const std::string& owner);

// A key as libraries take it: "whsec_BASE64".
[[nodiscard]] std::string webhook_secret(const std::string& key);

// The key of the file, "whsec_BASE64", that is made where there is none. InvalidInput for other
// text.
Result<std::string> webhook_key(const std::string& path);

class WebhookSender {
 public:
  // `store` must outlive it.
  WebhookSender(jobs::JobStore& store, WebhookOptions options,
                std::function<void(const std::string&)> tell);

  // Takes no more; waits for nothing.
  void stop();

 private:
  void serve(const std::stop_token& end);
  void tell_of(const jobs::Job& job, const std::stop_token& end);
  Status send(const jobs::Job& job, const std::stop_token& end) const;

  jobs::JobStore& store_;
  WebhookOptions options_;
  std::function<void(const std::string&)> tell_;
  std::vector<std::jthread> threads_;  // the first to go
};

}  // namespace mynah::server
