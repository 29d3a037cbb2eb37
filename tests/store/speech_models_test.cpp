// Voices taken in, and what there is to speak with.
#include "store/speech_models.h"

#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/gguf_writer.h"
#include "models/kokoro/voice_pack.h"
#include "store/file_sets.h"
#include "store/files.h"
#include "store/pull.h"
#include "temporary_folder.h"
#include "test_paths.h"

namespace mynah {
namespace {

using test::TemporaryFolder;
using test::write_file;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two rows of bare values, all of them `value`: a voice where the file is called NAME.bin.
std::string voice_bytes(float value) {
  const std::vector<float> styles(512, value);
  return {reinterpret_cast<const char*>(styles.data()), styles.size() * sizeof(float)};
}

class Messages : public StoreObserver {
 public:
  void on_message(std::string_view line) override { lines.emplace_back(line); }

  std::vector<std::string> lines;
};

class Voices : public ::testing::Test {
 protected:
  std::string write(const std::string& name, float value) {
    write_file(folder / name, voice_bytes(value));
    return folder / name;
  }

  Result<StoredModel> import(const std::vector<std::string>& paths) {
    return import_voices(store, paths, messages, {});
  }

  // A model of one tensor, and the date it came.
  void put_model(const std::string& name, const std::string& family, const std::string& created) {
    StoredModel model;
    model.name = name;
    model.family = family;
    model.created = created;
    model.folder = store.model_folder(name);
    model.sha256 = std::string(64, 'a');
    write_file(model.path(), "weights");
    model.size = 7;
    ASSERT_TRUE(write_source_json(model));
  }

  std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const InstalledVoice& voice : installed_voices(store)) {
      names.push_back(voice.name);
    }
    return names;
  }

  TemporaryFolder folder;
  Store store{{.home = folder / "home", .cache = folder / "cache"}};
  Messages messages;
};

TEST_F(Voices, are_a_file_each_and_join_those_that_are_here) {
  const auto first = import({write("af_one.bin", 1.0F), write("bm_two.bin", 2.0F)});
  ASSERT_TRUE(first.has_value()) << first.error().message;
  EXPECT_EQ(first->name, "kokoro-voices");
  EXPECT_EQ(first->family, "kokoro-voices");
  EXPECT_THAT(messages.lines, ElementsAre("2 voices: af_one, bm_two"));
  ASSERT_EQ(first->set.size(), 2U);
  EXPECT_EQ(first->set[0].name, "af_one.gguf");
  EXPECT_EQ(first->size, first->set[0].size + first->set[1].size);

  const auto second = import({write("af_one.bin", 3.0F), write("zf_my voice-2.bin", 4.0F)});
  ASSERT_TRUE(second.has_value()) << second.error().message;
  EXPECT_THAT(names(), ElementsAre("af_one", "bm_two", "zf_my_voice_2"));
  // The newer of one name; the older ones keep their origin.
  EXPECT_EQ(kokoro::read_voice_pack(second->path() + "/af_one.gguf")->styles.front(), 3.0F);
  EXPECT_EQ(kokoro::read_voice_pack(second->path() + "/bm_two.gguf")->styles.front(), 2.0F);
  std::vector<std::string> origins;
  for (const OriginFile& file : second->files) {
    origins.push_back(file.name);
  }
  EXPECT_THAT(origins, ElementsAre("af_one.bin", "zf_my voice-2.bin", "bm_two.bin"));
  EXPECT_NE(second->sha256, first->sha256);

  StoreObserver quiet;
  EXPECT_TRUE(store.verify(*store.find("kokoro-voices"), quiet, {}).has_value());
  write_file(second->path() + "/bm_two.gguf", "cut");
  const Status damaged = store.verify(*store.find("kokoro-voices"), quiet, {});
  ASSERT_FALSE(damaged.has_value());
  EXPECT_THAT(damaged.error().message, HasSubstr("bm_two.gguf: wanted "));
  EXPECT_FALSE(is_whole(*store.find("kokoro-voices")));
  EXPECT_GT(store.remove("kokoro-voices")->model, 0U);
  EXPECT_TRUE(names().empty());
}

// A file that a user puts into the folder is a voice too, and stays there.
TEST_F(Voices, put_there_by_hand_count) {
  const auto made = import({write("af_one.bin", 1.0F)});
  ASSERT_TRUE(made.has_value()) << made.error().message;
  write_file(made->path() + "/em_hand.bin", voice_bytes(5.0F));
  write_file(made->path() + "/af_one.pt", "shadowed by af_one.gguf");
  write_file(made->path() + "/notes (1).txt", "no voice");
  EXPECT_THAT(names(), ElementsAre("af_one", "em_hand"));
  EXPECT_EQ(installed_voices(store).front().path, made->path() + "/af_one.gguf");
  ASSERT_TRUE(import({write("af_more.bin", 1.0F)}).has_value());
  EXPECT_THAT(names(), ElementsAre("af_more", "af_one", "em_hand"));
  EXPECT_EQ(test::read_file(made->path() + "/notes (1).txt"), "no voice");
}

