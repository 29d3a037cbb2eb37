// Which models the engine takes, what it says of the choice and whom it asks: nothing is printed.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/whisper_file.h"
#include "engine/detector.h"
#include "engine/discovery_search.h"
#include "engine/installed.h"
#include "engine/kept_proofs.h"
#include "engine/last_look.h"
#include "engine/model_files.h"
#include "engine/open_placer.h"
#include "engine/recognizer.h"
#include "engine/storage_choice.h"
#include "engine/store_folders.h"
#include "engine/synthesizer.h"
#include "engine/version.h"
#include "temporary_folder.h"

namespace mynah::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Opening : public ::testing::Test {
 protected:
  Opening() {
    surroundings.environment = Environment({{"HOME", folder / "user"},
                                            {"MYNAH_HOME", folder / "home"},
                                            {"MYNAH_CUDA_DRIVER", folder / "no-driver"}});
    surroundings.tell = [this](const Note& note) { notes.push_back(note); };
    hearing.placement.device = "cpu";
    speaking.placement.device = "cpu";
    finding.placement.device = "cpu";
  }

  [[nodiscard]] std::vector<std::string> codes() const {
    std::vector<std::string> codes;
    codes.reserve(notes.size());
    for (const Note& note : notes) {
      codes.push_back(note.code);
    }
    return codes;
  }

  [[nodiscard]] Store store() const { return Store(store_folders(surroundings.environment)); }

  // A model of the store whose file is there, though no model may be in it.
  StoredModel keep(const std::string& name, const std::string& family, const std::string& created) {
    StoredModel model;
    model.name = name;
    model.family = family;
    model.created = created;
    model.folder = store().model_folder(name);
    model.sha256 = std::string(64, '0');
    test::write_file(model.path(), "no weights");
    EXPECT_TRUE(write_source_json(model));
    return model;
  }

  // The same with a Whisper in it.
  StoredModel keep_whisper(const std::string& name, const std::string& created) {
    StoredModel model = keep(name, "whisper", created);
    cli::write_tiny_whisper(model.path());
    model.size = std::filesystem::file_size(model.path());
    EXPECT_TRUE(write_source_json(model));
    return model;
  }

  test::TemporaryFolder folder;
  Surroundings surroundings;
  std::vector<Note> notes;
  RecognizerWish hearing;
  SynthesizerWish speaking;
  DetectorWish finding;
};

TEST_F(Opening, WithoutModelsTheBuiltinRecogniserHearsAndIsNoted) {
  const auto opened = open_recognizer(hearing, surroundings);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->model_path, "");
  EXPECT_EQ(opened->device(), "cpu");  // where it computes, though nothing of it is placed
  EXPECT_EQ(opened->architecture, "");
  EXPECT_THAT(opened->explanation, ElementsAre("model builtin: no model was pulled"));
  ASSERT_THAT(codes(), ElementsAre("builtin-recognizer"));
  EXPECT_THAT(notes.front().text, HasSubstr("no model was pulled: using the built-in recogniser"));
  EXPECT_EQ(notes.front().remedy, "'mynah pull tiny.en' brings a better one");
}

TEST_F(Opening, WhoIsQuietOrNamesTheBuiltinOneIsToldNothing) {
  hearing.placement.quiet = true;
  EXPECT_TRUE(open_recognizer(hearing, surroundings));
  hearing.placement.quiet = false;
  hearing.model = "builtin";
  const auto named = open_recognizer(hearing, surroundings);
  ASSERT_TRUE(named);
  EXPECT_THAT(named->explanation, ElementsAre("model builtin: asked for by name"));
  EXPECT_THAT(notes, IsEmpty());
}

TEST_F(Opening, NobodyNeedListenOrAnswer) {
  surroundings.tell = {};
  EXPECT_TRUE(open_recognizer(hearing, surroundings));
  EXPECT_TRUE(open_synthesizer(speaking, surroundings));
  EXPECT_TRUE(open_detector(finding, surroundings));
}

