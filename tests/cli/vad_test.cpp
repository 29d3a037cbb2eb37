// `mynah vad` as a user meets it, with the built-in detector and, where they are, real weights.
#include "cli/hear/vad.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "place/kinds/kinds.h"
#include "place/plans/profile_folder.h"
#include "place/proofs/prover.h"
#include "recordings.h"
#include "temporary_folder.h"
#include "test_context.h"
#include "test_paths.h"

namespace mynah::cli {
namespace {

using test::TemporaryFolder;
using testing::HasSubstr;
using testing::IsEmpty;

class VadVerb : public testing::Test {
 protected:
  int run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "vad");
    return program_.run(arguments);
  }

  [[nodiscard]] const std::string& out() const { return program_.out.text(); }

  [[nodiscard]] const std::string& err() const { return program_.err.text(); }

  TestProgram program_{{verb<VadCommand>("vad", "Find speech.")}};
  TemporaryFolder folder_;
};

TEST_F(VadVerb, says_that_it_uses_the_built_in_detector_and_what_to_pull) {
  EXPECT_EQ(run({write_wav(folder_ / "tone.wav", 1.0)}), 0);
  EXPECT_THAT(err(), HasSubstr("mynah pull silero"));
  EXPECT_THAT(err(), HasSubstr("of 1.0 s are speech (builtin)"));
}

TEST_F(VadVerb, refuses_to_draw_into_a_name_that_promises_another_kind_of_picture) {
  const std::string wav = write_wav(folder_ / "tone.wav", 1.0);
  EXPECT_EQ(run({wav, "--model", "builtin", "--plot", folder_ / "tone.png"}), 2);
  EXPECT_THAT(err(), HasSubstr("wanted a name that ends in .svg, found"));
  EXPECT_FALSE(folder_.has("tone.png"));
  EXPECT_EQ(run({wav, "--model", "builtin", "--plot", folder_ / "tone.SVG"}), 0);
  EXPECT_TRUE(folder_.has("tone.SVG"));
}

TEST_F(VadVerb, makes_the_folder_of_a_drawing_or_says_at_once_that_it_cannot) {
  const std::string wav = write_wav(folder_ / "tone.wav", 1.0);
  EXPECT_EQ(run({wav, "--model", "builtin", "--plot", folder_ / "new/plots/tone.svg"}), 0);
  EXPECT_TRUE(folder_.has("new/plots/tone.svg"));
  EXPECT_EQ(run({wav, "--model", "builtin", "--plot", folder_ / "tone.wav/plot.svg"}), 1);
  EXPECT_THAT(err(), HasSubstr("making the folder " + folder_ / "tone.wav"));
  EXPECT_EQ(out(), "");
}

TEST_F(VadVerb, hears_a_recording_that_is_named_twice_once_but_with_json) {
  const std::string wav = write_wav(folder_ / "tone.wav", 1.0);
  EXPECT_EQ(run({wav, wav, "--model", "builtin"}), 0);
  EXPECT_THAT(err(), HasSubstr(wav + " is named before: it is heard once\n"));
  EXPECT_EQ(out().find("tone.wav:"), std::string::npos);
  const auto before = std::ranges::count(out(), '\n');
  EXPECT_EQ(run({wav, wav, "--model", "builtin", "--json"}), 0);
  EXPECT_EQ(std::ranges::count(out(), '\n'), before + 2);
}

TEST_F(VadVerb, refuses_rttm_and_json_together) {
  EXPECT_EQ(run({write_wav(folder_ / "tone.wav", 1.0), "--model", "builtin", "--rttm", "--json"}),
            2);
  EXPECT_THAT(err(), HasSubstr("--rttm and --json both want standard output"));
  EXPECT_EQ(out(), "");
}

