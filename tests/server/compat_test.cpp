// The interfaces of other servers: Kokoro-FastAPI's, piper's.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/whole_server.h"

namespace mynah::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

class OtherServers : public test::WholeServer {
 protected:
  // The object that is answered.
  [[nodiscard]] Json told(const std::string& path, const std::string& body) const {
    return Json::parse(test::body_of(post(path, body)), nullptr, false);
  }
};

TEST_F(OtherServers, CaptionsHaveEachWordsTime) {
  serve(options());
  const Json whole = told("/dev/captioned_speech",
                          R"({"input": "One two. Three four.", "voice": "slt", "stream": false,
                              "response_format": "wav"})");
  ASSERT_EQ(whole["timestamps"].size(), 4U);
  EXPECT_EQ(whole["timestamps"][0]["word"], "One");
  EXPECT_EQ(whole["timestamps"][3]["word"], "four.");
  EXPECT_EQ(whole["audio_format"], "audio/wav");
  EXPECT_THAT(whole["audio"].get<std::string>(), StartsWith("UklGR"));  // "RIFF"
  double before = 0;
  for (const Json& word : whole["timestamps"]) {
    EXPECT_LE(before, word["start_time"]);
    EXPECT_LT(word["start_time"], word["end_time"]);
    before = word["end_time"];
  }

  // Words that are said at once are one.
  const Json hour = told("/dev/captioned_speech",
                         R"({"input": "It is 5 pm now.", "voice": "slt", "stream": false})");
  ASSERT_EQ(hour["timestamps"].size(), 4U);
  EXPECT_EQ(hour["timestamps"][2]["word"], "5 pm");

  const std::string streamed =
      post("/dev/captioned_speech",
           R"({"input": "One two. Three four.", "voice": "slt", "response_format": "pcm"})");
  EXPECT_THAT(streamed, HasSubstr("Content-Type: application/x-ndjson"));
  EXPECT_THAT(streamed, HasSubstr(R"({"word":"One","start_time":)"));
  EXPECT_THAT(streamed, HasSubstr(R"("audio_format":"audio/pcm;rate=24000;channels=1")"));
  EXPECT_THAT(post("/dev/captioned_speech",
                   R"({"input": "One.", "stream": false, "return_timestamps": false})"),
              HasSubstr(R"("timestamps":null)"));
  EXPECT_THAT(post("/dev/captioned_speech", R"({"input": "One.", "voice": "nobody"})"),
              StartsWith("HTTP/1.1 404"));
}

TEST_F(OtherServers, SpeechTakesWhatKokorosClientsSend) {
  serve(options());
  const auto seconds = [&](const std::string& input) {
    const std::string sound = test::body_of(
        post("/v1/audio/speech",
             Json{{"input", input}, {"voice", "slt"}, {"response_format", "wav"}, {"stream", false}}
                 .dump()));
    EXPECT_THAT(sound, StartsWith("RIFF"));
    // Sizes that are true, as readers of whole files want them.
    const auto* const bytes = reinterpret_cast<const unsigned char*>(sound.data());
    EXPECT_EQ(bytes[4] | bytes[5] << 8U | bytes[6] << 16U | bytes[7] << 24U, sound.size() - 8);
    return static_cast<double>(sound.size()) / (2 * 16000);
  };
  const double plain = seconds("One two.");
  EXPECT_NEAR(seconds("One [pause:1.5s] two."), plain + 1.5, 0.9);
  const std::string told =
      post("/v1/audio/speech",
           R"({"input": "One [voice:/etc/passwd.pt] two.", "voice": "slt", "response_format": "wav",
          "normalization_options": {"normalize": false, "url_normalization": true},
          "return_download_link": true, "voice_aliases": {"x": "slt"}, "sample_rate": 8000})");
  EXPECT_THAT(told, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(told, HasSubstr("X-Mynah-Ignored: return_download_link, voice_aliases, "
                              "normalization_options, [voice:/etc/passwd.pt]\r\n"));
  for (const auto& [body, wrong] :
       {std::pair(R"({"input": "a", "stream": "no"})", "stream: wanted true or false"),
        std::pair(R"({"input": "a", "sample_rate": 8000.5})", "a whole number from 8000 to 48000"),
        std::pair(R"({"input": "a", "normalization_options": 1})", "wanted an object"),
        std::pair(R"({"input": "a", "stream_format": "x"})", "wanted audio or sse")}) {
    EXPECT_THAT(post("/v1/audio/speech", body), HasSubstr(wrong));
  }
  EXPECT_THAT(post("/v1/audio/voices/combine", R"(["a", "b"])"), HasSubstr("name the mix"));
  EXPECT_THAT(post("/dev/unload", ""), HasSubstr(R"({"status":"unloaded"})"));
}