TEST_F(Opening, APullIsAskedForOnceAndNeverOffline) {
  std::vector<std::string> asked;
  surroundings.may_pull = [&asked](const CatalogueEntry& entry) {
    asked.push_back(entry.name);
    return false;
  };
  EXPECT_TRUE(open_recognizer(hearing, surroundings));
  EXPECT_THAT(asked, ElementsAre("tiny.en"));
  hearing.model = "small";
  const auto named = open_recognizer(hearing, surroundings);
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().code, ErrorCode::Environment);
  EXPECT_EQ(named.error().message,
            "the model small is not on this machine: run 'mynah pull small', or add --yes");
  EXPECT_THAT(asked, ElementsAre("tiny.en", "small"));
  hearing.offline = true;
  hearing.yes = true;
  EXPECT_FALSE(open_recognizer(hearing, surroundings));
  EXPECT_THAT(asked, SizeIs(2));
}

TEST_F(Opening, APullThatTheUserStopsIsNoReasonForTheBuiltinOne) {
  int watched = 0;
  std::stop_source stop;
  surroundings.stop = stop.get_token();
  surroundings.may_pull = [&stop](const CatalogueEntry&) {
    stop.request_stop();
    return true;
  };
  surroundings.watch_pull = [&watched] {
    ++watched;
    return std::make_unique<StoreObserver>();
  };
  const auto opened = open_recognizer(hearing, surroundings);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::Cancelled) << opened.error().message;
  EXPECT_EQ(watched, 1);
  EXPECT_THAT(notes, IsEmpty());
}

TEST_F(Opening, TheNewestRecogniserHearsAndSaysWhere) {
  keep_whisper("new", "2026-02-01T00:00:00Z");
  keep("old", "whisper", "2026-01-01T00:00:00Z");
  const auto opened = open_recognizer(hearing, surroundings);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->model_path, store().model_folder("new") + "/model.gguf");
  EXPECT_EQ(opened->device(), "cpu");
  EXPECT_NE(opened->architecture, "");
  EXPECT_EQ(opened->explanation.front(), "model new: the newest here");
  EXPECT_EQ(opened->explanation[1], "voice detector builtin: silero was not pulled");
  ASSERT_THAT(codes(), ElementsAre("builtin-detector"));
  EXPECT_EQ(notes.front().remedy,
            "'mynah pull silero' brings the better one, --vad-model builtin keeps this one");
  EXPECT_TRUE(LastLook(opened->placer.get()).take());
  EXPECT_THAT(with_doubts({"one"}, opened->placer.get()), ElementsAre("one"));
}

TEST_F(Opening, WhatNeedsNoCutsIsNotToldOfTheDetector) {
  keep_whisper("one", "2026-02-01T00:00:00Z");
  hearing.cuts = false;
  EXPECT_TRUE(open_recognizer(hearing, surroundings));
  hearing.cuts = true;
  hearing.vad_model = "builtin";
  EXPECT_TRUE(open_recognizer(hearing, surroundings));
  EXPECT_THAT(notes, IsEmpty());
}

TEST_F(Opening, AModelThatCannotBeLoadedIsNamedWithTheWaysOut) {
  keep("broken", "whisper", "2026-02-01T00:00:00Z");
  const auto opened = open_recognizer(hearing, surroundings);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("the model broken cannot be used: "));
  EXPECT_THAT(opened.error().message, HasSubstr("name another with --model OTHER"));
}

TEST_F(Opening, AWordThatCannotBeUnderstoodIsAUsageError) {
  for (const auto& change : std::vector<std::function<void(PlacementWish&)>>{
           [](PlacementWish& wish) { wish.device = "cudda"; },
           [](PlacementWish& wish) { wish.threads = 5000; },
           [](PlacementWish& wish) { wish.storage = "q3"; },
           [](PlacementWish& wish) { wish.max_vram = "4"; },
           [](PlacementWish& wish) { wish.keep_alive = "soon"; },
           [](PlacementWish& wish) { wish.device = "profile:none"; }}) {
    PlacementWish wish;
    change(wish);
    const auto placer = open_placer(wish, surroundings);
    ASSERT_FALSE(placer);
    EXPECT_EQ(placer.error().code, ErrorCode::Usage) << placer.error().message;
  }
  EXPECT_TRUE(open_placer({.max_vram = "800MB", .keep_alive = "never"}, surroundings));
}

