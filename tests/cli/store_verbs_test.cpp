// pull, import and models as a user types them, on a store in a temporary folder.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "chat/tiny_language.h"
#include "cli/hear/transcribe.h"
#include "cli/hear/vad.h"
#include "cli/models/import.h"
#include "cli/models/models.h"
#include "cli/models/pull.h"
#include "cli/models/store_access.h"
#include "cli/test_context.h"
#include "cli/whisper_file.h"
#include "engine/store_folders.h"
#include "formats/gguf_writer.h"
#include "formats/open.h"
#include "models/whisper/tiny_model.h"
#include "store/test_server.h"
#include "temporary_folder.h"
#include "test_paths.h"

namespace mynah::cli {
namespace {

using mynah::test::write_file;
using mynah::testing::answer;
using mynah::testing::ServerRequest;
using mynah::testing::TestServer;
using test::TemporaryFolder;
using ::testing::HasSubstr;

// Each run is a process of its own: streams begin empty.
struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

class StoreVerbs : public ::testing::Test {
 protected:
  Outcome mynah(const std::vector<std::string>& arguments) {
    TestProgram program(
        {verb<PullCommand>("pull", "Bring."), verb<ImportCommand>("import", "Take."),
         verb<ModelsCommand>("models", "List."), verb<TranscribeCommand>("transcribe", "Write."),
         verb<VadCommand>("vad", "Find speech.")});
    program.environment = {{"HOME", folder.path()}, {"MYNAH_HOME", folder / "home"}};
    program.environment.insert(extra.begin(), extra.end());
    const int code = program.run(arguments);
    return {code, program.out.text(), program.err.text()};
  }

  std::string model_file(const std::string& name) {
    const std::vector<float> values = {0.5F, -1.0F};
    auto writer = GgufWriter::create(folder / name, {},
                                     {{.name = "stft_conv.weight",
                                       .dtype = DType::F32,
                                       .shape = {1, 2},
                                       .has_row_scales = false}});
    EXPECT_TRUE(writer->write("stft_conv.weight", std::as_bytes(std::span(values))));
    EXPECT_TRUE(writer->finish());
    return folder / name;
  }

  std::string whisper_file(const std::string& name, const whisper::Config& config,
                           const Vocabulary& vocabulary, const std::string& licence = "") {
    return write_whisper(folder / name, config, vocabulary, licence);
  }