TEST_F(OtherServers, DialogueIsOfOneModel) {
  serve(options());
  const std::string talk =
      post("/dev/dialogue",
           R"({"turns": [{"voice": "slt", "text": "One."}, {"voice_id": "rms", "text": "Two."}],
               "response_format": "pcm", "pause_between_turns": 0.5})");
  EXPECT_THAT(talk, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(talk, HasSubstr("X-Mynah-Voice: slt"));
  EXPECT_THAT(post("/dev/dialogue", R"({"turns": []})"), HasSubstr("turns: wanted a list"));
  EXPECT_THAT(post("/dev/dialogue", R"({"inputs": [{"voice": "slt", "text": " "}]})"),
              HasSubstr("inputs: wanted a voice and a text"));
  EXPECT_THAT(post("/dev/dialogue", R"({"turns": [{"voice": "nobody", "text": "a"}]})"),
              StartsWith("HTTP/1.1 404"));
}

TEST_F(OtherServers, PhonemesWantAVoiceThatReadsThem) {
  serve(options());
  EXPECT_THAT(post("/dev/phonemize", R"({"text": "One.", "language": "a"})"),
              HasSubstr("reads letters"));
  EXPECT_THAT(post("/dev/phonemize", R"({"language": "a"})"), HasSubstr("text: wanted a text"));
  EXPECT_THAT(post("/dev/generate_from_phonemes", R"({"phonemes": "w\u0028n", "voice": "slt"})"),
              StartsWith("HTTP/1.1 200 OK\r\nContent-Type: audio/wav"));
}

