// What services answer in their own ways, and how they are reached.
#include "talk/organs/service_answers.h"

#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "talk/service_fixture.h"

namespace mynah::talk {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ServiceAddress, IsTheApisOrTheHostsOrARoutes) {
  struct Case {
    std::string_view text;
    std::string_view shown;
    std::string_view speech;  // where speech is asked for
    std::string_view models;
  };

  constexpr std::array<Case, 6> kCases = {
      {{"http://127.0.0.1:8080", "http://127.0.0.1:8080/v1", "/v1/audio/speech", "/v1/models"},
       {"http://localhost:11434/v1/", "http://localhost:11434/v1", "/v1/audio/speech",
        "/v1/models"},
       {"https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1", "/api/v1/audio/speech",
        "/api/v1/models"},
       {"http://box:8880/v1/audio/speech", "http://box:8880/v1/audio/speech", "/v1/audio/speech",
        "/v1/models"},
       {"http://box:8080/inference", "http://box:8080/inference", "/inference", "/models"},
       {"https://host/openai/v1?api-version=1", "https://host/openai/v1",
        "/openai/v1/audio/speech?api-version=1", "/openai/v1/models?api-version=1"}}};
  for (const Case& one : kCases) {
    const auto address = parse_service_address(one.text);
    ASSERT_TRUE(address) << one.text;
    EXPECT_EQ(address->text(), one.shown);
    EXPECT_EQ(address->target("/audio/speech"), one.speech);
    EXPECT_EQ(address->target("/models"), one.models);
  }
  EXPECT_FALSE(parse_service_address("localhost:8080"));
  const auto with_password = parse_service_address("http://me:secret@host");
  ASSERT_FALSE(with_password);
  EXPECT_THAT(with_password.error().message, HasSubstr("a key in a file"));
  EXPECT_TRUE(parse_service_address("http://127.0.0.1")->is_here());
  EXPECT_TRUE(parse_service_address("http://[::1]:80")->is_here());
  EXPECT_FALSE(parse_service_address("http://127.evil.example")->is_here());
}

TEST(ServiceAnswers, RefusalsOfEveryServer) {
  EXPECT_EQ(read_refusal(R"({"error": {"message": "no\nway", "code": "x"}})").message, "no way");
  EXPECT_EQ(read_refusal(R"({"error": "model not found"})").message, "model not found");
  EXPECT_EQ(read_refusal(R"({"detail": "Not Found"})").message, "Not Found");
  EXPECT_EQ(read_refusal("busy\x1b[2J").message, "busy [2J");
  EXPECT_EQ(read_refusal("<html><p>nginx</p></html>").message, "");
  const ServiceRefusal fields = read_refusal(
      R"({"detail": [{"loc": ["body", "voice"], "msg": "Field required"}, {"loc": []}]})");
  EXPECT_EQ(fields.message, "voice: Field required");
  EXPECT_THAT(fields.fields, ElementsAre("voice"));
}

TEST(ServiceAnswers, TheFieldAtFaultIsTheFirstThatIsQuoted) {
  constexpr auto kFields =
      std::to_array<std::string_view>({"max_completion_tokens", "max_tokens", "top_p", "stop"});
  const auto at_fault = [&](std::string message) {
    return refused_field({.message = std::move(message), .code = {}}, kFields).value_or("none");
  };
  EXPECT_EQ(at_fault("'max_tokens' is not supported: use 'max_completion_tokens'"), "max_tokens");
  EXPECT_EQ(at_fault("Unrecognized request argument supplied: top_p"), "top_p");
  EXPECT_EQ(at_fault("please stop"), "none");
  EXPECT_TRUE(is_too_long({.message = "maximum context length is 8192 tokens", .code = {}}));
  EXPECT_FALSE(is_too_long({.message = "the file is too long", .code = {}}));
}

