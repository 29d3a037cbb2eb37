// One model on two cards beside each other.
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/card_program.h"

namespace mynah::cli {
namespace {

using ::testing::HasSubstr;

using Json = nlohmann::json;

class TwoCards : public CardProgram {
 protected:
  TwoCards() {
    for (size_t i = 0; i < kRecordings; ++i) {
      flags_.push_back(write_wav(folder_ / ("tone" + std::to_string(i) + ".wav"), 0.5));
    }
  }

  [[nodiscard]] ProgramOutcome transcribe_all(const std::string& device,
                                              const Variables& more = {}) {
    std::vector<std::string> flags = {"--json", "--batch", "1"};
    flags.insert(flags.end(), flags_.begin(), flags_.end());
    Variables cards = {{"MYNAH_FAKE_CARDS",
                        "name=A,cc=8.9,uuid=0xa1,memory=8192;name=B,cc=8.9,uuid=0xb1,memory=8192"}};
    cards.insert(more.begin(), more.end());
    return transcribe(device, cards, flags);
  }

  static std::vector<std::string> texts_of(const ProgramOutcome& outcome) {
    std::vector<std::string> texts;
    for (const Json& answer : answers_of(outcome)) {
      texts.push_back(answer.at("text").get<std::string>());
    }
    EXPECT_EQ(texts.size(), kRecordings + 1) << outcome.err;
    return texts;
  }

  static constexpr size_t kRecordings = 6;
  std::vector<std::string> flags_;
};

// How evenly is measured by bench/two_cards.py.
TEST_F(TwoCards, ShareTheWindowsAndLoseNone) {
  const ProgramOutcome both = transcribe_all("stt=cuda:0+cuda:1");
  EXPECT_EQ(texts_of(both), texts_of(transcribe_all("stt=cuda:0")));
  std::map<std::string, double> operations;
  const Json placement = placement_of(both);
  for (const Json& stage : placement.at("stages")) {
    operations[stage.at("device").get<std::string>()] += stage.at("operations").get<double>();
  }
  EXPECT_GT(operations["cuda:0"], 0);
  EXPECT_GT(operations["cuda:1"], 0);
}

// Both workers end, one after the other, and the processor hears what is left.
TEST_F(TwoCards, LoseNothingWhereBothDie) {
  const ProgramOutcome outcome =
      transcribe_all("stt=cuda:0+cuda:1,cpu", {{"MYNAH_FAULT", "stt.decoder:crash@3"}});
  EXPECT_TRUE(outcome.end.ok()) << outcome.err;
  EXPECT_EQ(texts_of(outcome).size(), kRecordings + 1);
  EXPECT_EQ(placement_of(outcome).at("moves").size(), 2U);
  EXPECT_THAT(outcome.err, HasSubstr("stt goes on on cuda:"));
}

}  // namespace
}  // namespace mynah::cli
