// What whoever runs a server asks of it, while it works.
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/whole_server.h"
#include "server/wyoming/message.h"

namespace mynah::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

class Operation : public test::WholeServer {
 protected:
  // Asks with that key, keeps the connection, and does not wait for the answer.
  [[nodiscard]] test::Client begin_speech(const std::string& key, const std::string& id) const {
    test::Client client(server_->addresses().front());
    std::string text;
    for (int i = 0; i < 400; ++i) {
      text += "One two three four five six seven. ";
    }
    const std::string body =
        Json{{"input", text}, {"voice", "slt"}, {"response_format", "pcm"}}.dump();
    client.send("POST /v1/audio/speech HTTP/1.1\r\nAuthorization: Bearer " + key +
                "\r\nX-Request-Id: " + id +
                "\r\nContent-Type: application/json\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
    return client;
  }

  [[nodiscard]] Json queue_of(const std::string& key) const {
    return Json::parse(
        test::body_of(ask("GET /v1/queue HTTP/1.1\r\nConnection: close\r\n"
                          "Authorization: Bearer " +
                          key + "\r\n\r\n")));
  }
};

// What is named at the start is there then; what comes and goes is found by who asks.
TEST_F(Operation, AModelThatCannotBeOpenedIsNotReadyAndNotTheClientsFault) {
  serve(options());
  EXPECT_THAT(get("/health/ready"), StartsWith("HTTP/1.1 200 "));
  StoredModel model;
  model.name = "broken";
  model.family = "whisper";
  model.created = "2026-01-01T00:00:00Z";
  model.folder = folder_ / "home/models/broken";
  model.sha256 = std::string(64, '0');
  mynah::test::write_file(model.path(), "no weights");
  ASSERT_TRUE(write_source_json(model));
  const std::string ready = get("/health/ready");
  EXPECT_THAT(ready, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(ready, HasSubstr("the model broken cannot be used"));
  const std::string told = post_form("/v1/audio/transcriptions", {{"model", "whisper-1"}}, "file",
                                     test::wav_of(std::string(32'000, '\0')));
  EXPECT_THAT(told, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(told, HasSubstr(R"("type":"server_error")"));
}

TEST_F(Operation, TheBuiltinRecogniserIsOnTheProcessor) {
  serve(options());
  EXPECT_THAT(
      post_form("/v1/audio/transcriptions", {}, "file", test::wav_of(std::string(32'000, '\0'))),
      HasSubstr("X-Mynah-Device: stt=cpu\r\n"));
}

TEST_F(Operation, TheQueueNamesOnesOwnRequestsAndCountsOthers) {
  ServerOptions with_keys = options();
  with_keys.keys.secrets = {"ann's", "ben's"};
  with_keys.keys.file = folder_ / "keys.json";
  std::ofstream(with_keys.keys.file)
      << keys_text(std::vector<Key>{{.name = "cat", .digest = digest_of_key("cat's"), .made = {}}});
  serve(with_keys);
  test::Client client = begin_speech("cat's", "mine");
  client.until("\r\n\r\n");  // it speaks
  const Json own = queue_of("cat's");
  EXPECT_EQ(own["running"]["speak"], 1);
  EXPECT_EQ(own["waiting"]["hear"], 0);
  ASSERT_EQ(own["requests"].size(), 1U) << own.dump();
  EXPECT_EQ(own["requests"][0]["id"], "mine");
  EXPECT_EQ(own["requests"][0]["state"], "running");
  EXPECT_GE(own["requests"][0]["age_s"].get<double>(),
            own["requests"][0]["waited_s"].get<double>());
  const Json others = queue_of("ann's");
  EXPECT_EQ(others["running"]["speak"], 1);
  EXPECT_TRUE(others["requests"].empty()) << "to others it does not exist";
  client.abort();
  while (queue_of("cat's")["running"]["speak"] != 0) {
    std::this_thread::yield();
  }
  EXPECT_THAT(ask("GET /metrics HTTP/1.1\r\nConnection: close\r\n"
                  "Authorization: Bearer cat's\r\n\r\n"),
              StartsWith("HTTP/1.1 403"))
      << "that is for whoever runs it";
}

TEST_F(Operation, IsReadyWhenItsModelsCompute) {
  serve(options());
  EXPECT_EQ(test::body_of(get("/health/ready")), "{\"status\":\"idle\"}\n");
  const std::string spoken =
      post("/v1/audio/speech", R"({"input": "One.", "response_format": "pcm"})");
  EXPECT_THAT(spoken, HasSubstr("X-Mynah-Queue-Ms: "));
  EXPECT_THAT(spoken, Not(HasSubstr("X-Mynah-Voice: \r\n"))) << "the model's own has a name";
  EXPECT_EQ(test::body_of(get("/health/ready")), "{\"status\":\"ready\",\"models\":1}\n");
  EXPECT_THAT(get("/metrics"), HasSubstr("mynah_models_open 1\n"));
  EXPECT_THAT(get("/health/live"), Not(HasSubstr("X-Mynah-Queue-Ms")));
}

TEST_F(Operation, ARequestSaysHowLongItsModelIsKept) {
  serve(options());
  const auto speak = [this](const std::string& field) {
    const std::string body = R"({"input": "One.", "voice": "slt", "response_format": "pcm"})";
    return ask("POST /v1/audio/speech HTTP/1.1\r\nConnection: close\r\n" + field +
               "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  };
  EXPECT_THAT(speak("X-Mynah-Keep-Alive: soon\r\n"), HasSubstr("keep_alive: wanted seconds"));
  EXPECT_THAT(speak("X-Mynah-Keep-Alive: -1\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(get("/metrics"), HasSubstr("mynah_models_open 1\n"));
  EXPECT_THAT(
      post("/v1/audio/speech", R"({"input": "One.", "response_format": "pcm", "keep_alive": 0})"),
      StartsWith("HTTP/1.1 200"));
  while (!get("/metrics").contains("mynah_models_open 0\n")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

TEST_F(Operation, DevicesSayWhereAStageIsAndWhy) {
  serve(options());
  const std::string heard =
      post_form("/v1/audio/transcriptions", {{"model", "builtin"}}, "file", {});
  EXPECT_THAT(heard, StartsWith("HTTP/1.1 400")) << "there is nothing in it";
  const Json told = Json::parse(test::body_of(get("/v1/devices")));
  EXPECT_EQ(told["devices"][0]["device"], "cpu");
  EXPECT_GE(told["devices"][0]["cores"].get<int>(), 1);
  EXPECT_TRUE(told["placement"]["stages"].is_array());
}

// A socket of this machine that listens on any port, and its address.
std::pair<int, std::string> listening() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    ADD_FAILURE() << "no socket";
    return {};
  }
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(at);
  EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&at), size), 0);
  EXPECT_EQ(::listen(fd, SOMAXCONN), 0);
  EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size), 0);
  return {fd, "127.0.0.1:" + std::to_string(ntohs(at.sin_port))};
}

TEST_F(Operation, TurnsOfWyomingAreCountedAsRequestsAre) {
  ServerOptions with_wyoming = options();
  const auto [fd, address] = listening();
  with_wyoming.wyoming_passed = {fd};
  std::mutex mutex;
  std::string log;
  with_wyoming.log = [&](const RequestHead& head, const Served& served) {
    const std::lock_guard lock(mutex);
    log += fmt::format("{} {} {} {}{};", head.work->id(), head.method, head.path, served.status,
                       served.left ? " left" : "");
  };
  serve(with_wyoming);
  test::Client client(address);
  client.send(encode("synthesize", {{"text", "One two three."}}));
  client.until("audio-stop");
  client.send(encode("transcribe", Json::object()) +
              encode("audio-start", {{"rate", 16000}, {"width", 2}, {"channels", 1}}) +
              encode("audio-chunk", {{"rate", 16000}, {"width", 2}, {"channels", 1}},
                     std::string(64'000, '\0')) +
              encode("audio-stop", Json::object()));
  client.until("transcript-stop");
  const std::string told = get("/metrics");
  EXPECT_THAT(told, HasSubstr("mynah_audio_seconds_total{task=\"hear\"} 2\n"));
  EXPECT_THAT(told, Not(HasSubstr("mynah_audio_seconds_total{task=\"speak\"} 0\n")));
  EXPECT_THAT(told, HasSubstr("mynah_requests_total{route=\"wyoming\",status=\"200\"} 2\n"));
  EXPECT_THAT(told, HasSubstr("mynah_first_sound_seconds_count 1\n"));
  // One that leaves in the middle.
  std::string text;
  for (int i = 0; i < 400; ++i) {
    text += "One two three four five six seven. ";
  }
  client.send(encode("synthesize", {{"text", text}}));
  client.until("audio-chunk");
  EXPECT_THAT(get("/v1/queue"), HasSubstr(R"("id":"wyoming_000001-3","task":"speak")"));
  client.abort();
  while (!get("/v1/queue").contains(R"("requests":[])")) {
    std::this_thread::yield();
  }
  const std::lock_guard lock(mutex);
  EXPECT_THAT(log, HasSubstr("wyoming_000001-1 SPEAK wyoming 200;"));
  EXPECT_THAT(log, HasSubstr("wyoming_000001-2 HEAR wyoming 200;"));
}

TEST_F(Operation, WhoHasItsAnswerDidNotLeave) {
  ServerOptions logged = options();
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> log;
  logged.log = [&](const RequestHead& head, const Served& served) {
    const std::lock_guard lock(mutex);
    log.push_back(fmt::format("{} {} {} {}{}", head.peer, head.work->id().substr(0, 4), head.path,
                              served.status, served.left ? " left" : ""));
    changed.notify_all();
  };
  serve(logged);
  const auto last = [&](size_t count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return log.size() >= count; });
    return log.back();
  };
  static_cast<void>(get("/nothing"));
  EXPECT_EQ(last(1), "127.0.0.1 req_ /nothing 404");
  static_cast<void>(ask("GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n"));
  EXPECT_EQ(last(2), "127.0.0.1 req_ /health 421");
  static_cast<void>(ask("no request\r\n\r\n"));
  EXPECT_EQ(last(3), "127.0.0.1 req_  400") << "whose it was and how it is called";
  std::string text;
  for (int i = 0; i < 400; ++i) {
    text += "One two three four five six seven. ";
  }
  const std::string body = Json{{"input", text}, {"response_format", "pcm"}}.dump();
  test::Client client(server_->addresses().front());
  client.send(fmt::format("POST /v1/audio/speech HTTP/1.1\r\nContent-Length: {}\r\n\r\n{}",
                          body.size(), body));
  client.until("\r\n\r\n");
  client.abort();
  EXPECT_EQ(last(4), "127.0.0.1 req_ /v1/audio/speech 200 left");
  EXPECT_THAT(get("/metrics"), HasSubstr("mynah_requests_left_total 1\n"));
}

TEST_F(Operation, WyomingRefusesWhatHttpDoes) {
  ServerOptions with_wyoming = options();
  const auto [fd, address] = listening();
  with_wyoming.wyoming_passed = {fd};
  std::mutex mutex;
  std::string log;
  with_wyoming.log = [&](const RequestHead& head, const Served& served) {
    const std::lock_guard lock(mutex);
    log += fmt::format("{} {};", head.method, served.status);
  };
  serve(with_wyoming);
  const auto heard = [&](const char* language) {
    test::Client client(address);
    client.send(encode("transcribe", {{"language", language}}) +
                encode("audio-start", {{"rate", 16000}, {"width", 2}, {"channels", 1}}) +
                encode("audio-chunk", {{"rate", 16000}, {"width", 2}, {"channels", 1}},
                       std::string(64'000, '\0')) +
                encode("audio-stop", Json::object()));
    return client.until("text\"");
  };
  EXPECT_THAT(heard("de"), HasSubstr("error"));
  EXPECT_THAT(heard("en-GB"), Not(HasSubstr("error")));
  test::Client client(address);
  client.send(encode("synthesize", {{"text", "One."}, {"voice", {{"name", "nosuch"}}}}));
  EXPECT_THAT(client.rest(), HasSubstr("nosuch"));
  static_cast<void>(get("/health"));
  const std::lock_guard lock(mutex);
  EXPECT_THAT(log, HasSubstr("HEAR 400;"));
  EXPECT_THAT(log, HasSubstr("SPEAK 404;"));
}

TEST_F(Operation, SoundOfWhoLeavesCounts) {
  ServerOptions limited = options();
  limited.keys.file = folder_ / "keys.json";
  std::ofstream(limited.keys.file) << keys_text(std::vector<Key>{
      {.name = "cat", .digest = digest_of_key("cat's"), .limits = {.audio_s = 1}, .made = {}}});
  serve(limited);
  test::Client client = begin_speech("cat's", "mine");
  client.until("\r\n\r\n");
  client.take(100'000);  // two seconds of it
  client.abort();
  std::string refused;
  do {
    refused =
        ask("GET /v1/queue HTTP/1.1\r\nConnection: close\r\nAuthorization: Bearer cat's\r\n\r\n");
  } while (refused.starts_with("HTTP/1.1 200"));
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 429"));
}

}  // namespace
}  // namespace mynah::server
