// One model on two cards beside each other.
#include <map>
#include <sstream>
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

  struct Answers {
    std::vector<std::string> texts;
    Json placement;  // the last's
  };

  static Answers answers_of(const ProgramOutcome& outcome) {
    Answers answers;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      const Json one = Json::parse(line, nullptr, false);
      if (one.is_object() && one.contains("text")) {
        answers.texts.push_back(one.at("text").get<std::string>());
        answers.placement = one.at("placement");
      }
    }
    EXPECT_EQ(answers.texts.size(), kRecordings + 1) << outcome.err;
    return answers;
  }

  static constexpr size_t kRecordings = 10;
  std::vector<std::string> flags_;
};

// How evenly is measured by bench/two_cards.py.
TEST_F(TwoCards, ShareTheWindowsAndLoseNone) {
  const Answers one = answers_of(transcribe_all("stt=cuda:0"));
  const Answers both = answers_of(transcribe_all("stt=cuda:0+cuda:1"));
  EXPECT_EQ(both.texts, one.texts);
  std::map<std::string, double> operations;
  for (const Json& stage : both.placement.at("stages")) {
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
  EXPECT_EQ(answers_of(outcome).placement.at("moves").size(), 2U);
  EXPECT_THAT(outcome.err, HasSubstr("stt goes on on cuda:"));
}

}  // namespace
}  // namespace mynah::cli
