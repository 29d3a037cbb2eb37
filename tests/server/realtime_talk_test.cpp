// Conversations by Realtime, whole: a tiny language model, the built-in recogniser and voice.
#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/chat_server.h"
#include "server/socket_client.h"
#include "store/base64.h"

namespace mynah::server {
namespace {

using test::OrderedJson;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Short replies, the same each time.
constexpr const char* kBrief =
    R"({"type": "session.update", "session": {"output_modalities": ["text"], "temperature": 0, "max_output_tokens": 12}})";
constexpr const char* kHello =
    R"({"type": "conversation.item.create", "item": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]}})";

class RealtimeTalk : public test::ChatServer {
 protected:
  test::SocketClient talk(const std::string& query = "?model=gpt-realtime",
                          const std::string& more = {}) {
    test::SocketClient client(server_->addresses().front(), "/v1/realtime" + query, more);
    EXPECT_THAT(client.head(), StartsWith("HTTP/1.1 101 "));
    return client;
  }

  static OrderedJson next(test::SocketClient& client) {
    return OrderedJson::parse(client.text(), nullptr, false);
  }

  // Events up to the first of that type.
  static std::vector<OrderedJson> until(test::SocketClient& client, const std::string& type) {
    std::vector<OrderedJson> events;
    do {
      events.push_back(next(client));
      if (!events.back().is_object() || (events.back()["type"] == "error" && type != "error")) {
        ADD_FAILURE() << "wanted " << type << ", found " << events.back();
        break;
      }
    } while (events.back()["type"] != type);
    return events;
  }

  // Their types, those in a row once.
  static std::vector<std::string> types(const std::vector<OrderedJson>& events) {
    std::vector<std::string> all;
    for (const OrderedJson& event : events) {
      if (const std::string type = event["type"]; all.empty() || all.back() != type) {
        all.push_back(type);
      }
    }
    return all;
  }

  static std::string joined(const std::vector<OrderedJson>& events, std::string_view type,
                            const char* field = "delta") {
    std::string all;
    for (const OrderedJson& event : events) {
      all += event["type"] == type ? event[field].get<std::string>() : "";
    }
    return all;
  }

  static OrderedJson respond(test::SocketClient& client, const std::string& response = "{}") {
    client.send(fmt::format(R"({{"type": "response.create", "response": {}}})", response));
    return until(client, "response.done").back()["response"];
  }

  static OrderedJson kept(test::SocketClient& client, const std::string& id) {
    client.send(fmt::format(R"({{"type": "conversation.item.retrieve", "item_id": "{}"}})", id));
    return until(client, "conversation.item.retrieved").back()["item"];
  }

  // The sound of a text that is given; `item`: that it is.
  static std::string spoken(test::SocketClient& client, const std::string& text,
                            std::string* item = nullptr) {
    client.send(
        R"({"type": "session.update", "session": {"model": "none", "output_modalities": ["audio"]}})");
    client.send(OrderedJson{{"type", "response.create"},
                            {"response",
                             {{"conversation", item == nullptr ? "none" : "auto"},
                              {"input",
                               {{{"type", "message"},
                                 {"role", "assistant"},
                                 {"content", {{{"type", "output_text"}, {"text", text}}}}}}}}}}
                    .dump());
    std::string sound;
    for (const OrderedJson& event : until(client, "response.done")) {
      if (event["type"] == "response.output_audio.delta") {
        sound += bytes_of_base64(event["delta"].get<std::string>()).value_or("");
        if (item != nullptr) {
          *item = event["item_id"];
        }
      }
    }
    return sound;
  }

