// What whoever runs a server asks of it, while it works.
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/whole_server.h"

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
  EXPECT_THAT(post("/v1/audio/speech", R"({"input": "One.", "response_format": "pcm"})"),
              HasSubstr("X-Mynah-Queue-Ms: "));
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

}  // namespace
}  // namespace mynah::server