TEST_F(VadVerb, prints_one_object_a_recording_in_the_order_given_and_goes_on_after_a_bad_one) {
  const std::string first = write_wav(folder_ / "first.wav", 0.5);
  const std::string second = write_wav(folder_ / "second.wav", 1.0);
  EXPECT_EQ(run({first, folder_ / "missing.wav", second, "--model", "builtin", "--json",
                 "--probabilities"}),
            1);
  EXPECT_THAT(err(), HasSubstr("missing.wav"));
  std::istringstream lines(out());
  std::string line;
  std::vector<nlohmann::json> found;
  while (std::getline(lines, line)) {
    found.push_back(nlohmann::json::parse(line));
  }
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0]["file"], first);
  EXPECT_EQ(found[0]["duration"], 0.5);
  EXPECT_EQ(found[0]["probabilities"].size(), 16U);
  EXPECT_EQ(found[1]["file"], folder_ / "missing.wav");
  EXPECT_EQ(found[1]["error"]["code"], "not_found");
  EXPECT_EQ(found[2]["file"], second);
  EXPECT_EQ(found[2]["probabilities"].size(), 32U);
  EXPECT_EQ(found[2]["model"], "builtin");
}

TEST_F(VadVerb, says_in_json_that_a_pattern_stands_for_nothing) {
  EXPECT_EQ(run({folder_ / "*.wav", "--model", "builtin", "--json"}), 1);
  const auto object = nlohmann::json::parse(out());
  EXPECT_EQ(object["file"], folder_ / "*.wav");
  EXPECT_FALSE(object["error"]["message"].get<std::string>().empty());
}

TEST_F(VadVerb, takes_telephony_for_8_kHz_unless_it_is_told_another_rate) {
  const std::string file = folder_ / "call.bin";
  std::ofstream(file, std::ios::binary) << std::string(8000, '\xFF');
  const auto duration = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {file, "--model", "builtin", "--json", "--raw"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const size_t before = out().size();
    EXPECT_EQ(run(arguments), 0) << err();
    return nlohmann::json::parse(out().substr(before))["duration"].get<double>();
  };
  for (const char* encoding : {"mulaw", "ulaw", "pcmu", "alaw", "pcma"}) {
    EXPECT_DOUBLE_EQ(duration({encoding}), 1) << encoding;
  }
  EXPECT_DOUBLE_EQ(duration({"ulaw", "--raw-rate", "16000"}), 0.5);
  EXPECT_DOUBLE_EQ(duration({"s16"}), 0.25);
}

TEST_F(VadVerb, refuses_options_out_of_range_as_usage) {
  const std::string file = write_wav(folder_ / "tone.wav", 0.1);
  EXPECT_EQ(run({}), 2);
  EXPECT_EQ(run({file, "--rate", "44100"}), 2);
  EXPECT_EQ(run({file, "--rate", "8000", "--model", "builtin"}), 2);
  EXPECT_EQ(run({file, "--threshold", "1.5"}), 2);
  EXPECT_EQ(run({file, "--raw", "mp3"}), 2);
  EXPECT_THAT(err(), HasSubstr("--raw: wanted u8, s16le, s24le, s32le, f32le, f64le, mulaw, alaw, "
                               "found 'mp3'"));
  EXPECT_EQ(run({file, "--threshold", "0.3", "--negative-threshold", "0.5"}), 2);
  EXPECT_EQ(run({file, "--pad-ms", "-1"}), 2);
  EXPECT_EQ(run({file, "--max-speech-s", "0"}), 2);
  for (const char* threads : {"-1", "1025", "100000"}) {
    EXPECT_EQ(run({file, "--threads", threads, "--model", "builtin"}), 2);
    EXPECT_THAT(err(), HasSubstr(std::string("--threads: wanted 0 to 1024, found ") + threads));
  }
  EXPECT_EQ(run({file, "--device", "cuda:7", "--model", file}), 3);
  EXPECT_THAT(out(), IsEmpty());
}

