// A recogniser elsewhere.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audio/wav_header.h"
#include "talk/service_fixture.h"

namespace mynah::talk {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kJsonType = "Content-Type: application/json\r\n";

// The value of a form's field; "": it has none.
std::string field(const testing::ScriptedRequest& request, const std::string& name) {
  const size_t at = request.body.find("name=\"" + name + "\"");
  if (at == std::string::npos) {
    return {};
  }
  const size_t begin = request.body.find("\r\n\r\n", at) + 4;
  return request.body.substr(begin, request.body.find("\r\n--", begin) - begin);
}

class RemoteEar : public ServiceFixture {
 protected:
  // `answer`: to each turn, but the first, which is the trial's.
  void serve_texts(const testing::ScriptedHandler& answer) {
    serve([answer](const testing::ScriptedRequest& request, const testing::ScriptedWire& wire) {
      if (request.method == "GET") {
        wire.answer(200, kJsonType, R"({"data": [{"id": "llama"}, {"id": "whisper-large-v3"}]})");
        return true;
      }
      return answer(request, wire);
    });
  }

  Result<HeardText> hear(const HearWish& wish = {}, std::string_view path = "") {
    if (ear == nullptr) {
      auto opened = remote_ear(service("stt", path), hotwords, {});
      if (!opened) {
        return std::unexpected(opened.error());
      }
      ear = *std::move(opened);
    }
    const std::vector<float> turn(1600, 0.5F);
    return ear->hear(turn, wish, {});
  }

  std::vector<std::string> hotwords;
  std::unique_ptr<Ear> ear;
};

TEST_F(RemoteEar, SendsATurnAsAFile) {
  serve_texts([](const auto&, const auto& wire) {
    wire.answer(200, kJsonType, R"({"text": " Hello there. ", "language": "english"})");
    return true;
  });
  const auto heard = hear({.language = {}, .prompts = {"Ada", "Grace"}});
  ASSERT_TRUE(heard) << heard.error().message;
  EXPECT_EQ(heard->text, "Hello there.");
  EXPECT_EQ(heard->language, "en");
  EXPECT_EQ(ear->facts().model, "whisper-large-v3");
  const auto requests = server->requests();
  ASSERT_EQ(requests.size(), 3U) << "the list, the trial, the turn";
  EXPECT_EQ(requests[2].connection, 1) << "over the connection that is kept";
  EXPECT_EQ(requests[2].target, "/v1/audio/transcriptions");
  EXPECT_EQ(field(requests[2], "model"), "whisper-large-v3");
  EXPECT_EQ(field(requests[2], "response_format"), "verbose_json");
  EXPECT_EQ(field(requests[2], "prompt"), "Ada Grace");
  EXPECT_EQ(field(requests[2], "language"), "");
  const std::string wav = field(requests[2], "file");
  const WavProbe probe = probe_wav(std::as_bytes(std::span(wav)));
  ASSERT_EQ(probe.state, WavProbe::State::Found);
  EXPECT_EQ(probe.header.rate_hz, 16000);
  EXPECT_EQ(probe.header.sample_bytes, 3200);
  int16_t sample = 0;
  std::memcpy(&sample, wav.data() + probe.header.header_bytes, sizeof(sample));
  EXPECT_EQ(sample, 16384);
}

TEST_F(RemoteEar, TellsTheWordsOfALexiconInAPromptAsManyAsAreRead) {
  serve_texts([](const auto&, const auto& wire) {
    wire.answer(200, kJsonType, R"({"text": "Hello."})");
    return true;
  });
  hotwords = {"Kaito", "New York"};
  ASSERT_TRUE(hear({.language = {}, .prompts = {"Ada."}}));
  EXPECT_EQ(field(server->requests().back(), "prompt"), "Ada. Kaito, New York,");
  EXPECT_EQ(field(server->requests().back(), "hotwords"), "");
  ear = nullptr;
  hotwords.assign(10'000, "Siobhan");
  ASSERT_TRUE(hear());
  const std::string prompt = field(server->requests().back(), "prompt");
  EXPECT_EQ(words_in_prompt(hotwords), 66U) << "9 bytes each";
  EXPECT_EQ(prompt.size(), 66U * 9 - 1);
  EXPECT_EQ(words_in_prompt({}), 0U);
}

TEST_F(RemoteEar, TellsAMynahAllWords) {
  serve([](const testing::ScriptedRequest& request, const testing::ScriptedWire& wire) {
    wire.answer(
        200, std::string(kJsonType) + "Server: mynah/1\r\n",
        request.method == "GET"
            ? R"({"data": [{"id": "tiny.en", "owned_by": "mynah", "task": "transcription"}]})"
            : R"({"text": "Hello."})");
    return true;
  });
  hotwords.assign(1'000, "Siobhan");
  ASSERT_TRUE(hear());
  EXPECT_EQ(field(server->requests().back(), "hotwords").size(), 1'000U * 9 - 1);
  EXPECT_EQ(field(server->requests().back(), "prompt"), "");
}

TEST_F(RemoteEar, IsContentWithATextWhereThereIsNoMore) {
  serve_texts([](const auto& request, const auto& wire) {
    if (field(request, "response_format") != "json") {
      wire.answer(400, kJsonType,
                  R"({"error": {"message": "not compatible", "param": "response_format"}})");
    } else {
      wire.answer(200, kJsonType, R"({"text": "Hello."})");
    }
    return true;
  });
  const auto heard = hear({.language = "en"});
  ASSERT_TRUE(heard) << heard.error().message;
  EXPECT_EQ(heard->text, "Hello.");
  EXPECT_EQ(heard->language, "en");
  EXPECT_EQ(server->requests().size(), 4U) << "the trial found it";
}

TEST_F(RemoteEar, AsksWhisperCppForTheLanguage) {
  serve_texts([](const auto&, const auto& wire) {
    wire.answer(200, kJsonType, R"({"text": " [BLANK_AUDIO]\n"})");
    return true;
  });
  const auto heard = hear({}, "/inference");
  ASSERT_TRUE(heard) << heard.error().message;
  EXPECT_EQ(heard->text, "");
  EXPECT_EQ(server->requests().back().target, "/inference");
  EXPECT_EQ(field(server->requests().back(), "language"), "auto");
}

TEST_F(RemoteEar, ThatDiesInTheMiddleIsTold) {
  int turns = 0;
  serve_texts([&turns](const auto&, const auto& wire) {
    if (++turns > 1) {
      return wire.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"text\": \"Hel") && false;
    }
    wire.answer(200, kJsonType, R"({"text": ""})");
    return true;
  });
  key = "sk-secret-1";
  const auto heard = hear();
  ASSERT_FALSE(heard);
  EXPECT_EQ(heard.error().code, ErrorCode::Io);
  EXPECT_THAT(heard.error().message, HasSubstr(server->url("/v1/audio/transcriptions")));
  EXPECT_THAT(heard.error().message, HasSubstr("the connection broke"));
  EXPECT_THAT(heard.error().message, Not(HasSubstr("sk-secret")));
  EXPECT_EQ(turns, 2) << "it is not asked again";
}

TEST_F(RemoteEar, AnAnswerThatIsNoTranscriptIsTold) {
  serve_texts([](const auto&, const auto& wire) {
    wire.answer(200, "Content-Type: text/html\r\n", "<html>Welcome</html>");
    return true;
  });
  const auto heard = hear();
  ASSERT_FALSE(heard);
  EXPECT_THAT(heard.error().message, HasSubstr("wanted a transcript, found a page of HTML"));
}

}  // namespace
}  // namespace mynah::talk