TEST_F(Voices, that_cannot_be_read_change_nothing) {
  ASSERT_TRUE(import({write("af_one.bin", 1.0F)}).has_value());
  write_file(folder / "af_cut.pt", voice_bytes(1.0F));
  const auto failed = import({write("af_two.bin", 1.0F), folder / "af_cut.pt"});
  ASSERT_FALSE(failed.has_value());
  EXPECT_THAT(failed.error().message, HasSubstr("af_cut.pt: wanted a model"));
  EXPECT_THAT(names(), ElementsAre("af_one"));
  int entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "home/models")) {
    EXPECT_EQ(entry.path().filename(), "kokoro-voices");
    ++entries;
  }
  EXPECT_EQ(entries, 1);
}

TEST_F(Voices, say_language_and_sex_by_their_names) {
  const auto told = [](const std::string& name) {
    const InstalledVoice voice = describe_voice(name, "");
    return voice.language + " " + voice.sex;
  };
  EXPECT_EQ(told("af_heart"), "en-US female");
  EXPECT_EQ(told("bm_george"), "en-GB male");
  EXPECT_EQ(told("pf_dora"), "pt-BR female");
  EXPECT_EQ(told("zm_yunxi"), "zh male");
  EXPECT_EQ(told("xf_other"), " female");
  EXPECT_EQ(told("mine"), " ");
  EXPECT_EQ(told("af_"), " ");
}

TEST_F(Voices, are_found_by_name_or_the_nearest_is_said) {
  ASSERT_TRUE(import({write("af_heart.bin", 1.0F)}).has_value());
  const auto voices = installed_voices(store);
  EXPECT_EQ(find_voice(voices, "af_heart")->language, "en-US");
  const auto slip = find_voice(voices, "af_haert");
  ASSERT_FALSE(slip.has_value());
  EXPECT_EQ(slip.error().code, ErrorCode::Usage);
  EXPECT_THAT(slip.error().message, HasSubstr("did you mean af_heart?"));
  const auto none = find_voice({}, "af_heart");
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::Environment);
  EXPECT_THAT(none.error().message, HasSubstr("mynah pull kokoro-voices"));
}

TEST_F(Voices, and_models_are_told_apart_in_what_users_have) {
  // As a download of hexgrad/Kokoro-82M lies on the disk.
  write("snapshot/voices/af_one.bin", 1.0F);
  write("snapshot/voices/af_two.bin", 1.0F);
  write_file(folder / "snapshot/kokoro-v1_0.pth", "PK");
  write_file(folder / "snapshot/README.md", "words");
  const Importable snapshot = find_importable(folder / "snapshot");
  EXPECT_THAT(snapshot.models, ElementsAre(folder / "snapshot/kokoro-v1_0.pth"));
  EXPECT_THAT(snapshot.voices, ElementsAre(folder / "snapshot/voices/af_one.bin",
                                           folder / "snapshot/voices/af_two.bin"));
  // Named as voices are, whatever is in it.
  write_file(folder / "af_cut.pt", "cut");
  EXPECT_THAT(find_importable(folder / "af_cut.pt").voices, ElementsAre(folder / "af_cut.pt"));
  // Known by its contents.
  EXPECT_EQ(find_importable(write("someone.bin", 1.0F)).voices.size(), 1U);
  write_file(folder / "ggml.bin", "no voice");
  EXPECT_THAT(find_importable(folder / "ggml.bin").models, ElementsAre(folder / "ggml.bin"));
  // Folders that are models, and folders of nothing, are models.
  write("whisper/model.bin", 1.0F);
  EXPECT_THAT(find_importable(folder / "whisper").models, ElementsAre(folder / "whisper"));
  std::filesystem::create_directories(folder / "empty");
  EXPECT_THAT(find_importable(folder / "empty").models, ElementsAre(folder / "empty"));
  EXPECT_THAT(find_importable(folder / "none").models, ElementsAre(folder / "none"));
}

TEST_F(Voices, of_the_wheel_come_with_their_names) {
  const std::string archive = test::weights_path("kokoro/voices_ja.npz");
  MYNAH_SKIP_WITHOUT(archive);
  const Importable found = find_importable(archive);
  ASSERT_THAT(found.voices, ElementsAre(archive));
  const auto model = import(found.voices);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_THAT(names(),
              ElementsAre("jf_alpha", "jf_gongitsune", "jf_nezumi", "jf_tebukuro", "jm_kumo"));
  EXPECT_EQ(kokoro::read_voice_pack(model->path() + "/jm_kumo.gguf")->styles,
            kokoro::read_voice_pack(archive, "jm_kumo")->styles);
}