  static void append(test::SocketClient& client, std::string_view sound) {
    constexpr size_t kPiece = 9600;
    for (; !sound.empty(); sound.remove_prefix(std::min(sound.size(), kPiece))) {
      client.send(fmt::format(R"({{"type": "input_audio_buffer.append", "audio": "{}"}})",
                              base64(std::as_bytes(std::span(sound.substr(0, kPiece))))));
    }
  }
};

TEST_F(RealtimeTalk, ATextIsToldInOrder) {
  serve(chat_options());
  test::SocketClient client = talk();
  const OrderedJson session = next(client)["session"];
  EXPECT_EQ(session["audio"]["input"]["turn_detection"]["create_response"], true);
  EXPECT_THAT(session["instructions"].get<std::string>(), HasSubstr("out loud"));
  EXPECT_FALSE(session.contains("note"));
  client.send(kBrief);
  client.send(kHello);
  const std::string user = until(client, "conversation.item.done").back()["item"]["id"];
  client.send(R"({"type": "response.create", "response": {"metadata": {"a": "b"}}})");
  const auto events = until(client, "response.done");
  EXPECT_THAT(types(events), ElementsAre("response.created", "response.output_item.added",
                                         "conversation.item.added", "response.content_part.added",
                                         "response.output_text.delta", "response.output_text.done",
                                         "response.content_part.done", "response.output_item.done",
                                         "conversation.item.done", "response.done"));
  EXPECT_EQ(events.front()["response"]["status"], "in_progress");
  EXPECT_EQ(events[2]["previous_item_id"], user);
  const OrderedJson& response = events.back()["response"];
  EXPECT_EQ(response["metadata"], (OrderedJson{{"a", "b"}}));
  EXPECT_EQ(response["status"], "incomplete") << "it had twelve tokens";
  EXPECT_EQ(response["status_details"]["reason"], "max_output_tokens");
  EXPECT_EQ(response["usage"]["output_token_details"]["text_tokens"], 12);
  EXPECT_GT(response["usage"]["input_tokens"], 10);
  EXPECT_EQ(response["output"].size(), 1U);
  const std::string text = joined(events, "response.output_text.delta");
  EXPECT_EQ(response["output"][0]["content"][0]["text"], text);
  EXPECT_EQ(kept(client, response["output"][0]["id"])["content"][0]["text"], text);
  // The next one is not read anew.
  EXPECT_GT(respond(client)["usage"]["input_token_details"]["cached_tokens"], 10);
}

TEST_F(RealtimeTalk, SoundIsToldInOrder) {
  serve(chat_options());
  test::SocketClient client = talk();
  client.send(kBrief);
  client.send(kHello);
  until(client, "conversation.item.done");
  client.send(R"({"type": "response.create", "response": {"output_modalities": ["audio"]}})");
  const auto events = until(client, "response.done");
  auto told = types(events);
  // Text and sound come in turns.
  std::erase(told, "response.output_audio.delta");
  EXPECT_EQ(std::ranges::count(told, "response.output_audio_transcript.delta"), 1);
  EXPECT_THAT(
      told, ElementsAre("response.created", "response.output_item.added", "conversation.item.added",
                        "response.content_part.added", "response.output_audio_transcript.delta",
                        "response.output_audio.done", "response.output_audio_transcript.done",
                        "response.content_part.done", "response.output_item.done",
                        "conversation.item.done", "response.done"));
  const OrderedJson& response = events.back()["response"];
  EXPECT_EQ(response["output_modalities"], OrderedJson::array({"audio"}));
  EXPECT_EQ(response["output"][0]["content"][0]["transcript"],
            joined(events, "response.output_audio_transcript.delta"));
}

TEST_F(RealtimeTalk, FunctionsAreCalledAndAnswered) {
  serve(chat_options());
  test::SocketClient client = talk();
  client.send(
      R"({"type": "session.update", "session": {"output_modalities": ["text"], "temperature": 0, "instructions": "Act.", "tool_choice": "required",
    "tools": [{"type": "function", "name": "turn_on", "parameters": {"type": "object",
      "properties": {"lamp": {"const": "hall"}}, "required": ["lamp"], "additionalProperties": false}}]}})");
  client.send(kHello);
  until(client, "conversation.item.done");
  client.send(R"({"type": "response.create"})");
  const auto events = until(client, "response.done");
  EXPECT_THAT(
      types(events),
      ElementsAre("response.created", "response.output_item.added", "conversation.item.added",
                  "response.function_call_arguments.delta", "response.function_call_arguments.done",
                  "response.output_item.done", "conversation.item.done", "response.done"));
  const OrderedJson& item = events.back()["response"]["output"][0];
  EXPECT_EQ(item["type"], "function_call");
  EXPECT_EQ(item["name"], "turn_on");
  EXPECT_EQ(OrderedJson::parse(item["arguments"].get<std::string>()),
            (OrderedJson{{"lamp", "hall"}}));
  EXPECT_EQ(item["arguments"], joined(events, "response.function_call_arguments.delta"));
  const OrderedJson& done = events[events.size() - 4];
  EXPECT_EQ(done["call_id"], item["call_id"]);
  EXPECT_EQ(done["name"], "turn_on");
  client.send(OrderedJson{
      {"type", "conversation.item.create"},
      {"item",
       {{"type", "function_call_output"}, {"call_id", item["call_id"]}, {"output", "It is on."}}}}
                  .dump());
  until(client, "conversation.item.done");
  const OrderedJson answer = respond(client, R"({"tool_choice": "none", "max_output_tokens": 5})");
  EXPECT_EQ(answer["output"][0]["type"], "message");
}

