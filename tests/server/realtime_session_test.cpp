// Realtime, whole: sessions with the built-in recogniser and voice.
#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/server.h"
#include "server/socket_client.h"
#include "store/base64.h"
#include "temporary_folder.h"

namespace mynah::server {
namespace {

using test::SocketClient;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::ordered_json;

class RealtimeServer : public ::testing::Test {
 protected:
  void SetUp() override {
    ServerOptions options;
    options.network.port = 0;
    options.wyoming_port = 0;
    options.service.placement.device = "cpu";
    options.service.placement.threads = 1;
    options.keys.file = folder_ / "keys.json";
    ASSERT_TRUE(
        write_keys(options.keys.file,
                   std::array{Key{.name = "ann", .digest = digest_of_key("ann's"), .made = {}},
                              Key{.name = "brief",
                                  .digest = digest_of_key("brief's"),
                                  .limits = {.audio_s = 1},
                                  .made = {}},
                              Key{.name = "root",
                                  .digest = digest_of_key("root's"),
                                  .rights = kAllRights,
                                  .made = {}}}));
    options.log = [this](const RequestHead& head, const Served& served) {
      const std::lock_guard lock(mutex_);
      log_.push_back(fmt::format("{} {} {} {}{}", head.owner, head.method, head.path, served.status,
                                 served.left ? " left" : ""));
    };
    auto server = Server::create(
        std::move(options),
        {.environment = Environment({{"HOME", folder_.path()}, {"MYNAH_HOME", folder_ / "home"}})});
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
    thread_ = std::jthread([this](const std::stop_token& stop) { server_->run(stop); });
  }

  [[nodiscard]] SocketClient client(const std::string& query = {}, const std::string& more = {},
                                    const std::string& key = "ann's") const {
    SocketClient client(server_->addresses().front(), "/v1/realtime" + query,
                        more + "Authorization: Bearer " + key + "\r\n");
    EXPECT_THAT(client.head(), StartsWith("HTTP/1.1 101 "));
    return client;
  }

  // What is answered to whoever runs the server.
  [[nodiscard]] std::string get(const std::string& path, const std::string& key = "root's") const {
    test::Client client(server_->addresses().front());
    client.send("GET " + path + " HTTP/1.1\r\nConnection: close\r\nAuthorization: Bearer " + key +
                "\r\n\r\n");
    return client.rest();
  }

  // The figure of a line of the metrics that begins so; none: there is no such line.
  [[nodiscard]] double metric(const std::string& name) const {
    const std::string told = get("/metrics");
    const size_t at = told.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stod(told.substr(at + name.size() + 2));
  }

