#include "place/plans/profile.h"

#include <filesystem>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "place/kinds/kinds.h"
#include "place/plan_inputs.h"
#include "place/plans/profile_folder.h"
#include "place/tune.h"
#include "temporary_folder.h"

namespace mynah::place {
namespace {

using mynah::test::TemporaryFolder;
using mynah::test::write_file;
using test::failed;
using test::took;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Profile some_profile(std::string name = "evening") {
  Profile profile{
      .name = std::move(name),
      .model = "tiny.en",
      .model_sha256 = std::string(64, 'a'),
      .created = "2025-03-01T10:00:00Z",
      .build = "0.6.0 (abc)",
      .batch = 8,
      .waited_share = 0.25,
      .devices = {{"cuda:0", "RTX 4060", "535.104.05", "GPU-1"}, {"cpu", "avx2", "", ""}},
      .stages = {took(kSttEncoder, "cuda:0", DType::F16, 2.1, 900),
                 took(kSttDecoder, "cpu", {}, 1.0 / 3, 300)},
      .others = {took(kSttEncoder, "cpu", DType::I8, 30, 400),
                 failed(kSttDecoder, "cuda:0", "its values differ")}};
  profile.stages[0].longest_step_ms = 7;
  profile.stages[0].window_bytes = 12345678901234567890U;
  profile.stages[0].worst_error = 1e-4;
  profile.stages[0].error_bound = 1e-2;
  return profile;
}

ProfileFacts facts_of(const Profile& profile) {
  return {.build = profile.build, .model_sha256 = profile.model_sha256, .devices = profile.devices};
}

TEST(Profile, IsReadAsItWasWritten) {
  const Profile profile = some_profile();
  const auto again = parse_profile(to_json(profile).dump(), "evening", "f");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(*again, profile);
  EXPECT_DOUBLE_EQ(total_ms(*again), 2.1 + 1.0 / 3);
}

TEST(Profile, OfAnEarlierVersionSaysNothingOfWaiting) {
  auto json = to_json(some_profile());
  json.erase("waited_share");
  const auto again = parse_profile(json.dump(), "evening", "f");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->waited_share, 0);
}

TEST(Tune, AMeasurementThatWasDisturbedSaysSo) {
  EXPECT_EQ(disturbed_text(0.1), "");
  EXPECT_EQ(disturbed_text(0.34), "; others had the cores for 34 % of the time");
}

TEST(Profile, HoldsStagesApartAsTheyWereMeasuredSo) {
  const auto made = [](double decoder_ms) {
    PlanInput input;
    input.stages = test::wishes({kSttEncoder, kSttDecoder});
    input.together = true;
    input.batch = 4;
    input.devices = {test::memory("cpu", 8000), test::memory("cuda:0", 4000)};
    input.measurements = {took(kSttEncoder, "cpu", DType::I8, 30, 400),
                          took(kSttDecoder, "cpu", DType::I8, 1, 300),
                          took(kSttEncoder, "cuda:0", DType::F16, 2, 900),
                          took(kSttDecoder, "cuda:0", DType::F16, 4, 700)};
    input.apart = {{took(kSttEncoder, "cuda:0", DType::F16, 2.5, 950),
                    took(kSttDecoder, "cpu", DType::I8, decoder_ms, 350)}};
    Profile profile = some_profile();
    profile.stages.clear();
    profile.others.clear();
    keep_measurements(profile, input, make_plan(std::as_const(input)).value());
    EXPECT_EQ(profile.batch, 4);
    EXPECT_EQ(profile.stages.size() + profile.others.size(), 6U) << "nothing is lost";
    EXPECT_EQ(parse_profile(to_json(profile).dump(), "evening", "f").value(), profile);
    return profile;
  };
  const Profile apart = made(1.5);
  EXPECT_DOUBLE_EQ(total_ms(apart), 4);
  EXPECT_EQ(apart.stages.at(0).bytes, 950'000'000U);
  EXPECT_EQ(apart.stages.at(1).device, "cpu");
  const Profile together = made(9);
  EXPECT_DOUBLE_EQ(total_ms(together), 6);
  EXPECT_EQ(together.stages.at(1).device, "cuda:0");
}

TEST(Profile, WhatADriverSaidOfAFailureIsWrittenPlainly) {
  Profile profile = some_profile();
  profile.others[1].failure = "a\nb\x1b[0m\u009b1m " + std::string(497, 'x') + "é";
  const auto again = parse_profile(to_json(profile).dump(), "evening", "f");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_TRUE(again->others[1].failure.starts_with("a b [0m  1m xxx"));
  EXPECT_LE(again->others[1].failure.size(), 500U);
  // A failure without a word stays one.
  profile.others[1].failure = "";
  EXPECT_FALSE(parse_profile(to_json(profile).dump(), "evening", "f")->others[1].passed);
}

struct Wrong {
  const char* part;
  std::function<void(nlohmann::ordered_json&)> damage;
};

TEST(Profile, IsReadDefensively) {
  using Json = nlohmann::ordered_json;
  const std::vector<Wrong> cases = {
      {"format: wanted 1", [](Json& json) { json["format"] = 2; }},
      {"model.name: wanted", [](Json& json) { json.erase("model"); }},
      {"model.sha256: wanted 64", [](Json& json) { json["model"]["sha256"] = "abc"; }},
      {"build: wanted a text", [](Json& json) { json["build"] = "\x1b[31m"; }},
      {"created: wanted a text", [](Json& json) { json["created"] = std::string(501, 'x'); }},
      {"batch: wanted 1 to", [](Json& json) { json["batch"] = 0; }},
      {"batch: wanted 1 to", [](Json& json) { json["batch"] = -1; }},
      {"stages: wanted a list", [](Json& json) { json["stages"] = 7; }},
      {"stages: wanted one at least", [](Json& json) { json["stages"] = Json::array(); }},
      {"stages: wanted each once", [](Json& json) { json["stages"][1] = json["stages"][0]; }},
      {"stages[0].stage: wanted", [](Json& json) { json["stages"][0]["stage"] = "brain"; }},
      {"stages[1].storage: wanted", [](Json& json) { json["stages"][1]["storage"] = "q9"; }},
      {"stages[1].storage: wanted", [](Json& json) { json["stages"][1].erase("storage"); }},
      {"stages[0].device: wanted", [](Json& json) { json["stages"][0]["device"] = "cuda"; }},
      {"stages[0].device: wanted", [](Json& json) { json["stages"][0]["device"] = "auto"; }},
      {"stages[0].ms_per_second: wanted",
       [](Json& json) { json["stages"][0]["ms_per_second"] = -1; }},
      {"stages[0].bytes: wanted", [](Json& json) { json["stages"][0]["bytes"] = 1.5; }},
      {"others[1].failure: wanted", [](Json& json) { json["others"][1].erase("failure"); }},
      {"devices[0].device: wanted", [](Json& json) { json["devices"][0]["device"] = "metal"; }},
      {"devices: wanted cuda:0", [](Json& json) { json["devices"].erase(0); }},
      {"devices: wanted cpu",
       [](Json& json) {
         json["devices"][0] = json["devices"][1];
         json["devices"].push_back(json["devices"][1]);
         json["stages"][0]["device"] = "cpu";
       }},
  };
  for (const Wrong& wrong : cases) {
    nlohmann::ordered_json json = to_json(some_profile());
    wrong.damage(json);
    const auto profile = parse_profile(json.dump(), "evening", "/p/evening.json");
    ASSERT_FALSE(profile.has_value()) << wrong.part;
    EXPECT_THAT(profile.error().message,
                AllOf(HasSubstr("/p/evening.json: "), HasSubstr(wrong.part)));
  }
  EXPECT_THAT(parse_profile("{", "a", "f").error().message, HasSubstr("wanted JSON"));
}

TEST(Profile, HoldsWhileWhatItWasMeasuredOnIsThere) {
  const Profile profile = some_profile();
  ProfileFacts facts = facts_of(profile);
  EXPECT_TRUE(check_holds(profile, facts).has_value());
  // What no stage is on does not matter, nor what came besides.
  Profile spare = profile;
  spare.devices.push_back({"cuda:1", "RTX 3060", "535.104.05", "GPU-2"});
  EXPECT_TRUE(check_holds(spare, facts).has_value());
  facts.devices.push_back({"cuda:1", "RTX 3060", "535.104.05", "GPU-2"});
  facts.model_sha256.clear();
  EXPECT_TRUE(check_holds(profile, facts).has_value());
}

TEST(Profile, IsRefusedWithWhatChanged) {
  const Profile profile = some_profile();
  const std::vector<std::pair<const char*, std::function<void(ProfileFacts&)>>> cases = {
      {"cuda:0 (RTX 4060) is not here",
       [](ProfileFacts& facts) { facts.devices.erase(facts.devices.begin()); }},
      {"cuda:0 was RTX 4060, GPU-1 and is RTX 4060, GPU-2",
       [](ProfileFacts& facts) { facts.devices[0].uuid = "GPU-2"; }},
      {"the driver of cuda:0 was 535.104.05 and is 550.54",
       [](ProfileFacts& facts) { facts.devices[0].driver = "550.54"; }},
      {"cpu was avx2 and is avx512_vnni",
       [](ProfileFacts& facts) { facts.devices[1].name = "avx512_vnni"; }},
      {"it was made by another build of mynah; ",
       [](ProfileFacts& facts) { facts.build = "0.7.0"; }},
      {"another file of the model tiny.en",
       [](ProfileFacts& facts) { facts.model_sha256 = std::string(64, 'b'); }},
  };
  for (const auto& [part, change] : cases) {
    ProfileFacts facts = facts_of(profile);
    change(facts);
    const Status holds = check_holds(profile, facts);
    ASSERT_FALSE(holds.has_value()) << part;
    EXPECT_EQ(holds.error().code, ErrorCode::Device);
    EXPECT_THAT(holds.error().message, AllOf(HasSubstr("the profile evening no longer holds: "),
                                             HasSubstr(part), HasSubstr("mynah tune")));
  }
}

std::vector<std::string> names_of(const std::vector<Profile>& profiles) {
  std::vector<std::string> names;
  names.reserve(profiles.size());
  for (const Profile& profile : profiles) {
    names.push_back(profile.name);
  }
  return names;
}

TEST(ProfileFolder, KeepsProfilesByName) {
  const TemporaryFolder home;
  const ProfileFolder folder(home / "not/yet");
  EXPECT_THAT(folder.list(), IsEmpty());
  EXPECT_THAT(*folder.pinned(), IsEmpty());
  EXPECT_THAT(folder.load("evening").error().message, HasSubstr("`mynah tune` makes one"));
  ASSERT_TRUE(folder.save(some_profile("b")).has_value());
  ASSERT_TRUE(folder.save(some_profile("evening")).has_value());
  EXPECT_THAT(names_of(folder.list()), ElementsAre("b", "evening"));
  EXPECT_EQ(*folder.load("evening"), some_profile("evening"));
  const auto missing = folder.load("evenin");
  EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("did you mean evening?"));
  // Names stay in the folder.
  write_file(home / "not/yet/out.json", "{}");
  EXPECT_EQ(folder.load("../out").error().code, ErrorCode::NotFound);
  for (const char* name : {"none", "../x", "", ".hidden"}) {
    EXPECT_EQ(folder.save(some_profile(name)).error().code, ErrorCode::InvalidInput) << name;
  }
}

