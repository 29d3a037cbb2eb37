// Jobs over HTTP, heard by the built-in recogniser.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/access/keys.h"
#include "server/jobs/webhook_rule.h"
#include "server/jobs/webhook_sender.h"
#include "server/net/own_certificate.h"
#include "server/whole_server.h"
#include "store/test_server.h"

namespace mynah::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;
using Fields = std::vector<std::pair<std::string, std::string>>;

using test::body_of;
using test::wav_of;

class JobRequests : public test::WholeServer {
 protected:
  [[nodiscard]] ServerOptions with_jobs(int at_once = 1) const {
    ServerOptions options = WholeServer::options();
    options.jobs.folder = folder_ / "state";
    options.jobs.at_once = at_once;
    return options;
  }

  void end_server() {
    thread_ = {};
    server_.reset();
  }

  [[nodiscard]] std::string request(const std::string& method, const std::string& path,
                                    const std::string& headers = {}) const {
    return ask(method + " " + path + " HTTP/1.1\r\nConnection: close\r\n" + headers + "\r\n");
  }

  [[nodiscard]] static Json json_of(const std::string& answer) {
    return Json::parse(answer.substr(answer.find("\r\n\r\n")), nullptr, false);
  }

  // The id of a new job with a second of silence.
  std::string post_job(const Fields& fields = {}, const std::string& path = "/v1/jobs") const {
    const std::string answer = post_form(path, fields, "file", wav_of(silence_));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 202 Accepted"));
    const Json job = json_of(answer);
    EXPECT_EQ(job["state"], "queued");
    EXPECT_THAT(answer, HasSubstr("Location: /v1/jobs/" + std::string(job["id"])));
    return job["id"];
  }

  // The job once it has ended: the events end with it.
  [[nodiscard]] Json ended(const std::string& id) const {
    EXPECT_THAT(get("/v1/jobs/" + id + "/events"), HasSubstr("data: {\"type\":\"job."));
    return json_of(get("/v1/jobs/" + id));
  }

  // The job once its webhook was tried.
  [[nodiscard]] Json told(const std::string& id) const {
    Json job = json_of(get("/v1/jobs/" + id));
    while (job["webhook"]["tries"] == 0) {
      std::this_thread::yield();
      job = json_of(get("/v1/jobs/" + id));
    }
    return job;
  }

