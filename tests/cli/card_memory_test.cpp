// A card that has too little memory for all at once: less is done together, then the weights take
// less, then it goes on elsewhere.
#include <regex>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/card_program.h"

namespace mynah::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Json = nlohmann::json;

class CardMemory : public CardProgram {
 protected:
  CardMemory() {
    for (size_t i = 1; i < kRecordings; ++i) {
      others_.push_back(write_wav(folder_ / ("tone" + std::to_string(i) + ".wav"), 0.8));
    }
  }

  // Short recordings are windows that are heard together, once the first was heard alone.
  [[nodiscard]] ProgramOutcome transcribe_all(const std::string& device, const Variables& more = {},
                                              std::vector<std::string> flags = {}) {
    flags.insert(flags.end(), others_.begin(), others_.end());
    return transcribe(device, more, flags);
  }

  // A wider model, whose weights are most of what it needs.
  void take_a_wider_model() {
    whisper::Config config = test::tiny_config(false);
    config.n_audio_state = config.n_text_state = 64;
    model_ = write_whisper(folder_ / "wide.gguf", config, test::tiny_vocabulary(config));
  }

  // The fewest bytes that this model can be heard with, by the refusal of less.
  [[nodiscard]] uint64_t least_bytes() {
    const ProgramOutcome refused = transcribe("cuda:0", {}, {"--max-vram", "1MB"});
    EXPECT_EQ(refused.end.exit_code, 3) << refused.err;
    std::smatch needed;
    if (!std::regex_search(refused.err, needed, std::regex(R"(, ([0-9.]+) MB are needed)"))) {
      ADD_FAILURE() << refused.err;
      return 0;
    }
    return static_cast<uint64_t>(std::stod(needed[1]) * 1e6);
  }

  // What every move said, where it led to.
  static std::vector<std::string> moves_of(const ProgramOutcome& outcome) {
    std::vector<std::string> said;
    const Json placement = placement_of(outcome);
    for (const Json& move : placement.at("moves")) {
      said.push_back(move.at("to").get<std::string>() + ": " +
                     move.at("reason").get<std::string>());
    }
    return said;
  }

  static constexpr size_t kRecordings = 5;
  std::vector<std::string> others_;
};

TEST_F(CardMemory, AWindowsMemoryIsMeasuredAndLimitsHowManyAreHeardTogether) {
  const ProgramOutcome whole = transcribe_all("cuda:0", {}, {"--explain"});
  expect_text(whole);
  EXPECT_THAT(whole.err, Not(HasSubstr("windows together")));
  // Each window that is heard beside others keeps its keys, values and logits: a megabyte here.
  const std::string limit = std::to_string(least_bytes() + 3'000'000);
  const ProgramOutcome less = transcribe_all("cuda:0", {}, {"--explain", "--max-vram", limit});
  EXPECT_THAT(less.err, HasSubstr("; 2 of 8 windows together, for want of memory"));
  EXPECT_EQ(less.out, whole.out) << "a text does not depend on what is heard beside it";
  EXPECT_THAT(transcribe_all("cuda:0", {}, {"--explain", "--batch", "1"}).err,
              Not(HasSubstr("windows together")));
}

TEST_F(CardMemory, WhereItRunsOutInTheMiddleLessIsDoneTogetherThenTheWeightsTakeLess) {
  const ProgramOutcome outcome =
      transcribe_all("cuda:0", {{"MYNAH_FAULT", "stt.decoder:oom@2"}}, {"--json"});
  EXPECT_TRUE(outcome.end.ok()) << outcome.err;
  EXPECT_THAT(
      moves_of(outcome),
      ElementsAre(AllOf(HasSubstr("cuda:0: "), HasSubstr("memory is full"),
                        HasSubstr("; 2 of 4 windows together from now on")),
                  AllOf(HasSubstr("cuda:0: "), HasSubstr("; 1 of 2 windows together from now on")),
                  AllOf(HasSubstr("cuda:0: "), HasSubstr("; as i8 instead of f16"))));
  EXPECT_THAT(outcome.err,
              HasSubstr("; 2 of 4 windows together from now on; stt goes on on cuda:0"));
  // That is held against the card by nobody.
  const ProgramOutcome after = transcribe("auto", {}, {"--explain"});
  expect_text(after);
  EXPECT_THAT(after.err, Not(HasSubstr("failed")));
}

TEST_F(CardMemory, WhereNothingSmallerIsLeftItIsTheNextDeviceOrARefusal) {
  const Variables full = {{"MYNAH_FAULT", "stt.decoder:oom@1"}};
  const std::vector<std::string> flags = {"--json", "--batch", "1", "--storage", "f16"};
  const ProgramOutcome moved = transcribe_all("cuda:0,cpu", full, flags);
  EXPECT_TRUE(moved.end.ok()) << moved.err;
  EXPECT_THAT(moves_of(moved), ElementsAre(AllOf(HasSubstr("cpu: "), HasSubstr("memory is full"))));
  const ProgramOutcome refused = transcribe("cuda:0", full, {"--batch", "1", "--storage", "f16"});
  EXPECT_EQ(refused.end.exit_code, 3);
  EXPECT_THAT(refused.err, HasSubstr("memory is full"));
}

TEST_F(CardMemory, Int8IsTakenWhereF16ExceedsTheLimit) {
  take_a_wider_model();
  const std::string limit = std::to_string(least_bytes() + 500'000);
  const ProgramOutcome less = transcribe("cuda:0", {}, {"--explain", "--max-vram", limit});
  expect_text(less);
  EXPECT_THAT(less.err, HasSubstr(", i8, proven ")) << "as f16 it is 3 MB larger";
}

TEST_F(CardMemory, Int8IsProvenWhereF16HadNoRoom) {
  take_a_wider_model();
  uint64_t free = (least_bytes() >> 20U) + 4;
  std::string said;
  for (; free > 0 && said.empty(); --free) {
    const std::string home = folder_ / ("home" + std::to_string(free));  // nothing is proven there
    const ProgramOutcome less = transcribe(
        "cuda:0",
        {{"HOME", home},
         {"MYNAH_HOME", home},
         {"MYNAH_FAKE_CARDS", "name=Full,cc=8.9,memory=8192,free=" + std::to_string(free)}},
        {"--explain"});
    ASSERT_TRUE(less.end.ok()) << less.err << "f16 and then nothing fits";
    said = less.err.find(", i8, proven ") != std::string::npos ? less.err : "";
  }
  EXPECT_THAT(said, HasSubstr("; as i8, for want of memory"));
}

}  // namespace
}  // namespace mynah::cli