TEST_F(Opening, WithoutModelsTheBuiltinDetectorFindsSpeechAndIsNoted) {
  const auto opened = open_detector(finding, surroundings);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->placer, nullptr);
  opened->name_work({"a.wav"});  // nothing is placed, and nothing happens
  ASSERT_THAT(codes(), ElementsAre("builtin-detector"));
  EXPECT_EQ(notes.front().text,
            "silero was not pulled: using the built-in detector, which is less exact");
  finding.model = "builtin";
  EXPECT_TRUE(open_detector(finding, surroundings));
  EXPECT_THAT(notes, SizeIs(1));
  finding.rate_hz = 8000;
  const auto refused = open_detector(finding, surroundings);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Usage);
  EXPECT_THAT(refused.error().message, HasSubstr("for 8000: mynah pull silero"));
}

TEST_F(Opening, WithoutVoicesABuiltinOneSpeaksAndIsNoted) {
  const auto opened = open_synthesizer(speaking, surroundings);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->device(), "cpu");
  opened->name_work({"a.wav"});
  EXPECT_THAT(opened->explanation, ElementsAre("model builtin: no voice was pulled"));
  ASSERT_THAT(codes(), ElementsAre("builtin-voice"));
  EXPECT_EQ(notes.front().remedy, "'mynah pull kokoro' brings better ones");
  speaking.voice = "slt";
  EXPECT_EQ(open_synthesizer(speaking, surroundings)->voice, "slt");
  EXPECT_THAT(notes, SizeIs(1));
  speaking.lexicon = "mine.tsv";
  const auto refused = open_synthesizer(speaking, surroundings);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Usage);
  EXPECT_TRUE(speaks_language(speaking, "en-GB", surroundings.environment));
  EXPECT_FALSE(speaks_language(speaking, "fr", surroundings.environment));
}

TEST_F(Opening, WhatABuiltinModelMayNotComputeOnIsRefused) {
  hearing.placement.device = "stt=simt:0";
  hearing.placement.quiet = true;
  speaking.placement.device = "tts=simt:0";
  finding.placement.device = "vad=simt:0";
  EXPECT_FALSE(open_recognizer(hearing, surroundings));
  EXPECT_FALSE(open_synthesizer(speaking, surroundings));
  EXPECT_FALSE(open_detector(finding, surroundings));
}

TEST_F(Opening, EachModelIsTakenForWhatItIs) {
  EXPECT_FALSE(newest_recogniser(store()));
  EXPECT_FALSE(default_detector(store()));
  EXPECT_THAT(*named_models(store(), {}), IsEmpty());
  keep("words", "whisper", "2026-01-01T00:00:00Z");
  keep("mine", "silero", "2026-01-01T00:00:00Z");
  keep("later", "silero", "2026-02-01T00:00:00Z");
  EXPECT_EQ(newest_recogniser(store())->name, "words");
  EXPECT_EQ(default_detector(store())->name, "later");
  keep("silero", "silero", "2025-01-01T00:00:00Z");  // the catalogue's comes first
  EXPECT_EQ(default_detector(store())->name, "silero");
  EXPECT_EQ(resolve_detector(store(), "auto")->name, "silero");
  EXPECT_EQ(resolve_detector(store(), "mine")->name, "mine");

  EXPECT_EQ(check_writes(store(), "mine", "tiny.en").error().code, ErrorCode::Usage);
  EXPECT_TRUE(check_writes(store(), "words", "tiny.en"));
  EXPECT_EQ(check_finds_speech(store(), {.path = "p", .name = "words"}).error().message,
            "words is a Whisper model, which writes what is said (transcribe --model takes it); "
            "--vad-model wants a voice detector: silero, or builtin");
  EXPECT_TRUE(check_finds_speech(store(), {.path = "p", .name = "mine"}));
  EXPECT_TRUE(check_finds_speech(store(), {.path = "p", .name = ""}));

  const auto models = named_models(store(), {"mine", "words"});
  ASSERT_TRUE(models);
  EXPECT_TRUE(std::holds_alternative<place::DetectorFile>(models->front().file));
  EXPECT_TRUE(std::holds_alternative<place::WindowsFile>(models->back().file));

  const std::string golden = MYNAH_SOURCE_DIR "/tests/models";
  keep("writes", "llm", "2026-01-01T00:00:00Z");
  keep("compares", "embedding", "2026-01-01T00:00:00Z");
  for (const std::vector<std::string>& named : std::vector<std::vector<std::string>>{
           {"writes", "compares"},
           {golden + "/llama/golden/qwen3.gguf", golden + "/bert/golden/tiny"},
           {}}) {
    const auto texts = named_models(store(), named);
    ASSERT_TRUE(texts) << texts.error().message;
    ASSERT_GE(texts->size(), 2U);
    EXPECT_TRUE(std::holds_alternative<place::LanguageFile>((*texts)[texts->size() - 2].file));
    EXPECT_TRUE(std::holds_alternative<place::EmbeddingFile>(texts->back().file));
  }
}