  const std::string silence_ = std::string(32'000, '\0');
};

TEST_F(JobRequests, AreHeardAsAnyOther) {
  serve(with_jobs());
  const std::string id = post_job({{"response_format", "srt"}});
  const std::string events = get("/v1/jobs/" + id + "/events");
  EXPECT_THAT(events, HasSubstr("Content-Type: text/event-stream"));
  EXPECT_THAT(events, HasSubstr(R"({"type":"job.done","job":{)"));
  const Json job = json_of(get("/v1/jobs/" + id));
  EXPECT_EQ(job["state"], "done");
  EXPECT_EQ(job["attempts"], 1);
  EXPECT_EQ(job["model"], "builtin");
  EXPECT_EQ(job["progress"]["length_s"], 1.0);
  EXPECT_GE(job["expires_at"], int64_t{job["ended_at"]} + 7 * 24 * 3600);
  const std::string result = get("/v1/jobs/" + id + "/result");
  EXPECT_THAT(result, HasSubstr("Content-Type: text/plain"));
  EXPECT_THAT(result, HasSubstr("X-Mynah-Model: builtin"));
  EXPECT_THAT(get("/v1/jobs/" + id + "/result?format=vtt"), HasSubstr("WEBVTT"));
  EXPECT_THAT(get("/v1/jobs/" + id + "/result?format=html"), HasSubstr(R"("param":"format")"));
  const std::string json = post_form("/v1/audio/transcriptions", {}, "file", wav_of(silence_));
  EXPECT_EQ(body_of(get("/v1/jobs/" + id + "/result?format=json")), body_of(json));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "state/uploads"));

  const std::string other = post_job({}, "/v1/audio/transcriptions?async=true");
  EXPECT_EQ(ended(other)["state"], "done");
  const Json list = json_of(get("/v1/jobs"));
  EXPECT_EQ(list["data"][0]["id"], other);
  EXPECT_EQ(list["data"][1]["id"], id);
  EXPECT_EQ(list["has_more"], false);
  const Json page = json_of(get("/v1/jobs?limit=1"));
  EXPECT_EQ(page["has_more"], true);
  EXPECT_EQ(json_of(get("/v1/jobs?limit=1&after=" + other))["data"][0]["id"], id);
  EXPECT_THAT(get("/v1/jobs?after=none"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(get("/v1/jobs?limit=0"), StartsWith("HTTP/1.1 400"));

  const std::string metrics = get("/metrics");
  EXPECT_THAT(metrics, HasSubstr("mynah_jobs{state=\"done\"} 2\n"));
  EXPECT_THAT(metrics, HasSubstr("mynah_jobs{state=\"queued\"} 0\n"));
  EXPECT_THAT(metrics, HasSubstr("mynah_jobs_ended_total{result=\"done\"} 2\n"));
  EXPECT_THAT(metrics, HasSubstr("mynah_jobs_ended_total{result=\"failed\"} 0\n"));
  EXPECT_THAT(metrics, Not(HasSubstr("result=\"running\"")));
  EXPECT_THAT(request("DELETE", "/v1/jobs/" + id), HasSubstr(R"("deleted":true)"));
  EXPECT_THAT(get("/v1/jobs/" + id), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(get("/v1/jobs/" + id + "/events"), StartsWith("HTTP/1.1 404"));
}

TEST_F(JobRequests, ThatAreWrongAreRefusedAtOnce) {
  serve(with_jobs());
  const auto refused = [this](const Fields& fields, const std::string& file) {
    return post_form("/v1/jobs", fields, "file", file);
  };
  const std::string wav = wav_of(silence_);
  EXPECT_THAT(refused({}, silence_), AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("a.raw")));
  EXPECT_THAT(refused({{"stream", "true"}}, wav),
              AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("/v1/jobs/ID/events")));
  EXPECT_THAT(post_form("/v1/audio/transcriptions?async=perhaps", {}, "file", wav),
              HasSubstr(R"("param":"async")"));
  const Json described = json_of(get("/openapi.json"))["paths"]["/v1/audio/transcriptions"]["post"];
  EXPECT_EQ(described["parameters"][0]["name"], "async");
  EXPECT_EQ(described["parameters"][0]["in"], "query");
  EXPECT_THAT(refused({{"response_format", "html"}}, wav),
              HasSubstr(R"("param":"response_format")"));
  EXPECT_THAT(refused({{"language", "de"}}, wav), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(refused({{"webhook", "http://127.0.0.1/"}}, wav), HasSubstr("a private address"));
  EXPECT_THAT(refused({{"webhook", "ftp://example.org/"}}, wav), HasSubstr(R"("param":"webhook")"));
  EXPECT_THAT(refused({{"webhook_text", "perhaps"}}, wav), HasSubstr(R"("param":"webhook_text")"));
  EXPECT_THAT(post_form("/v1/jobs", {}, "", ""), HasSubstr("wanted a recording"));
  EXPECT_THAT(post_form("/v1/audio/transcriptions?async=maybe", {}, "file", wav),
              HasSubstr(R"("param":"async")"));
  EXPECT_THAT(json_of(get("/v1/jobs"))["data"], IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "state/uploads"));
}

TEST_F(JobRequests, WaitAndAreCancelled) {
  serve(with_jobs(0));  // nobody hears them
  const std::string id = post_job();
  const std::string early = get("/v1/jobs/" + id + "/result");
  EXPECT_THAT(early, AllOf(StartsWith("HTTP/1.1 409"), HasSubstr("the job is queued")));
  test::Client watcher(server_->addresses().front());
  watcher.send("GET /v1/jobs/" + id + "/events HTTP/1.1\r\n\r\n");
  watcher.until("\r\n\r\n");
  EXPECT_EQ(json_of(request("POST", "/v1/jobs/" + id + "/cancel"))["state"], "cancelled");
  EXPECT_THAT(watcher.until("job.cancelled"), HasSubstr("job.cancelled"));
  EXPECT_THAT(get("/v1/jobs/" + id + "/result"), StartsWith("HTTP/1.1 409"));
  EXPECT_THAT(request("POST", "/v1/jobs/none/cancel"), StartsWith("HTTP/1.1 404"));
}