TEST_F(OtherServers, PiperTakesAnObjectOrAText) {
  serve(options());
  const std::string object =
      post("/", R"({"text": "One two.", "voice": "en_US-lessac-medium", "length_scale": 2})");
  EXPECT_THAT(object, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: audio/wav"));
  const std::string text = post("/synthesize", "One two.", {}, "text/plain");
  EXPECT_THAT(test::body_of(text), StartsWith("RIFF"));
  EXPECT_NEAR(static_cast<double>(object.size()) / static_cast<double>(text.size()), 2, 0.4);
  EXPECT_THAT(post("/", R"({"voice": "slt"})"), HasSubstr("text: wanted a text"));
  EXPECT_THAT(post("/", R"({"text": "a", "speaker_id": -1})"), HasSubstr("speaker_id: wanted"));
  EXPECT_THAT(get("/voices"), HasSubstr(R"("slt":{"language":{"code":"en_US"})"));
  EXPECT_THAT(get("/"), HasSubstr("<title>mynah</title>"));
}

TEST_F(OtherServers, GatewaysAreKeptWhereTheFormatAllows) {
  ServerOptions impatient = options();
  impatient.network.connection.times.silence = std::chrono::milliseconds(1);
  serve(std::move(impatient));
  const std::string minutes(size_t{120} * 32'000, '\0');  // which take more than that to look at
  for (const char* path : {"/inference", "/asr?output=json&encode=false"}) {
    const std::string field = path[1] == 'i' ? "file" : "audio_file";
    const std::string file = path[1] == 'i' ? test::wav_of(minutes) : minutes;
    const std::string answer = post_form(path, {}, field, file);
    EXPECT_THAT(answer, HasSubstr("Transfer-Encoding: chunked")) << path;
    EXPECT_THAT(test::body_of(answer), StartsWith("1\r\n \r\n")) << path;
    EXPECT_THAT(answer, HasSubstr("\"text\":")) << path;
  }
  EXPECT_THAT(post_form("/asr?output=srt&encode=false", {}, "audio_file", minutes),
              HasSubstr("Content-Length: "))
      << "a subtitle begins with its first letter";
  EXPECT_THAT(
      post_form("/v1/audio/transcriptions", {{"stream", "true"}}, "file", test::wav_of(minutes)),
      ::testing::AnyOf(HasSubstr(": running\n\n"), HasSubstr(": waiting, 1 of 1\n\n")));
}

TEST_F(OtherServers, OllamaIsToldWhatIsLoaded) {
  serve(options());
  EXPECT_EQ(Json::parse(test::body_of(get("/api/ps")))["models"].size(), 0U);
  EXPECT_THAT(post("/v1/models/builtin/load", ""), HasSubstr(R"("status":"loaded")"));
  const Json loaded = Json::parse(test::body_of(get("/api/ps")))["models"];
  ASSERT_GE(loaded.size(), 1U);
  EXPECT_EQ(loaded[0]["name"], "builtin");
  EXPECT_EQ(loaded[0]["size_vram"], 0);
  EXPECT_THAT(loaded[0]["expires_at"].get<std::string>(), HasSubstr("T"));
  EXPECT_THAT(post("/v1/models/builtin/load?keep_alive=-1", ""), HasSubstr("loaded"));
  const Json kept = Json::parse(test::body_of(get("/api/ps")))["models"];
  EXPECT_GT(kept[0]["expires_at"].get<std::string>(), "2300") << "for ever, as ollama says it";
  EXPECT_THAT(post("/v1/models/builtin/unload", ""), HasSubstr(R"("status":"unloaded")"));
  EXPECT_EQ(Json::parse(test::body_of(get("/api/ps")))["models"].size(), 0U);
  EXPECT_THAT(post("/v1/models/none/unload", ""), HasSubstr("model_not_found"));
  EXPECT_THAT(post("/v1/models/..x/unload", ""), StartsWith("HTTP/1.1 404"));
}

TEST_F(OtherServers, ModelsArePulledByTheirNamesAlone) {
  ServerOptions offline = options();
  offline.service.offline = true;
  serve(std::move(offline));
  for (const char* name : {"/etc/passwd", "https://example.com/x.gguf", "nobody/knows"}) {
    const std::string refused = post("/v1/models", Json{{"model", name}}.dump());
    EXPECT_THAT(refused, StartsWith("HTTP/1.1 404"));
    EXPECT_THAT(refused, HasSubstr("names alone"));
  }
  EXPECT_THAT(post("/v1/models", R"({"model": "tiny.en"})"), HasSubstr("--offline"));
  EXPECT_THAT(post("/v1/models/tiny.en", ""), HasSubstr("--offline"));
  EXPECT_THAT(get("/v1/registry"), HasSubstr(R"({"id":"tiny.en","object":"model")"));
  EXPECT_THAT(ask("DELETE /v1/models/tiny.en HTTP/1.1\r\nConnection: close\r\n\r\n"),
              HasSubstr("model_not_found"));
}

TEST_F(OtherServers, DescribeThemselves) {
  serve(options());
  const Json told = Json::parse(test::body_of(get("/openapi.json")));
  EXPECT_EQ(told["openapi"], "3.1.0");
  const Json speech = told["paths"]["/v1/audio/speech"]["post"];
  EXPECT_THAT(speech["description"].get<std::string>(), HasSubstr("speak"));
  const Json fields = speech["requestBody"]["content"]["application/json"]["schema"];
  EXPECT_EQ(fields["required"], Json::array({"input"}));
  EXPECT_EQ(fields["properties"]["speed"]["maximum"], 4);
  EXPECT_TRUE(fields["properties"].contains("keep_alive"));
  EXPECT_EQ(speech["parameters"][0]["name"], "X-Mynah-Keep-Alive");
  // The recording in the body, all else in the query.
  const Json asr = told["paths"]["/asr"]["post"];
  EXPECT_EQ(asr["requestBody"]["content"]["multipart/form-data"]["schema"]["properties"].size(),
            1U);
  EXPECT_EQ(asr["parameters"][0]["in"], "query");
  EXPECT_EQ(told["paths"]["/v1/models/{name}"]["get"]["parameters"][0]["in"], "path");
  EXPECT_TRUE(told["paths"].contains("/openapi.json"));
}

}  // namespace
}  // namespace mynah::server