TEST_F(Opening, KeptProofsAreFoundWithoutAModelBeingExpected) {
  const auto placer = open_placer({.device = "cpu"}, surroundings);
  ASSERT_TRUE(placer) << placer.error().message;
  place::PlacementState& state = (*placer)->state();
  const NamedModel model{.name = "mine", .file = place::WindowsFile{.path = folder / "mine.gguf"}};
  mynah::test::write_file(folder / "mine.gguf", "a model");
  const place::DeviceIdentity identity = state.context().identity("simt:0");
  EXPECT_THAT(kept_proofs(state, "simt:0", identity, {&model, 1}), IsEmpty());
  const auto group = place::group_of(model.file);
  const auto storage = state.wishes().usual_storage(group, "simt:0");
  std::vector<place::Measurement> measurements;
  for (const place::Stage stage : place::stages_of(group)) {
    measurements.push_back({.stage = stage,
                            .device = "simt:0",
                            .storage = storage,
                            .passed = true,
                            .failure = {},
                            .ms_per_unit = 2});
  }
  const place::ProofStore& proofs = state.context().prover().store();
  proofs.keep(identity, model.file, storage,
              {.measurements = measurements, .made_at = place::seconds_now()});
  const auto kept = kept_proofs(state, "simt:0", identity, {&model, 1});
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].model, "mine");
  EXPECT_EQ(fastest_ms(kept[0].measurements), 2.0 * static_cast<double>(measurements.size()));
  EXPECT_EQ(to_json(kept[0])["stages"].size(), measurements.size());
  EXPECT_THAT(state.context().models(), IsEmpty());
  mynah::test::write_file(folder / "mine.gguf", "another model");
  EXPECT_THAT(kept_proofs(state, "simt:0", identity, {&model, 1}), IsEmpty());
}

TEST(AsNamed, TellsASlipFromAModelThatIsMissingAndFromAPath) {
  const Error none{.code = ErrorCode::NotFound, .message = "none"};
  EXPECT_EQ(as_named(none, "small").code, ErrorCode::Environment);
  EXPECT_EQ(as_named(none, "smoll").code, ErrorCode::Usage);
  EXPECT_EQ(as_named(none, "models/mine.gguf").code, ErrorCode::NotFound);
  EXPECT_EQ(as_named({.code = ErrorCode::Io, .message = ""}, "small").code, ErrorCode::Io);
}

TEST(StorageChoice, KnowsTheNamesOfOthers) {
  EXPECT_EQ(*parse_storage("float16"), DType::F16);
  EXPECT_EQ(*parse_storage("int8_float16"), DType::I8);
  EXPECT_EQ(*parse_storage(std::nullopt), std::nullopt);
  EXPECT_THAT(parse_storage("q3").error().message, HasSubstr("--storage: wanted f32"));
}

TEST(Version, IsOneLineThatNamesTheCommit) {
  EXPECT_THAT(version_line(), HasSubstr(std::string(commit())));
  EXPECT_THAT(program_build(), HasSubstr(version_line()));
}

}  // namespace
}  // namespace mynah::engine
