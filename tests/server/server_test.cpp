// A server with what needs no weights: the built-in recogniser and voice.
#include "server/server.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/whole_server.h"

namespace mynah::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using WholeServer = test::WholeServer;
using Json = nlohmann::json;

TEST_F(WholeServer, LetsOthersInWithAKeyOnly) {
  ServerOptions wide = options();
  wide.network.host = "0.0.0.0";
  const auto refused = Server::create(wide, surroundings());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Usage);
  EXPECT_THAT(refused.error().message, HasSubstr("mynah keys add"));
  wide.open = true;
  EXPECT_TRUE(Server::create(wide, surroundings()));
  wide.open = false;
  wide.keys.secrets = {"k"};
  EXPECT_TRUE(Server::create(wide, surroundings()));
}

TEST_F(WholeServer, DoesNotStartWithAFileThatIsNoModel) {
  mynah::test::write_file(folder_ / "words.txt", "no model");
  const auto refusal = [this](const ServerOptions& options) {
    const auto server = Server::create(options, surroundings());
    EXPECT_FALSE(server);
    return server ? Error{ErrorCode::Io, "it started"} : server.error();
  };
  ServerOptions writes = options();
  writes.service.chat_model = folder_ / "words.txt";
  EXPECT_EQ(refusal(writes).code, ErrorCode::Usage);
  EXPECT_THAT(refusal(writes).message, StartsWith("--chat-model: "));
  ServerOptions embeds = options();
  embeds.service.embedding_model = folder_ / "words.txt";
  EXPECT_EQ(refusal(embeds).code, ErrorCode::Usage);
  EXPECT_THAT(refusal(embeds).message, StartsWith("--embedding-model: "));
}

TEST_F(WholeServer, AnAliasOfOpenAisNamesAModelOfItsKind) {
  StoredModel model;
  model.name = "vectors";
  model.family = "embedding";
  model.created = "2026-01-01T00:00:00Z";
  model.folder = folder_ / "home/models/vectors";
  model.sha256 = std::string(64, '0');
  mynah::test::write_file(model.path(), "no weights");
  ASSERT_TRUE(write_source_json(model));
  ServerOptions aliased = options();
  aliased.service.aliases = {{.name = "text-embedding-3-small", .model = "vectors"}};
  EXPECT_TRUE(Server::create(aliased, surroundings()));
  aliased.service.aliases = {{.name = "gpt-4o", .model = "vectors"}};
  const auto refused = Server::create(aliased, surroundings());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Usage);
  EXPECT_THAT(refused.error().message, HasSubstr("--alias gpt-4o=vectors: wanted a model of the "
                                                 "kind 'language model'"));
}

