// A language model whose last layers are on a card and whose first ones are on the processor.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "place/kinds/llm/llm.h"
#include "place/made_up_placer.h"
#include "place/placer.h"

namespace mynah::place {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kOfStates = MYNAH_SOURCE_DIR "/tests/models/llama/golden/qwen35.gguf";
constexpr const char* kShared = MYNAH_SOURCE_DIR "/tests/models/llama/golden/gemma4.gguf";

// Tokens that follow a prompt, the likeliest, as far as they come.
std::vector<int32_t> write(const LanguageModel& model, size_t count) {
  const auto session = model.session();
  std::vector<int32_t> text = {1, 17, 30, 5, 9, 22, 11};
  std::vector<int32_t> added = text;
  std::vector<int32_t> written;
  while (written.size() < count) {
    const int64_t begin = std::ssize(text) - std::ssize(added);
    const auto chosen = session->step(
        {.forks = {},
         .forgotten = {},
         .steps = {{.text = 1, .begin = begin, .tokens = added, .wishes = {TokenWish{}}}}});
    if (!chosen) {
      break;
    }
    added = {chosen->front().token};
    text.push_back(added.front());
    written.push_back(added.front());
  }
  return written;
}

class PlacedLayers : public ::testing::Test {
 protected:
  // --gpu-layers.
  [[nodiscard]] PlacerOptions options(const std::string& devices, int64_t layers) const {
    PlacerOptions made = test::placer_options(machine_, devices);
    const auto card = put_layers(made.request, layers);
    EXPECT_TRUE(card) << card.error().message;
    return made;
  }

  static Result<std::shared_ptr<const LanguageModel>> open(Placer& placer, LanguageFile& file,
                                                           std::optional<int64_t> layers) {
    MYNAH_TRY(const auto read, open_writing(file.path));
    MYNAH_TRY(file, placer.cut(file, *read, layers));
    return placer.language(file, read);
  }

  // What is written with so many layers on the card, and where.
  [[nodiscard]] std::vector<int32_t> written(PlacerOptions how, int64_t layers,
                                             const std::string& devices) const {
    Placer placer(std::move(how));
    LanguageFile file = file_;
    const auto model = open(placer, file, layers);
    if (!model) {
      ADD_FAILURE() << model.error().message;
      return {};
    }
    EXPECT_EQ(placer.device(placer.id_of(file)), devices);
    lines_ = placer.explain();
    std::vector<int32_t> tokens = write(**model, 12);
    moves_ = placer.state().openings().moves();
    return tokens;
  }