TEST_F(JobRequests, RunWhileTheyAreRemoved) {
  serve(with_jobs());
  constexpr int kJobs = 8;
  std::vector<std::string> ids;
  ids.reserve(kJobs);
  for (int i = 0; i < kJobs; ++i) {
    ids.push_back(post_job());
  }
  for (const std::string& id : ids) {
    EXPECT_THAT(request("DELETE", "/v1/jobs/" + id), StartsWith("HTTP/1.1 200"));
  }
  EXPECT_THAT(json_of(get("/v1/jobs"))["data"], IsEmpty());
  EXPECT_EQ(ended(post_job())["state"], "done") << "and others go on";
}

TEST_F(JobRequests, AreTakenUpByTheNextServer) {
  serve(with_jobs(0));
  const std::string id = post_job();
  const auto second = Server::create(with_jobs(), surroundings());
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("--state-folder"));
  end_server();
  serve(with_jobs());
  EXPECT_EQ(ended(id)["state"], "done");
}

TEST_F(JobRequests, AreNoneWhereTheyCannotBeKept) {
  ServerOptions without = options();
  serve(without);
  EXPECT_THAT(get("/v1/jobs"), StartsWith("HTTP/1.1 503"));
  end_server();
  mynah::test::write_file(folder_ / "state", "a file");
  serve(with_jobs());
  const std::string refused = post_form("/v1/jobs", {}, "file", wav_of(silence_));
  EXPECT_THAT(refused, AllOf(StartsWith("HTTP/1.1 503"), HasSubstr(folder_ / "state"),
                             HasSubstr("x-should-retry: false")));
  EXPECT_THAT(post_form("/v1/audio/transcriptions", {}, "file", wav_of(silence_)),
              StartsWith("HTTP/1.1 200"));
}

