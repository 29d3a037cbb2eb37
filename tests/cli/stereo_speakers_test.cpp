// Who speaks on two channels, and each heard by itself.
#include "cli/hear/stereo_speakers.h"

#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/recordings.h"
#include "cli/transcribe_fixture.h"

namespace mynah::cli {
namespace {

using Json = nlohmann::json;

// Loud and soft in turns of a twentieth of a second by chance, as syllables are.
class Syllables {
 public:
  explicit Syllables(unsigned seed) {
    std::mt19937 chance(seed);
    std::uniform_real_distribution<double> level(0, 8000);
    for (double& syllable : levels_) {
      syllable = level(chance);
    }
  }

  [[nodiscard]] double at(uint32_t frame) const {
    constexpr uint32_t kSyllable = 800;
    return levels_[frame / kSyllable % std::size(levels_)] * std::sin(frame * 0.2);
  }

 private:
  double levels_[200] = {};
};

class TwoChannels : public Transcribe {
 protected:
  // Three seconds of two people: how much of the other one each channel has.
  std::string write(double of_other, double second = 1) {
    const Syllables people[2] = {Syllables(1), Syllables(2)};
    return write_wav_of(folder / "a.wav", 3, 2, [&](int channel, uint32_t frame) {
      const double level[2] = {1, second};
      constexpr uint32_t kDelay = 160;  // 10 ms
      return level[channel] * people[channel].at(frame) +
             of_other * level[1 - channel] * people[1 - channel].at(frame + kDelay);
    });
  }

  Result<StereoSpeakers> measure(const std::string& path) {
    return StereoSpeakers::measure([&path](int channel) {
      AudioOpenOptions options;
      options.channel = channel;
      return open_audio(path, options);
    });
  }
};

TEST_F(TwoChannels, AreApartWhereEachHasItsOwnSounds) {
  for (const double of_other : {0.0, 0.05}) {
    const auto speakers = measure(write(of_other));
    ASSERT_TRUE(speakers);
    EXPECT_TRUE(speakers->apart()) << of_other;
    EXPECT_FALSE(speakers->is_other(0, 0, 3));
    EXPECT_FALSE(speakers->is_other(1, 0, 3));
  }
  const auto room = measure(write(0.8));
  ASSERT_TRUE(room);
  EXPECT_FALSE(room->apart());
}

TEST_F(TwoChannels, KnowTheOtherOneWhereItIsFaint) {
  // The second person says nothing: its channel has the first one, 26 dB below.
  const auto speakers = measure(write(0.05, 0));
  ASSERT_TRUE(speakers);
  EXPECT_TRUE(speakers->is_other(1, 0, 3));
  EXPECT_FALSE(speakers->is_other(0, 0, 3));
}

TEST_F(TwoChannels, AreHeardEachByItself) {
  EXPECT_EQ(run({write(0), "--stereo-speakers", "--json"}), 0) << err();
  std::vector<std::pair<std::string, double>> segments;
  const Json transcript = Json::parse(out());
  for (const Json& segment : transcript["segments"]) {
    segments.emplace_back(segment["speaker"], segment["start"]);
  }
  using testing::Pair;
  EXPECT_THAT(segments, testing::ElementsAre(Pair("0", 0), Pair("1", 0), Pair("0", 1), Pair("1", 1),
                                             Pair("0", 2), Pair("1", 2)));
  EXPECT_EQ(run({write(0.8), "--stereo-speakers", "--json"}), 0) << err();
  EXPECT_EQ(Json::parse(out())["segments"].size(), 3U);
}

}  // namespace
}  // namespace mynah::cli