  TemporaryFolder folder;
  std::map<std::string, std::string> extra;
};

TEST_F(StoreVerbs, a_model_is_imported_listed_shown_verified_and_removed) {
  const Outcome imported = mynah({"import", model_file("mine.gguf")});
  EXPECT_EQ(imported.code, 0) << imported.err;
  EXPECT_THAT(imported.out, HasSubstr("mine  silero f32"));
  EXPECT_THAT(mynah({"models"}).out, HasSubstr("mine "));
  const Outcome shown = mynah({"models", "show", "mine"});
  EXPECT_THAT(shown.out, HasSubstr(folder / "home/models/mine/model.gguf"));
  EXPECT_THAT(shown.out, HasSubstr("licence   unknown"));
  EXPECT_EQ(mynah({"models", "verify"}).out, "mine: good\n");
  const Outcome removed = mynah({"models", "remove", "mine"});
  EXPECT_EQ(removed.code, 0);
  EXPECT_THAT(removed.out, HasSubstr("removed mine: "));
  EXPECT_THAT(mynah({"models"}).err, HasSubstr("no models yet: `mynah pull tiny.en`"));
}

TEST_F(StoreVerbs, a_long_name_leaves_the_columns_of_the_list_aligned) {
  mynah({"import", model_file("mine.gguf")});
  mynah({"import", model_file("other.gguf"), "--name", "a-name-of-more-than-twenty-letters"});
  const std::string listed = mynah({"models", "list"}).out;
  const size_t second = listed.find('\n') + 1;
  EXPECT_THAT(listed, HasSubstr("a-name-of-more-than-twenty-letters voice activity"));
  EXPECT_EQ(listed.find("voice activity"), listed.find("voice activity", second) - second)
      << listed;
}

// A bare voice: rows of 256 values.
std::string voice_bytes() {
  return std::string(2048, '\0');
}

TEST_F(StoreVerbs, voices_are_imported_beside_models_and_listed_by_kind) {
  write_file(folder / "snapshot/voices/af_one.bin", voice_bytes());
  write_file(folder / "snapshot/voices/bm_two.bin", voice_bytes());
  const Outcome imported = mynah({"import", folder / "snapshot", model_file("mine.gguf")});
  EXPECT_EQ(imported.code, 0) << imported.err;
  EXPECT_THAT(imported.err, HasSubstr("2 voices: af_one, bm_two"));
  EXPECT_THAT(imported.out, HasSubstr("kokoro-voices  f32, "));
  EXPECT_THAT(imported.out, HasSubstr("mine  silero f32"));
  write_file(folder / "em_three.bin", voice_bytes());
  EXPECT_THAT(mynah({"import", folder / "em_three.bin"}).err, HasSubstr("voice: em_three"));

  const std::string listed = mynah({"models"}).out;
  EXPECT_THAT(listed, HasSubstr("kokoro-voices        voices "));
  EXPECT_THAT(listed, HasSubstr("mine                 voice activity "));
  const Outcome shown = mynah({"models", "show", "kokoro-voices"});
  EXPECT_THAT(shown.out, HasSubstr("kind      voices"));
  EXPECT_THAT(shown.out, HasSubstr("file      em_three.gguf ("));
  const auto json = nlohmann::json::parse(mynah({"models", "show", "kokoro-voices", "--json"}).out);
  EXPECT_EQ(json.at("kind"), "voices");
  EXPECT_EQ(json.at("files").size(), 3U);
  EXPECT_EQ(json.at("path"), folder / "home/models/kokoro-voices");

  EXPECT_EQ(mynah({"models", "verify", "kokoro-voices"}).out, "kokoro-voices: good\n");
  write_file(folder / "home/models/kokoro-voices/bm_two.gguf", "cut");
  EXPECT_THAT(mynah({"models", "verify", "kokoro-voices"}).out, HasSubstr("bm_two.gguf: wanted"));
  EXPECT_THAT(mynah({"models", "remove", "kokoro-voices"}).out, HasSubstr("removed kokoro-voices"));
}

// The name that the catalogue has for it, tried as speak would load it.
TEST_F(StoreVerbs, kokoro_is_imported_from_its_onnx_file) {
  const std::string source = mynah::test::weights_path("kokoro/kokoro.onnx");
  MYNAH_SKIP_WITHOUT(source);
  const Outcome imported = mynah({"import", source});
  EXPECT_EQ(imported.code, 0) << imported.err;
  EXPECT_THAT(imported.out, HasSubstr("kokoro  i8, "));
  // One module of it missing: the names are Kokoro's, and it cannot speak.
  TensorFile file = *open_tensor_file(folder / "home/models/kokoro/model.gguf");
  std::erase_if(file.tensors, [](const StoredTensor& tensor) {
    return tensor.name.starts_with("decoder.generator.resblocks.5.convs2.2.");
  });
  ASSERT_TRUE(write_gguf(folder / "torn.gguf", file).has_value());
  const Outcome torn = mynah({"import", folder / "torn.gguf"});
  EXPECT_EQ(torn.code, 1);
  EXPECT_THAT(torn.err, HasSubstr("torn.gguf: not imported, as it cannot be used: wanted tensor "
                                  "decoder.generator.resblocks.5.convs2.2.weight"));
  EXPECT_FALSE(std::filesystem::exists(folder / "home/models/torn"));
}

TEST_F(StoreVerbs, import_says_what_a_voice_should_be) {
  write_file(folder / "af_cut.pt", "PK\x03\x04 cut");
  const Outcome cut = mynah({"import", folder / "af_cut.pt"});
  EXPECT_EQ(cut.code, 1);
  EXPECT_THAT(cut.err, HasSubstr("af_cut.pt"));
  EXPECT_THAT(cut.err, HasSubstr("cut short"));
  EXPECT_EQ(mynah({"models"}).out, "");
  // --name is for models, of which a folder may hold several.
  write_file(folder / "two/a.onnx", "a");
  write_file(folder / "two/b.pth", "b");
  EXPECT_THAT(mynah({"import", folder / "two", "--name", "x"}).err,
              HasSubstr("--name is for one model, found 2 in "));
}

TEST_F(StoreVerbs, what_speaks_can_be_pulled) {
  const std::string all = mynah({"models", "list", "--all"}).out;
  for (const char* line : {"kokoro               speech ", "kokoro-voices        voices ",
                           "english-phonemes     phonemes ", "cmudict              phonemes ",
                           "hibari               speech ", "joe                  speech ",
                           "tiny.en              speech to text "}) {
    EXPECT_THAT(all, HasSubstr(line));
  }
  const TestServer server([](const ServerRequest&) { return answer(404, "", ""); });
  extra["MYNAH_HUB"] = server.url();
  const Outcome offline = mynah({"pull", "kokoro", "--offline"});
  EXPECT_EQ(offline.code, 3);
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(StoreVerbs, nothing_is_removed_where_a_name_is_unknown) {
  mynah({"import", model_file("a.gguf"), model_file("b.gguf")});
  const Outcome refused = mynah({"models", "remove", "a", "nope", "b", "nada"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("there are no models 'nope', 'nada' here"));
  EXPECT_THAT(refused.err, HasSubstr("; nothing was removed"));
  EXPECT_THAT(
      mynah({"models", "remove", "a", "nope"}).err,
      ::testing::AllOf(HasSubstr("there is no model 'nope'"), HasSubstr("nothing was removed")));
  EXPECT_EQ(mynah({"models", "show", "a", "b"}).code, 0);
  // A name said twice is removed once.
  const Outcome removed = mynah({"models", "remove", "a", "a"});
  EXPECT_EQ(removed.code, 0) << removed.err;
  EXPECT_EQ(removed.out.find("removed a: "), removed.out.rfind("removed a: "));
  EXPECT_THAT(removed.out, ::testing::Not(HasSubstr("packed")));
}

TEST_F(StoreVerbs, removing_says_that_packed_copies_went_too) {
  mynah({"import", model_file("mine.gguf")});
  const auto shown = nlohmann::json::parse(mynah({"models", "show", "mine", "--json"}).out);
  const std::string packed =
      folder / (".cache/mynah/packed/" + shown.at("sha256").get<std::string>().substr(0, 16));
  write_file(packed + "/some", "bytes");
  EXPECT_THAT(mynah({"models", "remove", "mine"}).out, HasSubstr(" freed, with its packed copies"));
  EXPECT_FALSE(std::filesystem::exists(packed));
}

TEST_F(StoreVerbs, json_is_one_object_a_line) {
  mynah({"import", model_file("a.gguf"), model_file("b.gguf")});
  const Outcome listed = mynah({"models", "list", "--all", "--json"});
  std::istringstream lines(listed.out);
  std::string line;
  int here = 0;
  int all = 0;
  while (std::getline(lines, line)) {
    const auto json = nlohmann::json::parse(line);
    here += json.at("here").get<bool>() ? 1 : 0;
    ++all;
  }
  EXPECT_EQ(here, 2);
  EXPECT_GT(all, 15);
  const auto verified = nlohmann::json::parse(mynah({"models", "verify", "a", "--json"}).out);
  EXPECT_EQ(verified.at("good"), true);
  const auto shown = nlohmann::json::parse(mynah({"models", "show", "a", "--json"}).out);
  EXPECT_EQ(shown.at("origin").at(0).at("from"), folder / "a.gguf");
  const auto removed = nlohmann::json::parse(mynah({"models", "remove", "a", "--json"}).out);
  EXPECT_GT(removed.at("freed_bytes"), 0);
}

TEST_F(StoreVerbs, import_refuses_what_transcribe_could_not_load_and_leaves_nothing) {
  const whisper::Config config = test::tiny_config(/*multilingual=*/false);
  const Vocabulary vocabulary = test::tiny_vocabulary(config);
  const std::string broken =
      whisper_file("broken.gguf", config, Vocabulary(vocabulary.size(), "word"));
  const Outcome refused = mynah({"import", broken, "--name", "mybase"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr(broken + ": not imported, as it cannot be used: "));
  EXPECT_TRUE(std::filesystem::is_empty(folder / "home/models"));
  mynah({"import", model_file("mine.gguf"), "--name", "mybase"});
  EXPECT_EQ(mynah({"import", broken, "--name", "mybase", "--force"}).code, 1);
  EXPECT_EQ(mynah({"models", "verify"}).out, "mybase: good\n");
  const Outcome good = mynah({"import", whisper_file("good.gguf", config, vocabulary)});
  EXPECT_EQ(good.code, 0) << good.err;
}

TEST_F(StoreVerbs, import_says_which_model_is_taken_where_none_is_named) {
  const whisper::Config config = test::tiny_config(/*multilingual=*/false);
  const std::string file = whisper_file("a.gguf", config, test::tiny_vocabulary(config));
  const Outcome imported = mynah({"import", file, "--name", "q5"});
  EXPECT_EQ(imported.code, 0) << imported.err;
  EXPECT_THAT(imported.err,
              HasSubstr("where no model is named, mynah transcribe takes q5 now: the newest here"));
  EXPECT_THAT(mynah({"transcribe", "--explain", "missing.wav"}).err,
              HasSubstr("model q5: the newest here"));
  EXPECT_EQ(mynah({"import", file, "--name", "other", "--json"}).err, "");
  EXPECT_THAT(mynah({"import", model_file("silero.gguf")}).err, ::testing::Not(HasSubstr("newest")))
      << "a voice detector is no such model";
}

TEST_F(StoreVerbs, import_keeps_the_licence_that_a_file_states) {
  const whisper::Config config = test::tiny_config(/*multilingual=*/false);
  const std::string file =
      whisper_file("a.gguf", config, test::tiny_vocabulary(config), "apache-2.0");
  EXPECT_THAT(mynah({"import", file, "--name", "one"}).out, HasSubstr("licence apache-2.0"));
  const std::string ours = folder / "home/models/one/model.gguf";
  EXPECT_THAT(mynah({"import", ours, "--name", "two"}).out, HasSubstr("licence apache-2.0"));
}

TEST_F(StoreVerbs, a_model_that_cannot_be_loaded_is_named_with_the_ways_out) {
  const Store store(engine::store_folders(
      Environment({{"HOME", folder.path()}, {"MYNAH_HOME", folder / "home"}})));
  StoredModel model;
  model.name = "old";
  model.family = "whisper";
  model.folder = store.model_folder(model.name);
  model.sha256 = std::string(64, '0');
  write_file(model.path(), "no weights");
  ASSERT_TRUE(write_source_json(model));
  for (const std::vector<std::string>& which : {std::vector<std::string>{}, {"-m", "old"}}) {
    std::vector<std::string> arguments = {"transcribe", "a.wav"};
    arguments.insert(arguments.end(), which.begin(), which.end());
    const Outcome refused = mynah(arguments);
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.err, HasSubstr("the model old cannot be used: "));
    EXPECT_THAT(refused.err, HasSubstr("remove it with `mynah models remove old`, or name another "
                                       "with --model OTHER"));
  }
}

TEST_F(StoreVerbs, a_voice_detector_is_no_model_to_transcribe_with) {
  mynah({"import", model_file("silero.gguf")});
  const Outcome refused = mynah({"transcribe", "-m", "silero", "a.wav"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("silero is a voice detector"));
  EXPECT_THAT(refused.err, HasSubstr("wanted a Whisper model"));
  EXPECT_THAT(refused.err, ::testing::Not(HasSubstr("models remove")));
}

TEST_F(StoreVerbs, an_imported_voice_detector_is_found_whatever_it_is_called) {
  mynah({"import", model_file("any_name.gguf")});  // of a family, but of too few weights to be used
  const std::string model = "/any_name/model.gguf";
  const Outcome vad = mynah({"vad", "a.wav"});
  EXPECT_NE(vad.code, 0);
  EXPECT_THAT(vad.err, HasSubstr(model));
  EXPECT_THAT(vad.err, ::testing::Not(HasSubstr("mynah pull silero")));
  const whisper::Config config = test::tiny_config(/*multilingual=*/false);
  mynah({"import", whisper_file("mine.gguf", config, test::tiny_vocabulary(config))});
  const Outcome heard = mynah({"transcribe", "a.wav"});
  EXPECT_THAT(heard.err, HasSubstr(model));
  EXPECT_THAT(heard.err, ::testing::Not(HasSubstr("mynah pull silero")));
}

TEST_F(StoreVerbs, a_whisper_is_no_model_to_find_speech_with) {
  const whisper::Config config = test::tiny_config(/*multilingual=*/false);
  mynah({"import", whisper_file("mine.gguf", config, test::tiny_vocabulary(config))});
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"transcribe", "a.wav", "--vad-model", "mine"},
        {"vad", "a.wav", "--vad-model", "mine"},
        {"vad", "a.wav", "--model", "mine"}}) {
    const Outcome refused = mynah(arguments);
    EXPECT_EQ(refused.code, 2) << arguments.front();
    EXPECT_THAT(refused.err, HasSubstr("mine is a Whisper model"));
    EXPECT_THAT(refused.err, HasSubstr("--vad-model wants a voice detector: silero, or builtin"));
    EXPECT_THAT(refused.err, ::testing::Not(HasSubstr("models remove")));
  }
}

TEST_F(StoreVerbs, verify_fails_for_a_damaged_model_and_goes_on) {
  mynah({"import", model_file("a.gguf"), model_file("b.gguf")});
  write_file(folder / "home/models/a/model.gguf", "cut");
  const Outcome verified = mynah({"models", "verify"});
  EXPECT_EQ(verified.code, 1);
  EXPECT_THAT(verified.out, HasSubstr("a: "));
  EXPECT_THAT(verified.out, HasSubstr("wanted "));
  EXPECT_THAT(verified.out, HasSubstr("b: good"));
}

TEST_F(StoreVerbs, pull_says_why_no_source_would_do) {
  const TestServer server([](const ServerRequest&) { return answer(404, "", ""); });
  extra["MYNAH_HUB"] = server.url("/");
  const Outcome pulled = mynah({"pull", "base"});
  EXPECT_EQ(pulled.code, 3);
  EXPECT_THAT(pulled.err, HasSubstr("licence MIT"));
  EXPECT_THAT(pulled.err, HasSubstr("status 404"));
  EXPECT_THAT(pulled.err, HasSubstr("next, model hub: openai/whisper-base"));
  EXPECT_THAT(pulled.err, HasSubstr("mynah import PATH --name base"));
  EXPECT_EQ(server.requests().front().target,
            "/Systran/faster-whisper-base/resolve/main/config.json");
}

TEST_F(StoreVerbs, pull_goes_through_the_environments_proxy) {
  const TestServer proxy([](const ServerRequest&) { return answer(403, "", ""); });
  extra["MYNAH_HUB"] = "http://hub.invalid";
  extra["http_proxy"] = proxy.url();
  EXPECT_EQ(mynah({"pull", "base"}).code, 3);
  EXPECT_THAT(proxy.requests().front().target, HasSubstr("http://hub.invalid/Systran"));
}

TEST_F(StoreVerbs, a_hub_that_cannot_be_reached_is_asked_once) {
  std::string gone;
  {
    const TestServer server([](const ServerRequest&) { return std::string(); });
    gone = server.url();
  }
  const Outcome pulled = mynah({"pull", "base", "--hub", gone});
  EXPECT_EQ(pulled.code, 3);
  EXPECT_THAT(pulled.err, HasSubstr("cannot connect"));
  EXPECT_THAT(pulled.err, ::testing::Not(HasSubstr("openai/whisper-base")));
}

TEST_F(StoreVerbs, refuse_what_they_do_not_understand) {
  EXPECT_EQ(mynah({"pull"}).code, 2);
  EXPECT_EQ(mynah({"import"}).code, 2);
  EXPECT_EQ(mynah({"models", "show"}).code, 2);
  EXPECT_EQ(mynah({"pull", "tiny.en", "--type", "q9"}).code, 2);
  EXPECT_THAT(mynah({"models", "lst"}).err, HasSubstr("did you mean list?"));
  const Outcome unknown = mynah({"pull", "tiny.em"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean tiny.en?"));
  EXPECT_THAT(mynah({"pull", "base", "--offline"}).err, HasSubstr("--offline forbids"));
}

TEST(ProgressLine, shows_share_speed_and_time_left) {
  EXPECT_EQ(progress_line("model.bin", 50'000'000, 100'000'000, 0, 5, 200),
            "model.bin   50 % [############            ] 50.0 MB of 100.0 MB, 10.0 MB/s, 5 s left");
  // A resumed part took no time; an unknown length has no share; a narrow terminal cuts.
  EXPECT_THAT(progress_line("m", 50, 100, 50, 5, 200), ::testing::Not(HasSubstr("/s")));
  EXPECT_EQ(progress_line("m", 2'000, 0, 0, 2, 200), "m  2.0 kB, 1.0 kB/s");
  EXPECT_EQ(progress_line("model.bin", 1, 2, 0, 1, 5), "model");
}

TEST(StoreFolders, come_from_the_environment) {
  using Variables = std::map<std::string, std::string>;
  const StoreFolders home = engine::store_folders(Environment(Variables{{"HOME", "/h"}}));
  EXPECT_EQ(home.home, "/h/.local/share/mynah");
  EXPECT_EQ(home.cache, "/h/.cache/mynah");
  const StoreFolders set = engine::store_folders(
      Environment(Variables{{"HOME", "/h"}, {"MYNAH_HOME", "/m"}, {"XDG_CACHE_HOME", "/c"}}));
  EXPECT_EQ(set.home, "/m");
  EXPECT_EQ(set.cache, "/c/mynah");
}

TEST_F(StoreVerbs, a_language_model_that_is_not_run_is_not_imported) {
  const std::string good = mynah::test::write_tiny_language(folder / "good.gguf");
  TensorFile file = *open_tensor_file(good);
  file.metadata["general.architecture"] = std::string("mamba");
  ASSERT_TRUE(write_gguf(folder / "other.gguf", file).has_value());
  const Outcome refused = mynah({"import", folder / "other.gguf"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("other.gguf: not imported, as it cannot be used: mynah does "
                                     "not run the architecture \"mamba\""));
  EXPECT_FALSE(std::filesystem::exists(folder / "home/models/other"));
  const Outcome imported = mynah({"import", good});
  EXPECT_EQ(imported.code, 0) << imported.err;
}

TEST_F(StoreVerbs, an_embedding_models_folder_becomes_one_file) {
  const std::string tiny = mynah::test::source_path("tests/models/bert/golden/tiny");
  const Outcome imported = mynah({"import", tiny});
  EXPECT_EQ(imported.code, 0) << imported.err;
  const auto file = open_tensor_file(folder / "home/models/tiny/model.gguf");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(std::get<std::string>(file->metadata.at("general.architecture")), "bert");
  EXPECT_EQ(std::get<int64_t>(file->metadata.at("bert.pooling_type")), 1);
  EXPECT_EQ(std::get<int64_t>(file->metadata.at("mynah.embedding.longest")), 12);
  EXPECT_THAT(mynah({"models", "list"}).out, HasSubstr("embeddings"));
  EXPECT_EQ(mynah({"import", tiny, "--name", "half", "--type", "f16"}).code, 0);
  const auto half = open_tensor_file(folder / "home/models/half/model.gguf");
  ASSERT_TRUE(half) << half.error().message;
  EXPECT_EQ(half->find("blk.0.ffn_up.weight")->dtype, DType::F16);
  EXPECT_EQ(half->find("position_embd.weight")->dtype, DType::F32);

  const Outcome whole =
      mynah({"import", mynah::test::source_path("tests/models/bert/golden/mean.gguf")});
  EXPECT_EQ(whole.code, 0) << whole.err;
  EXPECT_THAT(mynah({"models", "show", "mean"}).out, HasSubstr("embedding"));
}

}  // namespace
}  // namespace mynah::cli