TEST_F(JobRequests, BelongToAKey) {
  std::vector<Key> keys;
  for (const std::string name : {"ann", "bob", "eve"}) {
    keys.push_back({.name = name, .digest = digest_of_key(name + "-secret"), .made = {}});
  }
  keys.back().rights = {Right::Hear};
  ServerOptions locked = with_jobs();
  locked.keys.file = folder_ / "keys.json";
  ASSERT_TRUE(write_keys(locked.keys.file, keys));
  serve(locked);
  const auto key = [](const std::string& name) {
    return "X-API-Key: " + name + "-secret\r\nContent-Length: 0\r\n";
  };
  const std::string form =
      "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n" +
      wav_of(silence_) + "\r\n--b--\r\n";
  const auto post_as = [&](const std::string& name, const std::string& path) {
    return post(path, form, "X-API-Key: " + name + "-secret\r\n",
                "multipart/form-data; boundary=b");
  };
  const std::string id = json_of(post_as("ann", "/v1/jobs"))["id"];
  EXPECT_THAT(request("GET", "/v1/jobs/" + id, key("ann")), StartsWith("HTTP/1.1 200"));
  for (const std::string& path : {id, id + "/result", id + "/events"}) {
    EXPECT_THAT(request("GET", "/v1/jobs/" + path, key("bob")), StartsWith("HTTP/1.1 404"));
  }
  EXPECT_THAT(request("DELETE", "/v1/jobs/" + id, key("bob")), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(request("POST", "/v1/jobs/" + id + "/cancel", key("bob")),
              StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(json_of(request("GET", "/v1/jobs", key("bob")))["data"], IsEmpty());
  // The server waits for the end of what it refuses: nobody here does.
  const auto refused = [this](const std::string& head) {
    test::Client client(server_->addresses().front());
    client.send(head + "\r\n");
    return client.answer().first;
  };
  EXPECT_THAT(refused("POST /v1/jobs HTTP/1.1\r\n" + key("eve")), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(refused("GET /v1/jobs HTTP/1.1\r\n"), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(post_as("eve", "/v1/audio/transcriptions?async=1"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(post_as("eve", "/v1/audio/transcriptions"), StartsWith("HTTP/1.1 200"));
}

TEST_F(JobRequests, TellTheirEnd) {
  int status = 204;
  const mynah::testing::TestServer receiver([&status](const auto& /*request*/) {
    return mynah::testing::answer(status, "Location: http://192.0.2.1/\r\n", "");
  });
  ServerOptions telling = with_jobs();
  telling.jobs.webhook_allow = {"127.0.0.0/8"};
  serve(telling);
  const std::string id = post_job({{"webhook", receiver.url("/heard?x=1")}});
  EXPECT_EQ(told(id)["webhook"]["state"], "delivered");
  ASSERT_EQ(receiver.requests().size(), 1U);
  const auto request = receiver.requests().front();
  EXPECT_EQ(request.method + " " + request.target, "POST /heard?x=1");
  EXPECT_EQ(request.header("webhook-id"), "msg_" + id);
  const auto secret = webhook_key(folder_ / "state/webhook-secret");
  ASSERT_TRUE(secret);
  EXPECT_EQ(request.header("webhook-signature"),
            webhook_signature(*secret, "msg_" + id, std::stoll(request.header("webhook-timestamp")),
                              request.body));
  const Json said = Json::parse(request.body);
  EXPECT_EQ(said["type"], "job.done");
  EXPECT_EQ(said["data"]["id"], id);
  EXPECT_FALSE(said["data"].contains("text"));

  const std::string with_text = post_job({{"webhook", receiver.url()}, {"webhook_text", "true"}});
  EXPECT_EQ(told(with_text)["webhook"]["state"], "delivered");
  EXPECT_EQ(Json::parse(receiver.requests().back().body)["data"]["text"], "");

  status = 302;  // what it leads to is not asked
  const Json moved = told(post_job({{"webhook", receiver.url()}}));
  EXPECT_EQ(moved["webhook"]["state"], "pending");
  EXPECT_THAT(std::string(moved["webhook"]["error"]), HasSubstr("status 302"));
}

TEST_F(JobRequests, TellTheirEndByHttpsToWhomeverIsTrusted) {
  const TlsFiles files{.certificate = folder_ / "certificate.pem", .key = folder_ / "key.pem"};
  ASSERT_TRUE(make_certificate(files, std::vector<std::string>{"localhost", "127.0.0.1"}));
  boost::asio::ssl::context tls(boost::asio::ssl::context::tls_server);
  tls.use_certificate_chain_file(files.certificate);
  tls.use_private_key_file(files.key, boost::asio::ssl::context::pem);
  const mynah::testing::TestServer receiver(
      [](const auto& /*request*/) { return mynah::testing::answer(204, "", ""); }, &tls);
  ServerOptions telling = with_jobs();
  telling.jobs.webhook_allow = {"127.0.0.0/8"};
  serve(telling);
  const std::string url = fmt::format("https://localhost:{}/", receiver.port());
  const Json untrusted = told(post_job({{"webhook", url}}));
  EXPECT_EQ(untrusted["webhook"]["state"], "pending");
  EXPECT_THAT(std::string(untrusted["webhook"]["error"]), HasSubstr("certificate"));
  EXPECT_THAT(receiver.requests(), IsEmpty()) << "nothing is said before it is known to whom";
  end_server();
  telling.jobs.webhook_http.ca_file = files.certificate;
  telling.jobs.folder = folder_ / "other";
  serve(telling);
  EXPECT_EQ(told(post_job({{"webhook", url}}))["webhook"]["state"], "delivered");
  ASSERT_EQ(receiver.requests().size(), 1U);
}

TEST_F(JobRequests, AreSignedForTheirOwner) {
  const mynah::testing::TestServer receiver(
      [](const auto& /*request*/) { return mynah::testing::answer(204, "", ""); });
  ServerOptions telling = with_jobs();
  telling.jobs.webhook_allow = {"127.0.0.0/8"};
  telling.keys.secrets = {"ann's", "ben's"};
  serve(telling);
  const auto secret_of = [this](const std::string& key) {
    const Json told =
        json_of(request("GET", "/v1/jobs/webhook-secret", "Authorization: Bearer " + key + "\r\n"));
    mynah::test::write_file(folder_ / "secret", std::string(told["secret"]));
    return *webhook_key(folder_ / "secret");
  };
  const std::string head = "--b\r\nContent-Disposition: form-data; name=";
  ASSERT_THAT(post("/v1/jobs",
                   head + "\"webhook\"\r\n\r\n" + receiver.url() + "\r\n" + head +
                       "\"file\"; filename=\"a.wav\"\r\n\r\n" + wav_of(silence_) + "\r\n--b--\r\n",
                   "Authorization: Bearer ann's\r\n", "multipart/form-data; boundary=b"),
              StartsWith("HTTP/1.1 202"));
  while (receiver.requests().empty()) {
    std::this_thread::yield();
  }
  const auto told = receiver.requests().front();
  const auto signature_by = [&told](const std::string& key) {
    return webhook_signature(key, told.header("webhook-id"),
                             std::stoll(told.header("webhook-timestamp")), told.body);
  };
  EXPECT_EQ(told.header("webhook-signature"),
            signature_by(secret_of("ann's")) + " " +
                signature_by(*webhook_key(folder_ / "state/webhook-secret")));
  EXPECT_NE(secret_of("ann's"), secret_of("ben's"));
}

TEST_F(JobRequests, TellNobodyWhoIsPrivate) {
  const mynah::testing::TestServer receiver(
      [](const auto& /*request*/) { return mynah::testing::answer(204, "", ""); });
  serve(with_jobs());
  const std::string url = fmt::format("http://localhost:{}/", receiver.port());
  const Json job = told(post_job({{"webhook", url}}));
  EXPECT_THAT(std::string(job["webhook"]["error"]), HasSubstr("may not be connected to"));
  EXPECT_THAT(receiver.requests(), IsEmpty());
}

TEST(Webhook, GoesToPublicAddressesAndThoseThatAreAllowed) {
  const WebhookRule rule({"10.1.0.0/16", "fd00::/8", "Printer.Local"});
  for (const char* good :
       {"8.8.8.8", "2606:4700::1111", "10.1.2.3", "fd12::1", "::ffff:10.1.2.3"}) {
    EXPECT_TRUE(rule.may_connect("example.org", good)) << good;
  }
  for (const char* bad :
       {"127.0.0.1", "10.2.0.1", "169.254.169.254", "100.64.0.1", "192.168.1.1", "0.0.0.0", "::1",
        "::", "fe80::1", "fc00::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1",
        "64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1", "ff02::1", "255.255.255.255", "no"}) {
    EXPECT_FALSE(rule.may_connect("example.org", bad)) << bad;
  }
  EXPECT_TRUE(rule.may_connect("PRINTER.local", "192.168.1.1"));
  for (const char* good : {"10.1.0.0/16", "fd00::/8", "::1", "Printer.Local", "my_nas", "7z.lan"}) {
    EXPECT_TRUE(WebhookRule::check_allowed(good)) << good;
  }
  for (const char* bad : {"", "bad addr", "10.1.0.0/33", "10.1.0", "http://printer/", "a:80"}) {
    EXPECT_FALSE(WebhookRule::check_allowed(bad)) << bad;
  }
  for (const char* good : {"https://example.org/a?b", "http://[fd12::1]:8/", "http://10.1.9.9"}) {
    EXPECT_TRUE(rule.check(good)) << good;
  }
  for (const char* bad : {"", "example.org", "file:///etc/passwd", "http://127.0.0.1:8080/",
                          "https://u:p@example.org/", "http://[::ffff:127.0.0.1]/"}) {
    EXPECT_FALSE(rule.check(bad)) << bad;
  }
}

TEST(Webhook, IsSignedAsTheStandardHasIt) {
  // The example of standardwebhooks' libraries.
  mynah::test::TemporaryFolder folder;
  mynah::test::write_file(folder / "secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n");
  const auto key = webhook_key(folder / "secret");
  ASSERT_TRUE(key);
  EXPECT_EQ(webhook_signature(*key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330,
                              R"({"test": 2432232314})"),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  const auto made = webhook_key(folder / "new");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->size(), 32U);
  EXPECT_EQ(*made, *webhook_key(folder / "new"));
  for (const char* bad :
       {"", "whsec_", "whsec_AAAA", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_?"}) {
    mynah::test::write_file(folder / "secret", bad);
    EXPECT_FALSE(webhook_key(folder / "secret")) << bad;
  }
}

}  // namespace
}  // namespace mynah::server