TEST_F(RealtimeTalk, OneIsForTheConversationOthersAreAside) {
  serve(chat_options());
  test::SocketClient client = talk();
  client.send(
      R"({"type": "session.update", "session": {"output_modalities": ["text"], "temperature": 0}})");
  client.send(kHello);
  until(client, "conversation.item.done");
  // All at once: the first is not over before the others are read.
  client.send(R"({"type": "response.create"})");
  client.send(R"({"type": "response.create", "event_id": "again"})");
  client.send(
      R"({"type": "response.create", "response": {"conversation": "none", "input": [], "max_output_tokens": 3, "metadata": {"topic": "aside"}}})");
  client.send(R"({"type": "response.cancel"})");
  const std::string first = until(client, "response.created").back()["response"]["id"];
  bool refused = false;
  std::vector<OrderedJson> done;
  while (done.size() < 2) {
    const OrderedJson event = next(client);
    ASSERT_TRUE(event.is_object());
    if (event["type"] == "error") {
      EXPECT_EQ(event["error"]["event_id"], "again") << event;
      EXPECT_EQ(event["error"]["code"], "conversation_already_has_active_response");
      refused = true;
    } else if (event["type"] == "response.done") {
      done.push_back(event["response"]);
    }
  }
  EXPECT_TRUE(refused);
  std::ranges::sort(done, {}, [&first](const OrderedJson& one) { return one["id"] != first; });
  EXPECT_EQ(done[0]["id"], first);
  EXPECT_NE(done[0]["status"], "failed");
  EXPECT_EQ(done[1]["conversation_id"], nullptr);
  EXPECT_EQ(done[1]["metadata"]["topic"], "aside");
  // What was said aside is not kept.
  client.send(fmt::format(R"({{"type": "conversation.item.retrieve", "item_id": "{}"}})",
                          done[1]["output"][0]["id"].get<std::string>()));
  EXPECT_EQ(until(client, "error").back()["error"]["code"], "item_retrieve_invalid_item_id");
}

TEST_F(RealtimeTalk, TheEndOfATurnHasAReplyWhichAVoiceCancels) {
  serve(chat_options());
  test::SocketClient client = talk();
  const std::string sound = spoken(client, "Good morning.") + std::string(48'000, '\0');
  client.send(
      R"({"type": "session.update", "session": {"model": "auto", "output_modalities": ["text"], "temperature": 0}})");
  until(client, "session.updated");
  append(client, sound);
  auto events = until(client, "response.output_item.added");
  const auto at = [&events](std::string_view type) {
    return std::ranges::find(
               events, type,
               [](const OrderedJson& one) { return one["type"].get<std::string>(); }) -
           events.begin();
  };
  EXPECT_LT(at("input_audio_buffer.committed"),
            at("conversation.item.input_audio_transcription.completed"));
  EXPECT_LT(at("conversation.item.input_audio_transcription.completed"), at("response.created"));
  // It goes on for hundreds of tokens, unless somebody speaks.
  append(client, sound);
  const OrderedJson ended = until(client, "response.done").back()["response"];
  if (ended["status"] == "cancelled") {
    EXPECT_EQ(ended["status_details"]["reason"], "turn_detected");
  } else {
    EXPECT_EQ(ended["status"], "incomplete") << "it had written all before the voice was heard";
  }
  // That turn has its own reply.
  EXPECT_NE(until(client, "response.created").back()["response"]["id"], ended["id"]);
}

TEST_F(RealtimeTalk, ASessionOfTranscriptionHasNoReplies) {
  serve(chat_options());
  test::SocketClient speaker = talk();
  const std::string sound = spoken(speaker, "Good morning.") + std::string(48'000, '\0');
  test::SocketClient client = talk("?intent=transcription&model=whisper-1");
  append(client, sound);
  OrderedJson heard;
  do {  // the voice's own onset may be a turn without a word
    heard = until(client, "conversation.item.input_audio_transcription.completed").back();
  } while (heard["transcript"] == "");
  // What the end of the turn had told would stand before this.
  const OrderedJson item = kept(client, heard["item_id"]);
  EXPECT_EQ(item["content"][0]["transcript"], heard["transcript"]);
}

TEST_F(RealtimeTalk, ACommitOfTheClientsHasTheReplyThatItAsksFor) {
  serve(chat_options());
  test::SocketClient client = talk();
  const std::string sound = spoken(client, "Good morning.");
  client.send(
      R"({"type": "session.update", "session": {"model": "auto", "output_modalities": ["text"], "temperature": 0, "max_output_tokens": 3,
                  "audio": {"input": {"turn_detection": null}}}})");
  until(client, "session.updated");
  append(client, sound);
  // At once: the response waits for what was said.
  client.send(R"({"type": "input_audio_buffer.commit"})");
  client.send(R"({"type": "response.create"})");
  const auto events = until(client, "response.done");
  EXPECT_EQ(std::ranges::count(events, "response.created",
                               [](const OrderedJson& one) { return one["type"]; }),
            1);
  const auto told = types(events);
  const auto place = [&told](std::string_view type) { return std::ranges::find(told, type); };
  EXPECT_LT(place("response.created"), place("response.output_item.added"));
  EXPECT_LT(place("conversation.item.input_audio_transcription.completed"),
            place("response.output_item.added"));
  // One that waits can be cancelled.
  append(client, sound);
  client.send(R"({"type": "input_audio_buffer.commit"})");
  client.send(R"({"type": "response.create"})");
  client.send(R"({"type": "response.cancel"})");
  EXPECT_EQ(until(client, "response.done").back()["response"]["status"], "cancelled");
}

