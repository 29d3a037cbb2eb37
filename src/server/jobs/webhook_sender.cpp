#include "server/jobs/webhook_sender.h"

#include <array>
#include <chrono>
#include <ctime>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/atomic_file.h"
#include "server/access/keys.h"
#include "server/http/json_text.h"
#include "server/jobs/job_json.h"
#include "server/jobs/pause.h"
#include "store/base64.h"
#include "store/files.h"
#include "store/sha256.h"
#include "store/url.h"

namespace mynah::server {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// Before each other try; a day in all, then it is given up.
constexpr std::array<seconds, 8> kPauses = {seconds(5),  seconds(30),  minutes(2),   minutes(10),
                                            minutes(60), minutes(180), minutes(360), minutes(720)};
constexpr std::chrono::minutes kJournalPause{1};
constexpr size_t kSenders = 2;  // so that one slow receiver does not hold up all
constexpr std::string_view kKeyPrefix = "whsec_";
constexpr size_t kLeastKeyBytes = 24;  // as Standard Webhooks has it

Result<std::string> make_key(const std::string& path) {
  MYNAH_TRY(const RandomBytes key, random_bytes());
  MYNAH_TRY(AtomicFile file, AtomicFile::create_private(path));
  std::string made(reinterpret_cast<const char*>(key.data()), key.size());
  MYNAH_TRY_STATUS(file.write(webhook_secret(made) + "\n"));
  MYNAH_TRY_STATUS(file.commit());
  return made;
}

}  // namespace

std::string webhook_signature(const std::string& key, const std::string& id, int64_t timestamp,
                              const std::string& body) {
  return "v1," + base64(hmac_sha256(key, fmt::format("{}.{}.{}", id, timestamp, body)));
}

std::string owner_webhook_key(const std::string& key, const std::string& owner) {
  if (owner.empty()) {
    return key;
  }
  const auto own = hmac_sha256(key, "webhooks of " + owner);
  return {reinterpret_cast<const char*>(own.data()), own.size()};
}

std::string webhook_secret(const std::string& key) {
  return std::string(kKeyPrefix) + base64(std::as_bytes(std::span(key)));
}

Result<std::string> webhook_key(const std::string& path) {
  constexpr uint64_t kMostBytes = 4096;
  const auto text = read_text_file(path, kMostBytes);
  if (!text && text.error().code == ErrorCode::NotFound) {
    return make_key(path);
  }
  if (!text) {
    return std::unexpected(text.error());
  }
  const std::string_view said = trimmed(*text);
  if (said.starts_with(kKeyPrefix)) {
    auto key = bytes_of_base64(said.substr(kKeyPrefix.size()));
    if (key && key->size() >= kLeastKeyBytes) {
      return key;
    }
  }
  return fail(ErrorCode::InvalidInput,
              fmt::format("{}: wanted whsec_ and at least {} bytes as base64, found other text",
                          path, kLeastKeyBytes));
}

WebhookSender::WebhookSender(jobs::JobStore& store, WebhookOptions options,
                             std::function<void(const std::string&)> tell)
    : store_(store), options_(std::move(options)), tell_(std::move(tell)) {
  for (size_t i = 0; i < kSenders; ++i) {
    threads_.emplace_back([this](const std::stop_token& end) { serve(end); });
  }
}

void WebhookSender::stop() {
  for (std::jthread& thread : threads_) {
    thread.request_stop();
  }
}

void WebhookSender::serve(const std::stop_token& end) {
  while (!end.stop_requested()) {
    const auto taken = store_.take_webhook(end);
    if (!taken) {
      tell_("no webhook can be sent: " + taken.error().message);
      static_cast<void>(pause_for(kJournalPause, end));
    } else if (*taken) {
      tell_of(**taken, end);
    }
  }
}

void WebhookSender::tell_of(const jobs::Job& job, const std::stop_token& end) {
  const Status sent = send(job, end);
  if (!sent && end.stop_requested()) {
    return;  // the next process tells it
  }
  Status written;
  if (sent) {
    written = store_.webhook_told(job);
  } else {
    const auto tries = static_cast<size_t>(job.webhook_tries);
    written = store_.webhook_failed(job, sent.error().message,
                                    tries < kPauses.size()
                                        ? std::optional<std::chrono::milliseconds>(kPauses[tries])
                                        : std::nullopt);
  }
  if (!written) {
    tell_("what came of a webhook cannot be written down: " + written.error().message);
  }
}

Status WebhookSender::send(const jobs::Job& job, const std::stop_token& end) const {
  MYNAH_TRY(const Url url, parse_url(job.request.webhook));
  const auto now = static_cast<int64_t>(std::time(nullptr));
  nlohmann::ordered_json told = {{"type", fmt::format("job.{}", jobs::name(job.state))},
                                 {"timestamp", now}};
  told["data"] = job_json(job, job.request.webhook_text ? WithText::Yes : WithText::No);
  told["data"].erase("webhook");
  HttpPost post;
  post.url = job.request.webhook;
  post.body = json_text(told);
  const std::string id = "msg_" + job.id;  // the same at every try: receivers see what they have
  // Receivers take a message where one of its signatures is right: their owner's, and the server's.
  const std::string own = owner_webhook_key(options_.key, job.request.owner);
  std::string signatures = webhook_signature(own, id, now, post.body);
  if (own != options_.key) {
    signatures += " " + webhook_signature(options_.key, id, now, post.body);
  }
  post.headers = {{"Content-Type", "application/json"},
                  {"webhook-id", id},
                  {"webhook-timestamp", std::to_string(now)},
                  {"webhook-signature", signatures}};
  HttpOptions http = options_.http;
  http.may_connect = [this, &url](const std::string& address) {
    return options_.rule.may_connect(url.host, address);
  };
  MYNAH_TRY(const int status, http_post(post, http, end));
  if (status / 100 != 2) {
    return fail(ErrorCode::Environment, fmt::format("answered with status {}", status));
  }
  return {};
}

}  // namespace mynah::server