  mynah::test::MadeUpMachine machine_;
  LanguageFile file_{.path = kOfStates, .precision = Precision::Exact};
  mutable std::vector<std::string> lines_;
  mutable std::vector<Move> moves_;
};

TEST_F(PlacedLayers, WriteWhatTheWholeModelWrites) {
  const auto whole = written(options("simt:0", 0), 0, "cpu");
  EXPECT_EQ(whole.size(), 12U);
  EXPECT_THAT(lines_, ElementsAre(StartsWith("llm on cpu (")));
  EXPECT_EQ(written(options("simt:0", 2), 2, "cpu,simt:0"), whole);
  EXPECT_THAT(lines_, Contains(StartsWith("llm.lower on cpu (")));
  EXPECT_THAT(lines_, Contains(StartsWith("llm on simt:0 (")));
  EXPECT_THAT(lines_, Contains(HasSubstr("asked for by name")));
  // More than there are: all of them, and nothing is on the processor.
  EXPECT_EQ(written(options("simt:0", 99), 99, "simt:0"), whole);
  EXPECT_THAT(lines_, Contains(StartsWith("llm on simt:0 (")));
}

TEST_F(PlacedLayers, AReplyWhoseCardDiesGoesOnOnTheProcessor) {
  const auto whole = written(options("simt:0", 0), 0, "cpu");
  for (const Stage stage : {kLlmLower, kLlmStage}) {
    PlacerOptions failing = options("simt:0,cpu", 1);
    failing.faults = {{.stage = stage, .kind = FaultKind::Crash, .call = 5}};
    EXPECT_EQ(written(failing, 1, "cpu,simt:0"), whole) << stage_name(stage);
    ASSERT_EQ(moves_.size(), 1U);
    EXPECT_EQ(moves_[0].to, "cpu");
  }
}

TEST_F(PlacedLayers, AreRefusedWhereTheCardIsNamedAloneAndDies) {
  PlacerOptions failing = options("simt:0", 1);
  failing.faults = {{.stage = kLlmStage, .kind = FaultKind::Crash, .call = 5}};
  EXPECT_EQ(written(failing, 1, "cpu,simt:0").size(), 4U);
}

TEST_F(PlacedLayers, AsManyAreOnACardAsFit) {
  const auto read = open_writing(file_.path);
  ASSERT_TRUE(read);
  const std::vector<int64_t> cuts = (*read)->cuts();
  EXPECT_EQ(cuts, (std::vector<int64_t>{1, 2, 3}));
  const auto bytes_of = [&](LanguageMemory part) {
    part.weight_bytes += part.weight_bytes / 8;  // as they may be packed
    const int64_t tokens = (*read)->trained_context();
    const GrowingMemory growing = memory_of_texts(part, {tokens});
    return growing.unmeasured_bytes + growing.grown_bytes(tokens);
  };
  const auto cut = [&](const char* devices, uint64_t max_vram) {
    PlacerOptions how = test::placer_options(machine_, devices);
    how.max_vram = max_vram;
    Placer placer(how);
    const auto file = placer.cut(file_, **read, std::nullopt);
    EXPECT_TRUE(file) << file.error().message;
    return file ? file->lower_layers : -1;
  };
  for (const int64_t lower : cuts) {
    const CutMemory memory = (*read)->memory(file_.precision, lower);
    EXPECT_EQ(memory.lower.position_bytes + memory.upper.position_bytes,
              (*read)->memory(file_.precision).position_bytes);
    EXPECT_EQ(memory.lower.window_bytes + memory.upper.window_bytes,
              (*read)->memory(file_.precision).window_bytes);
    EXPECT_EQ(memory.lower.state_bytes + memory.upper.state_bytes,
              (*read)->memory(file_.precision).state_bytes);
    EXPECT_EQ(cut("llm.lower=cpu,llm=simt:0", bytes_of(memory.upper)), lower);
    EXPECT_EQ(cut("llm.lower=simt:0,llm=cpu", bytes_of(memory.lower)), lower);
  }
  EXPECT_EQ(cut("llm.lower=cpu,llm=simt:0", 1), 3) << "one at least, as it was asked for";
  EXPECT_EQ(cut("simt:0,cpu", 1), 0) << "a list in order of preference is of the whole";
  EXPECT_EQ(cut("cpu", 1), 0);
  EXPECT_EQ(cut("auto", 1), 0) << "there is no card";
}

TEST_F(PlacedLayers, AreCutWhereNoneReadsAcross) {
  const auto read = open_writing(kShared);
  ASSERT_TRUE(read);
  Placer placer(test::placer_options(machine_, "cpu"));
  const auto cut = placer.cut({.path = kShared}, **read, 1);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::Usage);
  EXPECT_EQ(cut.error().message,
            "--gpu-layers 1: this model cannot be cut there, as layers read what others of them "
            "keep; wanted one of 0, 4, 5, 6");
  EXPECT_EQ(placer.cut({.path = kShared}, **read, 5)->lower_layers, 1);
}

TEST(PutLayers, OnTheFirstCardThatIsNamed) {
  const auto put = [](const char* devices, int64_t layers) {
    DeviceRequest request = parse_device_request(devices).value();
    const auto card = put_layers(request, layers);
    return card ? describe(request) : card.error().message;
  };
  EXPECT_EQ(put("auto", 0), "vad=auto,stt=auto,tts=auto,llm=cpu,embed=auto");
  EXPECT_EQ(put("auto", 7), "vad=auto,stt=auto,tts=auto,llm.lower=cpu,llm=cuda:0,cpu,embed=auto");
  EXPECT_EQ(put("stt=cpu,llm=cuda:1", 7), "stt=cpu,llm.lower=cpu,llm=cuda:1");
  EXPECT_EQ(put("auto", -1), "--gpu-layers: wanted a number from 0 on, found -1");
  EXPECT_EQ(put("cpu", 7),
            "--gpu-layers 7: --device names no card for a language model, but cpu; name one, as "
            "in --device cuda,cpu, or leave --device out");
  EXPECT_EQ(put("profile:fast", 7),
            "--gpu-layers 7: --device profile:fast says where models are; leave one of them out");
}

}  // namespace
}  // namespace mynah::place
