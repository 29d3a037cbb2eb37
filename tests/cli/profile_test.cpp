// `mynah profile` as a user types it, on profiles in a temporary folder.
#include "cli/placement/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/test_context.h"
#include "engine/discovery_search.h"
#include "place/kinds/kinds.h"
#include "place/plans/profile_folder.h"
#include "place/proofs/prover.h"
#include "temporary_folder.h"

namespace mynah::cli {
namespace {

using mynah::test::TemporaryFolder;
using mynah::test::write_file;
using place::Measurement;
using place::Profile;
using place::Stage;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

Measurement took(Stage stage, std::string device, std::optional<DType> storage, double ms) {
  Measurement measurement;
  measurement.stage = stage;
  measurement.device = std::move(device);
  measurement.storage = storage;
  measurement.passed = true;
  measurement.ms_per_unit = ms;
  measurement.bytes = 5'000'000;
  return measurement;
}

Profile profile_of(std::string name, std::vector<Measurement> stages) {
  Profile profile;
  profile.name = std::move(name);
  profile.model = "tiny.en";
  profile.model_sha256 = std::string(64, 'a');
  profile.created = "2025-03-01T10:00:00Z";
  profile.build = engine::program_build();
  profile.devices = {place::identity_without_discovery("cpu"),
                     place::identity_without_discovery("simt:0"),
                     {"cuda:0", "RTX 4060", "535.104", "GPU-1"}};
  profile.stages = std::move(stages);
  return profile;
}

class ProfileVerb : public ::testing::Test {
 protected:
  Outcome mynah(const std::vector<std::string>& words) {
    TestProgram program({verb<ProfileCommand>("profile", "Profiles.")});
    program.environment = {{"HOME", folder.path()}, {"MYNAH_HOME", folder / "home"}};
    std::vector<std::string> arguments = {"profile"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const int code = program.run(arguments);
    return {code, program.out.text(), program.err.text()};
  }

  void save(const Profile& profile) {
    const Status saved = place::ProfileFolder(folder / "home").save(profile);
    ASSERT_TRUE(saved.has_value()) << saved.error().message;
  }

  // One on the processor and one on the simulated card; both hold.
  void save_two() {
    save(profile_of("slow", {took(place::kSttEncoder, "cpu", DType::I8, 30),
                             took(place::kSttDecoder, "cpu", {}, 4)}));
    Profile fast = profile_of("fast", {took(place::kSttEncoder, "simt:0", DType::F16, 2),
                                       took(place::kSttDecoder, "cpu", {}, 4)});
    fast.others = {took(place::kSttEncoder, "cpu", DType::I8, 30),
                   took(place::kSttDecoder, "cuda:0", DType::F16, 0)};
    fast.others[1].passed = false;
    fast.others[1].failure = "its values differ";
    fast.batch = 8;
    save(fast);
  }

  TemporaryFolder folder;
};

TEST_F(ProfileVerb, lists_what_is_there_and_what_is_in_use) {
  EXPECT_THAT(mynah({}).err, HasSubstr("no profiles yet: `mynah tune`"));
  save_two();
  EXPECT_EQ(mynah({"use", "fast"}).out, "fast is in use\n");
  const Outcome listed = mynah({"list"});
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_EQ(
      listed.out,
      "fast                 in use  tiny.en: stt.encoder on simt:0 as f16, stt.decoder on cpu\n"
      "slow                         tiny.en: stt.encoder on cpu as i8, stt.decoder on cpu\n");
  EXPECT_EQ(mynah({"use", "none"}).out, "no profile is in use: stages are placed by auto\n");
  EXPECT_EQ(mynah({"list"}).out.find("in use"), std::string::npos);
}

TEST_F(ProfileVerb, uses_one_of_each_model) {
  save_two();
  Profile voice = profile_of("voice", {took(place::kTtsAcoustic, "cpu", {}, 1)});
  voice.model = "kokoro";
  voice.model_sha256 = std::string(64, 'b');
  save(voice);
  EXPECT_EQ(mynah({"use", "fast"}).out, "fast is in use\n");
  EXPECT_EQ(mynah({"use", "voice"}).out, "voice is in use\n");
  EXPECT_THAT(mynah({"list"}).out, AllOf(HasSubstr("fast                 in use  "),
                                         HasSubstr("voice                in use  ")));
  EXPECT_EQ(mynah({"use", "slow"}).out, "slow is in use, in place of fast\n");
  EXPECT_THAT(mynah({"show"}).out, AllOf(HasSubstr("voice (in use)"), HasSubstr("slow (in use)")));
  EXPECT_EQ(mynah({"use", "none", "fast"}).code, 2);
  EXPECT_EQ(mynah({"use", "none", "voice"}).out, "still in use: slow\n");
  EXPECT_EQ(nlohmann::json::parse(mynah({"use", "fast", "--json"}).out).at("in_use"),
            nlohmann::json({"fast"}));
}

TEST_F(ProfileVerb, shows_what_was_measured) {
  save_two();
  const Outcome nothing = mynah({"show"});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("none is in use"));
  mynah({"use", "fast"});
  const Outcome shown = mynah({"show"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  for (const char* line :
       {"fast (in use)\n", "  measured      2025-03-01T10:00:00Z, by ",
        "  cuda:0        RTX 4060, driver 535.104, GPU-1\n", "  simt:0        simt:0\n",
        "  stt.encoder   simt:0 as f16: 2 ms for a second of sound, 5.0 MB\n",
        "  not chosen    stt.encoder on cpu as i8: 30 ms\n",
        "  not chosen    stt.decoder on cuda:0 as f16: failed: its values differ\n",
        "  whole         6 ms for a second of sound\n"}) {
    EXPECT_THAT(shown.out, HasSubstr(line));
  }
  EXPECT_THAT(mynah({"show", "slow", "fast"}).out,
              AllOf(HasSubstr("slow\n"), HasSubstr("fast (in use)\n")));
}

TEST_F(ProfileVerb, compares_two) {
  save_two();
  EXPECT_EQ(mynah({"diff", "slow", "fast"}).out,
            "batch         1 -> 8\n"
            "stt.encoder   cpu as i8 -> simt:0 as f16: 30 ms -> 2 ms, 15 times faster\n"
            "stt.decoder   cpu in both: 4 ms -> 4 ms\n"
            "whole         34 ms -> 6 ms, 5.7 times faster\n");
  Profile other = profile_of("other", {took(place::kVadStage, "cpu", {}, 1),
                                       took(place::kSttEncoder, "cpu", DType::I8, 40)});
  other.model = "base";
  other.model_sha256 = std::string(64, 'b');
  save(other);
  EXPECT_EQ(mynah({"diff", "slow", "other"}).out,
            "model         tiny.en -> base\n"
            "vad           not placed -> cpu: - -> 1 ms\n"
            "stt.encoder   cpu as i8 in both: 30 ms -> 40 ms, 1.3 times slower\n"
            "stt.decoder   cpu -> not placed: 4 ms -> -\n"
            "whole         34 ms -> 41 ms, 1.2 times slower\n");
}

TEST_F(ProfileVerb, prints_json) {
  save_two();
  mynah({"use", "slow"});
  const auto shown = nlohmann::json::parse(mynah({"show", "--json"}).out);
  EXPECT_EQ(shown.at("name"), "slow");
  EXPECT_EQ(shown.at("pinned"), true);
  EXPECT_EQ(shown.at("file"), folder / "home/profiles/slow.json");
  EXPECT_EQ(shown.at("stages").at(0).at("storage"), "i8");
  const auto diff = nlohmann::json::parse(mynah({"diff", "slow", "fast", "--json"}).out);
  EXPECT_EQ(diff.at("from").at("ms_per_second"), 34);
  EXPECT_EQ(diff.at("to").at("batch"), 8);
  EXPECT_EQ(diff.at("stages").at(0).at("to").at("device"), "simt:0");
  EXPECT_EQ(diff.at("stages").at(0).at("same_place"), false);
  EXPECT_EQ(diff.at("stages").at(1).at("same_place"), true);
  EXPECT_EQ(nlohmann::json::parse(mynah({"use", "none", "--json"}).out).at("pinned"), nullptr);
  EXPECT_EQ(nlohmann::json::parse(mynah({"remove", "slow", "--json"}).out).at("was_pinned"), false);
}

TEST_F(ProfileVerb, takes_none_that_no_longer_holds) {
  save_two();
  EXPECT_EQ(mynah({"use", "slow"}).code, 0);
  Profile old = profile_of("old", {took(place::kSttEncoder, "cpu", DType::I8, 30)});
  old.build = "0.6.0 (abc), 12:34:56";
  save(old);
  const Outcome refused = mynah({"use", "old"});
  EXPECT_EQ(refused.code, 3);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("the profile old no longer holds: it was made by another "
                              "build of mynah; measure anew with `mynah tune`"),
                    Not(HasSubstr("0.6.0"))));
  save(profile_of("gone", {took(place::kSttEncoder, "cuda:0", DType::F16, 2)}));
  EXPECT_THAT(mynah({"use", "gone"}).err, HasSubstr("the profile gone no longer holds: cuda:0 "));
  EXPECT_THAT(mynah({"show"}).out, HasSubstr("slow (in use)"));
}

TEST_F(ProfileVerb, removes_all_that_are_named_or_none) {
  save_two();
  mynah({"use", "slow"});
  const Outcome refused = mynah({"remove", "slow", "fats"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("there is no profile 'fats' (did you mean fast?)"),
                                 HasSubstr("; nothing was removed")));
  const Outcome removed = mynah({"remove", "slow", "fast", "slow"});
  EXPECT_EQ(removed.code, 0) << removed.err;
  EXPECT_EQ(removed.out,
            "removed slow, which was in use: its model is placed by auto\nremoved fast\n");
  EXPECT_EQ(mynah({"list"}).out, "");
}

TEST_F(ProfileVerb, says_what_is_damaged) {
  save_two();
  mynah({"use", "fast"});
  write_file(folder / "home/profiles/fast.json", "{");
  const Outcome listed = mynah({});
  EXPECT_EQ(listed.code, 0);
  EXPECT_THAT(listed.err,
              AllOf(HasSubstr("fast.json"), HasSubstr("the profile in use, fast, cannot be read")));
  EXPECT_THAT(listed.out, HasSubstr("slow "));
  EXPECT_EQ(mynah({"show"}).code, 1);
  EXPECT_EQ(mynah({"remove", "fast"}).code, 0);
  EXPECT_EQ(mynah({}).err, "");
}

TEST_F(ProfileVerb, refuses_what_it_does_not_understand) {
  save_two();
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases = {
      {{"shwo"}, "wanted list, use, show, diff or remove, found 'shwo' (did you mean show?)"},
      {{"list", "fast"}, "'mynah profile show fast'"},
      {{"use"}, "wanted the name of one profile, or none"},
      {{"use", "fast", "slow"}, "found 2 names"},
      {{"use", "fst"}, "there is no profile 'fst' (did you mean fast?)"},
      {{"show", "nope"}, "there is no profile 'nope'"},
      {{"diff", "fast"}, "wanted the names of two profiles, found 1"},
      {{"remove"}, "wanted the name of a profile"}};
  for (const auto& [words, message] : cases) {
    const Outcome outcome = mynah(words);
    EXPECT_EQ(outcome.code, 2) << message;
    EXPECT_EQ(outcome.out, "") << message;
    EXPECT_THAT(outcome.err, HasSubstr(message));
  }
}

}  // namespace
}  // namespace mynah::cli