TEST(ServiceAnswers, AModelIsChosenByItsTaskOrItsName) {
  const auto chosen = [](std::string_view list, ServedKind kind) {
    const auto models = read_models(list);
    return models ? choose_model(*models, kind) : models.error().message;
  };
  constexpr std::string_view kMany =
      R"({"data": [{"id": "nomic-embed-text"}, {"id": "Systran/faster-whisper-small"},
          {"id": "kokoro"}, {"id": "qwen3:8b"}, {"id": "gpt-4o-transcribe"}]})";
  EXPECT_EQ(chosen(kMany, ServedKind::Writes), "qwen3:8b");
  EXPECT_EQ(chosen(kMany, ServedKind::Hears), "Systran/faster-whisper-small");
  EXPECT_EQ(chosen(kMany, ServedKind::Speaks), "kokoro");
  constexpr std::string_view kTasks =
      R"([{"id": "a-whisper-that-writes", "task": "text-generation"},
          {"id": "b", "task": "automatic-speech-recognition"}])";
  EXPECT_EQ(chosen(kTasks, ServedKind::Writes), "a-whisper-that-writes");
  EXPECT_EQ(chosen(kTasks, ServedKind::Speaks), "");
  EXPECT_EQ(chosen(R"({"models": [{"name": "the-only-one"}]})", ServedKind::Hears), "the-only-one");
  EXPECT_THAT(chosen("{}", ServedKind::Hears), HasSubstr("wanted a list"));
}

TEST(ServiceAnswers, TranscriptsOfEveryServer) {
  const auto heard = [](std::string_view body, const HearWish& wish) {
    const auto read = read_transcript(body, wish);
    return read ? read->text + "|" + read->language : read.error().message;
  };
  EXPECT_EQ(heard(R"({"text": " Guten Tag.\n", "language": "german"})", {}), "Guten Tag.|de");
  EXPECT_EQ(heard(R"({"text": "Hi.", "languages": [{"code": "en"}]})", {}), "Hi.|en");
  EXPECT_EQ(heard(R"({"text": "Hi.", "language": "de"})", HearWish{.language = "en"}), "Hi.|en");
  EXPECT_EQ(heard("Just text.\n", {}), "Just text.|");
  EXPECT_EQ(heard(R"({"text": " [BLANK_AUDIO]"})", {}), "|");
  EXPECT_EQ(heard(R"x({"text": "(one) and (two)"})x", {}), "(one) and (two)|");
  constexpr std::string_view kDoubted =
      R"({"text": "Thank you.", "segments": [{"avg_logprob": -1.4, "no_speech_prob": 0.2}]})";
  EXPECT_EQ(heard(kDoubted, {.surely_speech = false}), "|");
  EXPECT_EQ(heard(kDoubted, {.surely_speech = true}), "Thank you.|");
  EXPECT_THAT(heard("<html>", {}), HasSubstr("a page of HTML"));
  EXPECT_THAT(heard(R"({"error": {"message": "no model"}})", {}), HasSubstr("no model"));
  EXPECT_THAT(heard("{", {}), HasSubstr("the transcript"));
}

class AService : public ServiceFixture {};

TEST_F(AService, ThatStallsIsWaitedForAsLongAsIsSaid) {
  serve([](const auto&, const auto& wire) {
    wire.wait_for_the_end();
    return false;
  });
  auto client = ServiceClient::create(service("stt"), std::chrono::milliseconds(50));
  ASSERT_TRUE(client);
  const auto models = (*client)->models({});
  ASSERT_FALSE(models);
  EXPECT_EQ(models.error().code, ErrorCode::Io);
  EXPECT_EQ(models.error().message, server->url("/v1/models") + ": no answer: no answer in time");
}

TEST_F(AService, ThatDripsIsNoAnswer) {
  serve([](const auto&, const auto& wire) {
    wire.begin("application/json");
    while (wire.chunk(" ")) {
    }
    return false;
  });
  auto client = ServiceClient::create(service("stt"), std::chrono::milliseconds(50));
  ASSERT_TRUE(client);
  const auto models = (*client)->models({});
  ASSERT_FALSE(models);
  EXPECT_THAT(models.error().message,
              ::testing::AnyOf(HasSubstr("does not come to its end"), HasSubstr("bytes at most")));
}

TEST_F(AService, ThatIsNotThereIsNamed) {
  serve([](const auto&, const auto&) { return false; });
  const Service gone = service("stt");
  server.reset();
  auto client = ServiceClient::create(gone, std::chrono::milliseconds(1000));
  const auto models = (*client)->models({});
  ASSERT_FALSE(models);
  EXPECT_EQ(models.error().code, ErrorCode::Environment);
  EXPECT_THAT(models.error().message, HasSubstr("cannot connect"));
}

}  // namespace
}  // namespace mynah::talk