TEST_F(Voices, and_a_model_are_what_speaks) {
  const auto none = installed_speech_model(store);
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::Environment);
  EXPECT_THAT(none.error().message, HasSubstr("mynah pull kokoro"));

  put_model("kokoro", "kokoro", "2026-01-02T00:00:00Z");
  put_model("older", "kokoro", "2026-01-01T00:00:00Z");
  put_model("tiny.en", "whisper", "2026-01-03T00:00:00Z");
  ASSERT_TRUE(import({write("af_heart.bin", 1.0F)}).has_value());
  auto model = installed_speech_model(store);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->name, "kokoro");
  EXPECT_EQ(model->path, store.model_folder("kokoro") + "/model.gguf");
  EXPECT_EQ(model->voices.size(), 1U);
  EXPECT_EQ(model->english_phonemes, "");

  put_model("english-phonemes", "english-phonemes", "2026-01-03T00:00:00Z");
  model = installed_speech_model(store, "older");
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->name, "older");
  EXPECT_THAT(model->english_phonemes, HasSubstr("models/english-phonemes"));

  const auto deaf = installed_speech_model(store, "tiny.en");
  ASSERT_FALSE(deaf.has_value());
  EXPECT_EQ(deaf.error().code, ErrorCode::Usage);
  EXPECT_THAT(deaf.error().message, HasSubstr("tiny.en is for speech to text; wanted a model that "
                                              "speaks"));
  const auto path = installed_speech_model(store, store.model_folder("older") + "/model.gguf");
  ASSERT_TRUE(path.has_value());
  EXPECT_EQ(path->name, "");
  EXPECT_FALSE(installed_speech_model(store, "nobody").has_value());
}

TEST_F(Voices, of_other_families_are_sets_of_files) {
  std::filesystem::create_directories(folder / "mine");
  write_file(folder / "mine/de_DE-anna-low.onnx", "network");
  write_file(folder / "mine/de_DE-anna-low.onnx.json",
             R"({"audio": {"sample_rate": 16000}, "espeak": {"voice": "de"},
                 "inference": {"noise_scale": 0.6, "length_scale": 1, "noise_w": 0.8},
                 "phoneme_type": "espeak", "num_symbols": 3, "num_speakers": 2,
                 "speaker_id_map": {"anna": 0, "berta": 1},
                 "phoneme_id_map": {"_": [0], "^": [1], "$": [2]},
                 "language": {"code": "de_DE"}, "dataset": "anna"})");
  const Importable found = find_importable(folder / "mine");
  EXPECT_THAT(found.models, ElementsAre());
  ASSERT_EQ(found.sets.size(), 1U);
  const FileSet& set = found.sets.front();
  EXPECT_EQ(set.family, "piper");
  EXPECT_EQ(set.name, "de_DE-anna-low");
  const auto made = import_file_set(store, set, false, {}, {});
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_TRUE(is_whole(*made));
  EXPECT_FALSE(import_file_set(store, set, false, {}, {}).has_value());
  EXPECT_TRUE(import_file_set(store, set, true, {}, {}).has_value());
  // What is refused replaces nothing.
  const auto refused = import_file_set(store, set, true, {}, [](const StoredModel&) -> Status {
    return fail(ErrorCode::InvalidInput, "no");
  });
  EXPECT_FALSE(refused.has_value());
  EXPECT_TRUE(is_whole(*store.find(set.name)));

  const std::vector<SpeechModel> models = installed_speech_models(store);
  ASSERT_EQ(models.size(), 1U);
  EXPECT_EQ(models.front().path, made->path() + "/de_DE-anna-low.onnx");
  ASSERT_EQ(models.front().voices.size(), 2U);
  EXPECT_EQ(models.front().voices[1].name, "berta");
  EXPECT_EQ(models.front().voices[1].language, "de-de");
  // By its path it is known too.
  const auto path = installed_speech_model(store, set.paths.front());
  ASSERT_TRUE(path.has_value());
  EXPECT_EQ(path->family, "piper");

  // A Kokoro without an English voice comes behind it, one with goes before.
  put_model("kokoro", "kokoro", "2026-01-02T00:00:00Z");
  EXPECT_EQ(installed_speech_model(store)->name, set.name);
  ASSERT_TRUE(import({write("af_heart.bin", 1.0F)}).has_value());
  EXPECT_EQ(installed_speech_model(store)->name, "kokoro");
}

TEST_F(Voices, of_piper_want_both_of_their_files) {
  const std::string network = test::weights_path("piper/en_US-joe-medium.onnx");
  MYNAH_SKIP_WITHOUT(network);
  EXPECT_TRUE(check_not_half_a_voice(network));
  std::filesystem::copy_file(network, folder / "alone.onnx");
  const Status alone = check_not_half_a_voice(folder / "alone.onnx");
  ASSERT_FALSE(alone);
  EXPECT_THAT(alone.error().message, HasSubstr("wanted alone.onnx.json beside it"));
  const auto made = import_model(store, folder / "alone.onnx", {}, messages, {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, alone.error().message);
  // What is no Piper voice is for others to judge.
  write_file(folder / "other.onnx", "none");
  EXPECT_TRUE(check_not_half_a_voice(folder / "other.onnx"));
}

}  // namespace
}  // namespace mynah