TEST(ProfileFolder, WritesNothingThatItWouldNotRead) {
  const TemporaryFolder home;
  const ProfileFolder folder(home.path());
  Profile profile = some_profile();
  profile.devices.clear();
  EXPECT_THAT(folder.save(profile).error().message, HasSubstr("devices: wanted cuda:0"));
  EXPECT_FALSE(home.has("profiles"));
}

TEST(ProfileFolder, PinsOneThatCanBeRead) {
  const TemporaryFolder home;
  const ProfileFolder folder(home.path());
  ASSERT_TRUE(folder.save(some_profile("a")).has_value());
  EXPECT_FALSE(folder.pin("b").has_value());
  EXPECT_THAT(*folder.pinned(), IsEmpty());
  ASSERT_TRUE(folder.pin("a").has_value());
  EXPECT_THAT(*folder.pinned(), ElementsAre("a"));
  ASSERT_TRUE(folder.unpin().has_value());
  EXPECT_THAT(*folder.pinned(), IsEmpty());
  EXPECT_TRUE(folder.unpin().has_value());
  // What is removed is not in use.
  ASSERT_TRUE(folder.save(some_profile("c")).has_value());
  ASSERT_TRUE(folder.pin("a").has_value());
  ASSERT_TRUE(folder.remove("c").has_value());
  EXPECT_THAT(*folder.pinned(), ElementsAre("a"));
  ASSERT_TRUE(folder.remove("a").has_value());
  EXPECT_THAT(*folder.pinned(), IsEmpty());
  EXPECT_EQ(folder.remove("a").error().code, ErrorCode::NotFound);
}