  // Whether that was told of something that is over; waits for it.
  [[nodiscard]] bool logs(const std::string& line) {
    for (int tries = 0; tries < 1000; ++tries) {
      {
        const std::lock_guard lock(mutex_);
        if (std::ranges::find(log_, line) != log_.end()) {
          return true;
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  static Json next(SocketClient& client) {
    const std::string text = client.text();
    Json event = Json::parse(text, nullptr, false);
    EXPECT_TRUE(event.is_object()) << text;
    EXPECT_TRUE(event.contains("event_id"));
    return event;
  }

  // The events up to one of that type.
  static std::vector<Json> until(SocketClient& client, const std::string& type) {
    std::vector<Json> events;
    do {
      events.push_back(next(client));
      if (!events.back().is_object() || (events.back()["type"] == "error" && type != "error")) {
        ADD_FAILURE() << "wanted " << type << ", found " << events.back();
        break;
      }
    } while (events.back()["type"] != type);
    return events;
  }

  static Json ask(SocketClient& client, const std::string& event) {
    client.send(event);
    return next(client);
  }

  // Speaks it; the bytes of its sound.
  static std::string speak(SocketClient& client, const std::string& text) {
    client.send(Json{{"type", "response.create"},
                     {"response",
                      {{"input",
                        {{{"type", "message"},
                          {"role", "assistant"},
                          {"content", {{{"type", "output_text"}, {"text", text}}}}}}}}}}
                    .dump());
    std::string sound;
    for (const Json& event : until(client, "response.done")) {
      if (event["type"] == "response.output_audio.delta") {
        sound += bytes_of_base64(event["delta"].get<std::string>()).value_or("");
      }
    }
    return sound;
  }

  static void append(SocketClient& client, std::string_view sound) {
    constexpr size_t kPiece = 9600;
    for (; !sound.empty(); sound.remove_prefix(std::min(sound.size(), kPiece))) {
      const std::string_view piece = sound.substr(0, kPiece);
      client.send(fmt::format(R"({{"type": "input_audio_buffer.append", "audio": "{}"}})",
                              base64(std::as_bytes(std::span(piece)))));
    }
  }

  std::mutex mutex_;
  std::vector<std::string> log_;  // of what is over
  mynah::test::TemporaryFolder folder_;
  std::unique_ptr<Server> server_;
  std::jthread thread_;  // the first to go
};

constexpr const char* kTranscribed = "conversation.item.input_audio_transcription.completed";

TEST_F(RealtimeServer, BadEventsAreAnsweredAndKillNothing) {
  SocketClient client = this->client("?model=gpt-realtime");
  const Json created = next(client);
  EXPECT_EQ(created["type"], "session.created");
  EXPECT_EQ(created["session"]["type"], "realtime");
  EXPECT_EQ(created["session"]["model"], "gpt-realtime");
  for (
      const auto& [event, code] :
      {std::pair("{", ""),
       std::pair("[]", ""),
       std::pair("", ""),
       std::pair(R"({"event_id": "e"})", "unknown_event"),
       std::pair(R"({"type": 5, "event_id": "e"})", "unknown_event"),
       std::pair(R"({"type": "session.delete", "event_id": "e"})", "unknown_event"),
       std::pair(R"({"type": "session.update", "event_id": "e"})", ""),
       std::pair(R"({"type": "session.update", "event_id": "e", "session": {"audio": 1}})", ""),
       std::pair(R"({"type": "input_audio_buffer.append", "event_id": "e"})", ""),
       std::pair(R"({"type": "input_audio_buffer.append", "event_id": "e", "audio": "YQ="})", ""),
       std::pair(R"({"type": "input_audio_buffer.append", "event_id": "e", "audio": "YQ=="})", ""),
       std::pair(R"({"type": "input_audio_buffer.commit", "event_id": "e"})",
                 "input_audio_buffer_commit_empty"),
       std::pair(R"({"type": "conversation.item.create", "event_id": "e"})", ""),
       std::pair(R"({"type": "conversation.item.retrieve", "event_id": "e", "item_id": "x"})",
                 "item_retrieve_invalid_item_id"),
       std::pair(R"({"type": "conversation.item.delete", "event_id": "e", "item_id": 7})",
                 "item_delete_invalid_item_id"),
       std::pair(R"({"type": "conversation.item.truncate", "event_id": "e", "audio_end_ms": 1})",
                 "item_truncate_invalid_item_id"),
       std::pair(R"({"type": "response.cancel", "event_id": "e"})", "response_cancel_not_active"),
       std::pair(R"({"type": "response.create", "event_id": "e"})", "language_model_missing"),
       std::pair(R"({"type": "response.create", "event_id": "e", "response": []})", ""),
       std::pair(
           R"({"type": "response.create", "event_id": "e", "response": {"input": [{"type": "item_reference", "id": "x"}]}})",
           "not_found")}) {
    const Json told = ask(client, event);
    ASSERT_EQ(told["type"], "error") << event;
    const Json& error = told["error"];
    EXPECT_EQ(error["type"], "invalid_request_error") << event;
    EXPECT_FALSE(error["message"].get<std::string>().empty());
    const bool has_id = std::string_view(event).contains("event_id");
    EXPECT_EQ(error["event_id"], has_id ? Json("e") : Json()) << event;
    if (*code != '\0') {
      EXPECT_EQ(error["code"], code) << event;
    }
  }
  const Json refused = ask(client,
                           R"({"type": "session.update",
          "session": {"audio": {"input": {"transcription": {"language": "de"}}}}})");
  EXPECT_EQ(refused["error"]["param"], "session.audio.input.transcription.language");
  EXPECT_EQ(ask(client, R"({"type": "session.update", "session": {}})")["type"], "session.updated");
}

TEST_F(RealtimeServer, ItemsAreMadeFoundAndForgotten) {
  SocketClient client = this->client();
  next(client);
  const Json added = ask(
      client,
      R"({"type": "conversation.item.create", "item": {"id": "mine", "type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello."}]}})");
  EXPECT_EQ(added["type"], "conversation.item.added");
  EXPECT_EQ(added["previous_item_id"], nullptr);
  EXPECT_EQ(next(client)["type"], "conversation.item.done");
  const Json behind = ask(
      client,
      R"({"type": "conversation.item.create", "previous_item_id": "root", "item": {"type": "function_call_output", "call_id": "c", "output": "1"}})");
  EXPECT_EQ(behind["previous_item_id"], nullptr);
  EXPECT_EQ(next(client)["type"], "conversation.item.done");
  const Json found = ask(client, R"({"type": "conversation.item.retrieve", "item_id": "mine"})");
  EXPECT_EQ(found["type"], "conversation.item.retrieved");
  EXPECT_EQ(found["item"]["content"][0]["text"], "Hello.");
  EXPECT_EQ(ask(client, R"({"type": "conversation.item.delete", "item_id": "mine"})")["type"],
            "conversation.item.deleted");
  EXPECT_EQ(ask(client, R"({"type": "conversation.item.retrieve", "item_id": "mine"})")["type"],
            "error");
}

TEST_F(RealtimeServer, SpeaksWhatItIsGivenAndHearsIt) {
  SocketClient client = this->client("?model=gpt-realtime");
  next(client);
  const std::string sound = speak(client, "The train leaves at nine in the morning.");
  EXPECT_GT(sound.size(), 48'000U) << "a second of speech at least";

  // In turns: the silence behind it ends the item.
  append(client, sound + std::string(96'000, '\0'));
  std::map<std::string, std::string> deltas;
  std::string heard;
  while (heard.empty()) {
    for (const Json& event : until(client, kTranscribed)) {
      const std::string type = event["type"];
      if (type == "input_audio_buffer.speech_started") {
        EXPECT_TRUE(deltas.emplace(event["item_id"], "").second);
      } else if (type.ends_with("transcription.delta")) {
        deltas.at(event["item_id"]) += event["delta"];
      } else if (type == kTranscribed) {
        EXPECT_EQ(event["transcript"], deltas.at(event["item_id"]));
        EXPECT_EQ(event["usage"]["type"], "duration");
        heard = event["transcript"];
      }
    }
  }

  // By commits, at another rate.
  client.send(
      R"({"type": "session.update", "session": {"audio": {"input": {"format": {"type": "audio/pcm", "rate": 16000}, "turn_detection": null}}}})");
  until(client, "session.updated");
  append(client, sound);
  client.send(R"({"type": "input_audio_buffer.commit", "event_id": "mine"})");
  const std::string item = until(client, "input_audio_buffer.committed").back()["item_id"];
  Json completed;
  do {
    completed = until(client, kTranscribed).back();
  } while (completed["item_id"] != item);
  const size_t sent_ms = sound.size() / 32;
  EXPECT_EQ(completed["usage"]["seconds"].get<double>(), static_cast<double>(sent_ms) / 1000);
  // Both were counted while they happened, as this socket goes on.
  EXPECT_TRUE(logs("ann SPEAK /v1/realtime 200"));
  EXPECT_TRUE(logs("ann HEAR /v1/realtime 200"));
  constexpr double kByte_s = 1.0 / 48'000;  // two bytes a sample, 24,000 samples a second
  const double spoken_s = static_cast<double>(sound.size()) * kByte_s;
  EXPECT_NEAR(metric(R"(mynah_audio_seconds_total{task="speak"})"), spoken_s, 0.1);
  EXPECT_GT(metric(R"(mynah_audio_seconds_total{task="hear"})"), 2.4 * spoken_s)
      << "once at 24,000 samples a second, once more at 16,000";
  EXPECT_GT(metric(R"(mynah_audio_work_seconds_total{task="hear"})"), 0);
  EXPECT_GE(metric(R"(mynah_requests_total{route="/v1/realtime",status="200"})"), 3);
  // What is being said stands in the queue, and what is cleared is forgotten.
  append(client, sound);
  client.send(R"({"type": "conversation.item.retrieve", "item_id": "x", "event_id": "sync"})");
  until(client, "error");
  const std::string queue = get("/v1/queue", "ann's");
  EXPECT_THAT(queue, HasSubstr(R"("task":"hear","state":"running")"));
  client.send(R"({"type": "input_audio_buffer.clear"})");
  until(client, "input_audio_buffer.cleared");
  EXPECT_EQ(ask(client, R"({"type": "input_audio_buffer.commit"})")["error"]["code"],
            "input_audio_buffer_commit_empty");
}

TEST_F(RealtimeServer, AKeysShareOfSoundHoldsWithinASocket) {
  SocketClient client = this->client("", "", "brief's");
  next(client);
  EXPECT_GT(speak(client, "One two three four five six seven.").size(), 48'000U)
      << "what is longer than the share is spoken";
  const Json limits = next(client);
  EXPECT_EQ(limits["type"], "rate_limits.updated");
  ASSERT_EQ(limits["rate_limits"].size(), 1U);
  EXPECT_EQ(limits["rate_limits"][0]["name"], "tokens");
  EXPECT_EQ(limits["rate_limits"][0]["limit"], 20) << "of a second of sound, as usage has them";
  EXPECT_EQ(limits["rate_limits"][0]["remaining"], 0);
  EXPECT_GT(limits["rate_limits"][0]["reset_seconds"].get<double>(), 60);
  for (
      const char* event :
      {R"({"type": "input_audio_buffer.append", "audio": "AAAA"})",
       R"({"type": "response.create", "response": {"input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]}], "instructions": ""}})"}) {
    EXPECT_EQ(ask(client, event)["error"]["code"], "rate_limit_exceeded");
  }
  // It is said once of sound, which comes in pieces.
  client.send(R"({"type": "input_audio_buffer.append", "audio": "AAAA"})");
  EXPECT_EQ(ask(client, R"({"type": "input_audio_buffer.clear"})")["type"],
            "input_audio_buffer.cleared");
}

TEST_F(RealtimeServer, RepliesCanBeInterruptedAndTruncated) {
  SocketClient client = this->client();
  next(client);
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += "One two three. ";
  }
  client.send(Json{{"type", "conversation.item.create"},
                   {"item",
                    {{"type", "message"},
                     {"role", "assistant"},
                     {"content", {{{"type", "output_text"}, {"text", text}}}}}}}
                  .dump());
  until(client, "conversation.item.done");
  client.send(R"({"type": "response.create", "response": {"conversation": "auto"}})");
  const Json first = until(client, "response.output_audio.delta").back();
  client.send(R"({"type": "response.create", "event_id": "again"})");
  client.send(R"({"type": "response.cancel"})");
  client.send(fmt::format(
      R"({{"type": "conversation.item.truncate", "item_id": "{}", "content_index": 0, "audio_end_ms": 50}})",
      first["item_id"].get<std::string>()));
  bool refused = false;
  bool truncated = false;
  Json event;
  do {
    event = next(client);
    refused = refused || (event["type"] == "error" && event["error"]["event_id"] == "again");
    truncated = truncated || event["type"] == "conversation.item.truncated";
  } while (event["type"] != "response.done");
  EXPECT_TRUE(refused);
  EXPECT_EQ(event["response"]["status"], "cancelled");
  EXPECT_EQ(event["response"]["status_details"]["reason"], "client_cancelled");
  if (!truncated) {
    until(client, "conversation.item.truncated");
  }
  const Json kept =
      ask(client, fmt::format(R"({{"type": "conversation.item.retrieve", "item_id": "{}"}})",
                              first["item_id"].get<std::string>()));
  EXPECT_EQ(kept["item"]["content"][0]["transcript"], "");
  EXPECT_EQ(kept["item"]["status"], "incomplete");
}

TEST_F(RealtimeServer, AClearedOutputEndsWhatIsSpoken) {
  SocketClient client = this->client();
  next(client);
  EXPECT_EQ(ask(client, R"({"type": "output_audio_buffer.clear"})")["response_id"], nullptr);
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += "One two three. ";
  }
  client.send(Json{{"type", "response.create"},
                   {"response",
                    {{"input",
                      {{{"type", "message"},
                        {"role", "user"},
                        {"content", {{{"type", "input_text"}, {"text", text}}}}}}},
                     {"instructions", ""}}}}
                  .dump());
  const Json first = until(client, "response.output_audio.delta").back();
  client.send(R"({"type": "output_audio_buffer.clear"})");
  EXPECT_EQ(until(client, "output_audio_buffer.cleared").back()["response_id"],
            first["response_id"]);
  EXPECT_EQ(until(client, "response.done").back()["response"]["status"], "cancelled");
}

TEST_F(RealtimeServer, ClientsOfTheBetaAreToldItsNames) {
  SocketClient client = this->client("?intent=transcription", "OpenAI-Beta: realtime=v1\r\n");
  EXPECT_EQ(next(client)["type"], "transcription_session.created");
  const Json updated = ask(
      client,
      R"({"type": "transcription_session.update", "session": {"input_audio_format": "g711_ulaw"}})");
  EXPECT_EQ(updated["type"], "transcription_session.updated");
  EXPECT_EQ(updated["session"]["input_audio_format"], "g711_ulaw");
  EXPECT_THAT(ask(client, R"({"type": "response.create"})")["error"]["message"].get<std::string>(),
              HasSubstr("transcription"));
  SocketClient talking = this->client("", "OpenAI-Beta: realtime=v1\r\n");
  EXPECT_EQ(next(talking)["type"], "session.created");
  talking.send(
      R"({"type": "response.create", "response": {"modalities": ["text"], "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]}]}})");
  const auto events = until(talking, "response.done");
  const auto has = [&events](std::string_view type) {
    return std::ranges::any_of(events, [type](const Json& one) { return one["type"] == type; });
  };
  EXPECT_TRUE(has("conversation.item.created"));
  EXPECT_TRUE(has("response.text.delta"));
  EXPECT_FALSE(has("conversation.item.done"));
}

TEST_F(RealtimeServer, ThoseWhoLeaveFreeTheirWork) {
  {
    SocketClient client = this->client();
    next(client);
    const std::string sound = speak(client, "One two three four five six seven.");
    append(client, sound + sound + sound);
    client.send(R"({"type": "conversation.item.retrieve", "item_id": "x"})");
    until(client, "error");
    client.client().abort();
  }
  EXPECT_TRUE(logs("ann HEAR /v1/realtime 0 left"));
  // The server comes to its end, which waits for all work.
  thread_ = {};
}

}  // namespace
}  // namespace mynah::server