TEST_F(VadVerb, refuses_devices_and_profiles_that_the_built_in_detector_cannot_be_on) {
  const std::string file = write_wav(folder_ / "tone.wav", 0.1);
  EXPECT_EQ(run({file, "--model", "builtin", "--device", "ref"}), 3);
  EXPECT_THAT(err(), HasSubstr("--device ref: the built-in voice detector computes on the "
                               "processor alone"));
  place::Profile profile;
  profile.name = "evening";
  profile.model = "hibari";
  profile.model_sha256 = std::string(64, 'a');
  profile.created = profile.build = "then";
  profile.devices = {place::identity_without_discovery("cpu")};
  profile.stages.resize(1);
  profile.stages.front().stage = place::kTtsVocoder;
  profile.stages.front().device = "cpu";
  ASSERT_TRUE(place::ProfileFolder(folder_ / "home").save(profile));
  program_.environment = {{"HOME", folder_.path()}, {"MYNAH_HOME", folder_ / "home"}};
  EXPECT_EQ(run({file, "--model", "builtin", "--device", "profile:evening"}), 3);
  EXPECT_THAT(err(), HasSubstr("--device profile:evening: a profile is of a model"));
  EXPECT_EQ(run({file, "--model", file, "--device", "profile:evening"}), 3);
  EXPECT_THAT(err(), HasSubstr("the profile evening is of hibari, which has no vad"));
  EXPECT_THAT(out(), IsEmpty());
}

TEST_F(VadVerb, names_the_model_file_that_is_none) {
  const std::string file = write_wav(folder_ / "tone.wav", 0.1);
  EXPECT_EQ(run({file, "--model", file}), 1);
  EXPECT_THAT(err(), HasSubstr(file));
}

TEST_F(VadVerb, ends_as_stopped_when_it_is_interrupted) {
  program_.stop.request_stop();
  EXPECT_EQ(run({write_wav(folder_ / "tone.wav", 0.5), "--model", "builtin"}), 128 + SIGINT);
}

TEST_F(VadVerb, draws_a_panel_a_recording) {
  const std::string first = write_wav(folder_ / "a&b.wav", 0.5);
  const std::string second = write_wav(folder_ / "second.wav", 40.0);
  EXPECT_EQ(run({first, second, "--model", "builtin", "--rttm", "--plot", folder_ / "plot.svg"}),
            0);
  const std::string svg = folder_.read("plot.svg");
  EXPECT_TRUE(svg.starts_with("<svg xmlns="));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr("a&amp;b.wav"));
  EXPECT_THAT(svg, HasSubstr("second.wav"));
}

// What silero-vad's get_speech_timestamps says of its probabilities by ONNX Runtime.
TEST_F(VadVerb, finds_the_segments_of_a_real_recording) {
  const std::string model = test::weights_path("silero/silero_vad.onnx");
  const std::string clip = test::shared_path("speech/clips/jfk_jfk.flac");
  MYNAH_SKIP_WITHOUT(model);
  MYNAH_SKIP_WITHOUT(clip);
  EXPECT_EQ(run({clip, "--model", model, "--rttm"}), 0);
  EXPECT_EQ(out(),
            "SPEAKER jfk_jfk 1 0.322 1.948 <NA> <NA> speech <NA> <NA>\n"
            "SPEAKER jfk_jfk 1 3.266 1.180 <NA> <NA> speech <NA> <NA>\n"
            "SPEAKER jfk_jfk 1 5.378 2.300 <NA> <NA> speech <NA> <NA>\n"
            "SPEAKER jfk_jfk 1 8.162 2.460 <NA> <NA> speech <NA> <NA>\n");
  EXPECT_THAT(err(), IsEmpty());
}

TEST_F(VadVerb, is_silent_about_noise) {
  const std::string model = test::weights_path("silero/silero_vad.onnx");
  const std::string noise = test::shared_path("speech/noise");
  MYNAH_SKIP_WITHOUT(model);
  MYNAH_SKIP_WITHOUT(noise);
  EXPECT_EQ(run({noise, "--model", model, "--rttm"}), 0);
  EXPECT_THAT(out(), IsEmpty());
}

}  // namespace
}  // namespace mynah::cli