TEST(ProfileFolder, PinsOneOfEachModel) {
  const TemporaryFolder home;
  const ProfileFolder folder(home.path());
  Profile other = some_profile("voice");
  other.model = "kokoro";
  other.model_sha256 = std::string(64, 'b');
  for (const Profile& profile : {some_profile("a"), some_profile("b"), other}) {
    ASSERT_TRUE(folder.save(profile).has_value());
  }
  write_file(home / "profiles/pinned", "a\n");  // as it was written when there could be one
  EXPECT_THAT(*folder.pinned(), ElementsAre("a"));
  ASSERT_TRUE(folder.pin("voice").has_value());
  EXPECT_THAT(*folder.pinned(), ElementsAre("a", "voice"));
  ASSERT_TRUE(folder.pin("b").has_value());
  EXPECT_THAT(*folder.pinned(), ElementsAre("voice", "b")) << "it is of the model that a is of";
  ASSERT_TRUE(folder.unpin("voice").has_value());
  EXPECT_THAT(*folder.pinned(), ElementsAre("b"));
  ASSERT_TRUE(folder.unpin("b").has_value());
  EXPECT_THAT(*folder.pinned(), IsEmpty());
  write_file(home / "profiles/pinned", "a\n../x\n");
  EXPECT_FALSE(folder.pinned());
  ASSERT_TRUE(folder.pin("voice").has_value()) << "it is written anew";
  EXPECT_THAT(*folder.pinned(), ElementsAre("voice"));
}