TEST_F(WholeServer, AKeyHasRightsAndLimits) {
  Key key{.name = "kitchen",
          .digest = digest_of_key("secret"),
          .rights = {Right::Speak},
          .limits = {.requests = 2, .audio_s = 0, .at_once = 0},
          .made = {}};
  ServerOptions locked = options();
  locked.keys.file = folder_ / "keys.json";
  ASSERT_TRUE(write_keys(locked.keys.file, {&key, 1}));
  serve(locked);
  const std::string with_key = "Authorization: Bearer secret\r\n";
  const std::string words = R"({"input": "One.", "voice": "slt", "response_format": "pcm"})";
  EXPECT_THAT(post("/v1/audio/speech", words), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(post("/v1/audio/speech", words, with_key), StartsWith("HTTP/1.1 200"));
  const std::string refused = post("/v1/audio/transcriptions", "", with_key);
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(refused, HasSubstr("this wants hear"));
  EXPECT_THAT(post("/v1/audio/speech", words, with_key), StartsWith("HTTP/1.1 200"));
  const std::string later = post("/v1/audio/speech", words, with_key);
  EXPECT_THAT(later, StartsWith("HTTP/1.1 429"));
  EXPECT_THAT(later, HasSubstr("retry-after-ms: 2"));
  EXPECT_THAT(later, HasSubstr("rate_limit_error"));
}

TEST_F(WholeServer, SpeaksAndSaysWhoDid) {
  serve(options());
  const std::string whole = post(
      "/v1/audio/speech", R"({"input": "One two.", "voice": "alloy", "response_format": "pcm"})");
  EXPECT_THAT(whole, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: audio/pcm;rate=24000"));
  EXPECT_THAT(whole, HasSubstr("X-Mynah-Model: builtin\r\n"));
  EXPECT_THAT(whole, HasSubstr("X-Mynah-Device: tts=cpu\r\n"));
  EXPECT_THAT(whole, HasSubstr("Server-Timing: first-sound;dur="));
  EXPECT_GT(whole.size(), 20'000U);
  const std::string events = post(
      "/v1/audio/speech",
      R"({"input": "One two.", "voice": {"id": "slt"}, "stream_format": "sse", "instructions": "x"})");
  EXPECT_THAT(events, HasSubstr("Content-Type: text/event-stream"));
  EXPECT_THAT(events, HasSubstr("X-Mynah-Ignored: instructions"));
  EXPECT_THAT(events, HasSubstr(R"(data: {"type":"speech.audio.delta","audio":")"));
  EXPECT_THAT(events, HasSubstr(R"(data: {"type":"speech.audio.done","usage":{)"));
  for (const auto& [body, wrong] :
       {std::pair(R"({"input": "a", "voice": "nobody"})", "'nobody'"),
        std::pair(R"({"input": " "})", "input: wanted a text"),
        std::pair(R"({"input": "...", "voice": "slt"})", "nothing in it"),
        std::pair(R"({"input": "a", "speed": 9})", "speed: wanted"),
        std::pair(R"({"input": "a", "voice": "a.pt"})", "the file"),
        std::pair(R"({"input": "a", "voice": 5})", "voice: wanted text"),
        std::pair(R"({"input": "a", "response_format": "ogg"})", "wanted mp3"),
        std::pair("[]", "wanted a JSON object with input"),
        std::pair("", "wanted a JSON object with input, found none"),
        std::pair(R"({"input": "a",})", "found what is no JSON near byte 15 of 15")}) {
    const std::string refused = post("/v1/audio/speech", body);
    EXPECT_THAT(refused, StartsWith("HTTP/1.1 40")) << body;
    EXPECT_THAT(refused, HasSubstr(wrong));
    EXPECT_THAT(refused, HasSubstr("x-should-retry: false"));
  }
}

TEST_F(WholeServer, SpeaksByTheModelThatIsNamed) {
  serve(options());
  const auto said = [this](const std::string& more) {
    return post("/v1/audio/speech", R"({"input": "One.", "response_format": "pcm")" + more + "}");
  };
  const std::string named = said(R"(, "model": "builtin", "voice": "alloy")");
  EXPECT_THAT(named, HasSubstr("X-Mynah-Model: builtin\r\n"));
  EXPECT_THAT(named, Not(HasSubstr("X-Mynah-Ignored")));
  EXPECT_THAT(said(R"(, "model": "tts-1")"), Not(HasSubstr("X-Mynah-Ignored")));
  EXPECT_THAT(said(R"(, "model": "nosuch")"), HasSubstr("X-Mynah-Ignored: model\r\n"));
  EXPECT_THAT(said(R"(, "model": "../x")"), HasSubstr("found the path"));
  EXPECT_THAT(said(R"(, "voice": "af_heart")"), StartsWith("HTTP/1.1 200"))
      << "a voice of Kokoro's, as OpenAI's are";
  EXPECT_THAT(said(R"(, "voice": "af_hart")"), StartsWith("HTTP/1.1 404"));
}

TEST_F(WholeServer, StrictNamesAreThoseOfSpeechToo) {
  ServerOptions strict = options();
  strict.service.strict = true;
  strict.service.aliases = {{.name = "mine", .model = "builtin"}, {.name = "ann", .model = "rms"}};
  serve(std::move(strict));
  const auto said = [this](const std::string& more) {
    return post("/v1/audio/speech", R"({"input": "One.", "response_format": "pcm", )" + more + "}");
  };
  const std::string refused = said(R"("model": "nosuch")");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(refused, HasSubstr(R"("param":"model","code":"model_not_found")"));
  for (const char* known : {"mine", "tts-1", "kokoro", "builtin"}) {
    EXPECT_THAT(said(fmt::format(R"("model": "{}")", known)), StartsWith("HTTP/1.1 200")) << known;
  }
  EXPECT_THAT(said(R"("voice": "ann")"), HasSubstr("X-Mynah-Voice: rms\r\n"));
}

TEST_F(WholeServer, NamesWhatItPassesOver) {
  serve(options());
  const std::string spoken = post(
      "/v1/audio/speech?verbose=1",
      R"({"input": "One. [voice:nosuch] Two.", "respones_format": "pcm", "none": null, "a\r\nb": 1})");
  EXPECT_THAT(spoken, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(spoken,
              HasSubstr("X-Mynah-Ignored: verbose, respones_format, a??b, [voice:nosuch]\r\n"));
  const std::string wav = test::wav_of(std::string(32'000, '\0'));
  EXPECT_THAT(post_form("/v1/audio/transcriptions",
                        {{"respones_format", "srt"},
                         {"model", "nosuch"},
                         {"chunking_strategy[type]", "server_vad"},
                         {"timestamp_granularities[]", "word"},
                         {"keep_alive", "5m"},
                         {"none", ""}},
                        "file", wav),
              HasSubstr("X-Mynah-Ignored: respones_format, model\r\n"));
  EXPECT_THAT(post_form("/v1/jobs", {{"webhok", "http://a"}}, "file", wav),
              HasSubstr("X-Mynah-Ignored: webhok\r\n"));
  EXPECT_THAT(post_form("/asr?encode=false&outptu=srt", {}, "audio_file", wav),
              HasSubstr("X-Mynah-Ignored: outptu\r\n"));
}

TEST_F(WholeServer, ErrorsNameTheirField) {
  serve(options());
  const auto field = [](const std::string& answer) {
    return Json::parse(test::body_of(answer))["error"]["param"];
  };
  const std::string wav = test::wav_of(std::string(32'000, '\0'));
  EXPECT_EQ(field(post_form("/v1/audio/transcriptions", {{"language", "de"}}, "file", wav)),
            "language");
  EXPECT_EQ(field(post_form("/v1/audio/transcriptions", {{"language", "tlh"}}, "file", wav)),
            "language");
  EXPECT_TRUE(field(post_form("/v1/audio/translations", {}, "file", wav)).is_null())
      << "no language would mend that";
  EXPECT_EQ(field(post("/v1/audio/speech", R"({"input": "a", "voice": "slt", "lang_code": "de"})")),
            "lang_code");
  const std::string silent = post("/v1/audio/speech", R"({"input": "今日は", "voice": "slt"})");
  EXPECT_EQ(field(silent), "input");
  EXPECT_THAT(silent, HasSubstr("the voice slt speaks en-US and does not read Han"));
}

TEST_F(WholeServer, HearsInEveryWay) {
  serve(options());
  const std::string silence(32'000, '\0');  // a second, as samples without a header
  const std::string srt = post_form("/asr?output=srt&encode=false", {}, "audio_file", silence);
  EXPECT_THAT(srt, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/plain"));
  EXPECT_THAT(srt, HasSubstr("Asr-Engine: mynah"));
  EXPECT_THAT(post_form("/asr?output=html", {}, "audio_file", silence),
              HasSubstr(R"({"detail":"output: wanted)"));
  EXPECT_THAT(post_form("/detect-language?encode=false", {}, "audio_file", silence),
              HasSubstr("knows English only"));
  EXPECT_THAT(post_form("/inference", {}, "file", silence), HasSubstr(R"({"error":"a.raw )"));
  EXPECT_THAT(post_form("/inference", {{"response_format", "html"}}, "file", silence),
              HasSubstr(R"({"error":"response_format: wanted)"));
  EXPECT_THAT(post_form("/load", {{"model", "builtin"}}, "", ""), HasSubstr("Load was successful"));
  EXPECT_THAT(post_form("/load", {{"model", "/etc/passwd"}}, "", ""), HasSubstr("found the path"));

  const std::string wrong =
      post_form("/v1/audio/transcriptions", {{"model", "whisper-1"}}, "file", silence);
  EXPECT_THAT(wrong, StartsWith("HTTP/1.1 400 "));
  EXPECT_EQ(Json::parse(wrong.substr(wrong.find("\r\n\r\n")))["error"]["param"], "file");
  EXPECT_THAT(post_form("/v1/audio/transcriptions", {}, "", ""),
              HasSubstr("curl -F file=@talk.mp3"));
  EXPECT_THAT(post_form("/v1/audio/transcriptions", {{"response_format", "diarized_json"}}, "file",
                        silence),
              HasSubstr("not told apart yet"));
  EXPECT_THAT(post("/v1/audio/transcriptions", "{}"), HasSubstr("wanted a body of type multipart"));
  // The same as a file with a header.
  std::string wav = "RIFF" + std::string("\x24\x7D\0\0", 4) + "WAVEfmt " +
                    std::string("\x10\0\0\0\x01\0\x01\0\x80\x3E\0\0\0\x7D\0\0\x02\0\x10\0", 20) +
                    "data" + std::string("\0\x7D\0\0", 4) + silence;
  const std::string json = post_form("/v1/audio/transcriptions", {}, "file", wav);
  EXPECT_THAT(json, HasSubstr("X-Mynah-Model: builtin"));
  EXPECT_EQ(Json::parse(json.substr(json.find("\r\n\r\n")))["no_speech"], true);
  EXPECT_THAT(json, Not(HasSubstr("X-Mynah-Shared")));
  EXPECT_THAT(post_form("/v1/audio/transcriptions", {}, "file", wav),
              HasSubstr("X-Mynah-Shared: kept"));
  const std::string stream =
      post_form("/v1/audio/transcriptions", {{"stream", "true"}}, "file", wav);
  EXPECT_THAT(stream, Not(HasSubstr("X-Mynah-Shared")));
  EXPECT_THAT(stream, HasSubstr(R"(data: {"type":"transcript.text.done","text":"")"));
}

TEST_F(WholeServer, TellsWhatIsHere) {
  ServerOptions strict = options();
  strict.service.strict = true;
  strict.service.aliases = {{.name = "mine", .model = "builtin"}};
  serve(std::move(strict));
  EXPECT_THAT(get("/v1/models"), HasSubstr(R"("id":"builtin")"));
  EXPECT_THAT(get("/v1/models/none"), HasSubstr("model_not_found"));
  EXPECT_THAT(get("/v1/audio/voices"),
              HasSubstr(R"({"id":"slt","name":"slt","language":"en-US"})"));
  EXPECT_THAT(get("/v1/audio/voices?legacy=true"), HasSubstr(R"("slt")"));
  EXPECT_THAT(get("/v1/audio/models"), HasSubstr(R"({"models":[)"));
  EXPECT_THAT(get("/health"), HasSubstr(R"({"status":"ok"})"));
  EXPECT_THAT(get("/version"), HasSubstr(R"("name":"mynah")"));
  const std::string page = get("/");
  EXPECT_THAT(page, HasSubstr("Content-Security-Policy: default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("<title>mynah</title>"));
  EXPECT_THAT(get("/hear.js"), HasSubstr("text/javascript"));
  const std::string silence(32'000, '\0');
  EXPECT_THAT(post_form("/v1/audio/transcriptions", {{"model", "large-v9"}}, "file", silence),
              HasSubstr("there is no 'large-v9' here that hears"));
  for (const char* known : {"whisper-1", "mine"}) {
    EXPECT_THAT(post_form("/v1/audio/transcriptions", {{"model", known}}, "file", silence),
                Not(HasSubstr("there is no")));
  }
}

}  // namespace
}  // namespace mynah::server