TEST_F(RealtimeTalk, WhatIsTruncatedEndsWithAWordThatWasPlayed) {
  serve(chat_options());
  test::SocketClient client = talk();
  const std::string text = "One two three four five six seven.";
  std::string item;
  const std::string sound = spoken(client, text, &item);
  constexpr size_t kByte_ms = 48;
  client.send(fmt::format(
      R"({{"type": "conversation.item.truncate", "item_id": "{}", "content_index": 0, "audio_end_ms": {}}})",
      item, sound.size() / kByte_ms / 2));
  until(client, "conversation.item.truncated");
  const std::string left = kept(client, item)["content"][0]["transcript"];
  EXPECT_THAT(text, StartsWith(left));
  EXPECT_THAT(left, StartsWith("One two"));
  EXPECT_LT(left.size(), text.find(" seven"));
}

TEST_F(RealtimeTalk, SilenceIsAnsweredWhereItIsWaitedFor) {
  serve(chat_options());
  test::SocketClient client = talk();
  client.send(kBrief);
  client.send(
      R"({"type": "session.update", "session": {"audio": {"input": {"turn_detection": {"type": "server_vad", "idle_timeout_ms": 500}}}}})");
  client.send(kHello);
  client.send(R"({"type": "response.create"})");
  until(client, "response.done");
  append(client, std::string(96'000, '\0'));
  const auto events = until(client, "response.done");
  EXPECT_THAT(types(events),
              ::testing::IsSupersetOf({"input_audio_buffer.timeout_triggered",
                                       "input_audio_buffer.committed", "response.created"}));
}

TEST_F(RealtimeTalk, WithoutALanguageModelThatIsSaid) {
  serve(options());
  test::SocketClient client = talk();
  const OrderedJson session = next(client)["session"];
  EXPECT_EQ(session["audio"]["input"]["turn_detection"]["create_response"], false);
  EXPECT_THAT(session["note"].get<std::string>(), HasSubstr("no language model"));
}

TEST_F(RealtimeTalk, NothingIsPreparedWhereTurnsHaveNoReply) {
  serve(chat_options());
  test::SocketClient client = talk();
  const std::string sound = spoken(client, "Good morning.");
  client.send(
      R"({"type": "session.update", "session": {"model": "auto", "output_modalities": ["text"], "max_output_tokens": 3,
          "audio": {"input": {"turn_detection": {"type": "server_vad", "create_response": false}}}}})");
  until(client, "session.updated");
  append(client, sound + std::string(96'000, '\0'));
  until(client, "conversation.item.input_audio_transcription.completed");
  client.send(R"({"type": "response.create"})");
  const OrderedJson response = until(client, "response.done").back()["response"];
  EXPECT_FALSE(response.contains("mynah_prepared_ms"));
  EXPECT_THAT(get("/metrics"), HasSubstr("mynah_first_word_seconds_count 1\n"));
}

}  // namespace
}  // namespace mynah::server