TEST(ProfileFolder, KnowsOfWhichModelOneInUseIsThatCannotBeRead) {
  const TemporaryFolder home;
  const ProfileFolder folder(home.path());
  Profile other = some_profile("voice");
  other.model = "a voice";
  other.model_sha256 = std::string(64, 'b');
  ASSERT_TRUE(folder.save(some_profile("a")) && folder.save(other));
  ASSERT_TRUE(folder.pin("voice"));
  write_file(folder.path("voice"), "bad");
  ASSERT_TRUE(folder.pin("a"));
  const auto pins = folder.pins();
  ASSERT_TRUE(pins && pins->size() == 2) << "another model's stays in use";
  EXPECT_EQ(pins->front().name, "voice");
  EXPECT_EQ(pins->front().model, "a voice");
  EXPECT_EQ(pins->front().model_sha256, other.model_sha256);
  ASSERT_TRUE(folder.save(other) && folder.pin("voice"));
  EXPECT_THAT(*folder.pinned(), ElementsAre("a", "voice"));
  for (const char* line : {"a b", "a b c", "a  x"}) {
    write_file(home / "profiles/pinned", line);
    EXPECT_FALSE(folder.pins()) << line;
  }
}

TEST(ProfileFolder, DamagedFilesAreNamedAndCanBeRemoved) {
  const TemporaryFolder home;
  const ProfileFolder folder(home.path());
  ASSERT_TRUE(folder.save(some_profile("good")).has_value());
  write_file(folder.path("bad"), "{");
  std::vector<std::string> damaged;
  EXPECT_THAT(names_of(folder.list(&damaged)), ElementsAre("good"));
  EXPECT_THAT(damaged,
              ElementsAre(AllOf(HasSubstr("bad.json"), HasSubstr("mynah profile remove bad"))));
  EXPECT_FALSE(folder.pin("bad").has_value());
  EXPECT_TRUE(folder.remove("bad").has_value());
  EXPECT_FALSE(std::filesystem::exists(folder.path("bad")));
  for (const char* text : {"", "../x", "none", "a b"}) {
    write_file(home / "profiles/pinned", text);
    const auto pinned = folder.pinned();
    ASSERT_FALSE(pinned.has_value()) << text;
    EXPECT_THAT(pinned.error().message, HasSubstr("mynah profile use none"));
  }
}

}  // namespace
}  // namespace mynah::place
