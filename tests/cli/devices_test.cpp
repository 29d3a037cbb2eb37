// `mynah devices` on made-up machines: fake drivers, a fake NVML, a root of our own.
#include "cli/placement/devices.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/test_context.h"
#include "engine/discovery_search.h"
#include "gpu/fake_driver/loaded_fake.h"
#include "gpu/fake_nvml/loaded_nvml.h"
#include "place/made_up_machine.h"

namespace mynah::cli {
namespace {

using gpu::fake::FakeCard;
using gpu::fake::FakeNvmlCard;
using gpu::fake::LoadedFake;
using gpu::fake::LoadedNvml;
using nlohmann::json;
using test::MadeUpMachine;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kUuid = "GPU-10101010-1010-1010-1010-101010101010";

class Devices : public ::testing::Test {
 protected:
  Devices() {
    environment_ = {{"HOME", home_.path()},
                    {"MYNAH_CUDA_DRIVER", driver_.path()},
                    {"MYNAH_NVML", nvml_.path()}};
  }

  // Standard output of `mynah devices ARGUMENTS`, which ends with this exit code.
  std::string run(std::vector<std::string> arguments = {}, int code = 0) {
    TestProgram program({{"devices", "Show.", [this] {
                            return std::make_unique<DevicesCommand>(machine_.root.path());
                          }}});
    program.environment = environment_;
    arguments.insert(arguments.begin(), "devices");
    EXPECT_EQ(program.run(arguments), code) << program.err.text();
    EXPECT_EQ(program.err.text(), "");
    return program.out.text();
  }

  // Standard error of the same, which fails with this exit code.
  std::string refusal(std::vector<std::string> arguments, int code) {
    TestProgram program({{"devices", "Show.", [this] {
                            return std::make_unique<DevicesCommand>(machine_.root.path());
                          }}});
    program.environment = environment_;
    arguments.insert(arguments.begin(), "devices");
    EXPECT_EQ(program.run(arguments), code) << program.out.text();
    return program.err.text();
  }

  static std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> found;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin);
      found.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    return found;
  }

  // The line of the table about this device.
  std::string row(const std::string& device) {
    for (const std::string& line : lines(run())) {
      if (line.starts_with(device + " ")) {
        return line;
      }
    }
    return "no row of " + device;
  }

  std::vector<json> objects() {
    std::vector<json> found;
    for (const std::string& line : lines(run({"--json"}))) {
      found.push_back(json::parse(line));
    }
    return found;
  }

  TemporaryFolder home_;
  MadeUpMachine machine_;
  LoadedFake driver_;
  LoadedNvml nvml_;
  std::map<std::string, std::string> environment_;
};

TEST_F(Devices, AreATable) {
  machine_.add_card("0000:01:00.0", kUuid);
  const std::vector<std::string> table = lines(run());
  ASSERT_EQ(table.size(), 5U) << run();
  EXPECT_THAT(table[0], testing::MatchesRegex("device +name +free memory +state"));
  EXPECT_THAT(table[1],
              testing::MatchesRegex("cpu +Made Up 9000, [0-9]+ cores?, [a-z0-9_]+ +6.1 of 8.2 GB "
                                    "+usable"));
  EXPECT_THAT(table[2],
              testing::MatchesRegex("cuda:0 +Fake RTX +7.5 of 8.6 GB +usable, not proven yet"));
  EXPECT_THAT(table[3], testing::MatchesRegex("ref .* to check against"));
  EXPECT_THAT(table[4], testing::MatchesRegex("simt:0 .* to check against"));
  // The columns stand below their headings.
  const size_t state = table[0].find("state");
  EXPECT_EQ(table[1].find("usable"), state);
  EXPECT_EQ(table[2].find("usable"), state);
  EXPECT_EQ(table[4].find("to check"), state);
}

TEST_F(Devices, NoCardIsNoError) {
  driver_->fail({.function = "cuInit", .result = gpu::CUDA_ERROR_NO_DEVICE});
  EXPECT_THAT(row("cuda"), testing::MatchesRegex("cuda +no card +cannot: this machine has no "
                                                 "NVIDIA card \\(the driver lists no card\\)"));
}

TEST_F(Devices, ThatThereIsNoCardToProveIsSaid) {
  driver_->fail({.function = "cuInit", .result = gpu::CUDA_ERROR_NO_DEVICE});
  EXPECT_THAT(run({"--prove"}), HasSubstr("\nno card to prove; simt:0 can be: mynah devices "
                                          "--prove simt:0\n"));
  EXPECT_THAT(run(), testing::Not(HasSubstr("no card to prove")));
}

TEST_F(Devices, SayWhatHelps) {
  machine_.add_card("0000:01:00.0", kUuid);
  machine_.add_pci("0000:02:00.0", "nouveau");
  nvml_->cards = {FakeNvmlCard{.compute_mode = gpu::CU_COMPUTEMODE_PROHIBITED}};
  const std::string text = run();
  EXPECT_THAT(text, HasSubstr("cannot: its compute mode is Prohibited"));
  EXPECT_THAT(text, HasSubstr("\nWhat helps:\n  cuda:0: as root: nvidia-smi -i " +
                              std::string(kUuid) + " -c DEFAULT\n  0000:02:00.0: `dmesg` says"));
  EXPECT_THAT(row("0000:02:00.0"), HasSubstr("cannot: NVIDIA's driver 550.54.14 does not run"));
  EXPECT_THAT(row("0000:02:00.0"), HasSubstr("NVIDIA card "));
}

TEST_F(Devices, OneThatIsNamedAndCannotBeProvenIsAnError) {
  machine_.add_card("0000:01:00.0", kUuid);
  nvml_->cards = {FakeNvmlCard{.compute_mode = gpu::CU_COMPUTEMODE_PROHIBITED}};
  EXPECT_THAT(run({"--prove", "cuda:0"}, 3), HasSubstr("cannot: its compute mode is Prohibited"));
  run({"--prove"}, 0);
  run({"cuda:0"}, 0);
}

TEST_F(Devices, WhatOthersAreComparedWithHasNothingToProve) {
  EXPECT_THAT(run({"--prove", "ref", "cpu"}),
              AllOf(HasSubstr("\nref has nothing to prove: its plain loops are the definition that "
                              "operations are compared with\n"),
                    HasSubstr("\ncpu has nothing to prove: other devices are compared with what it "
                              "computes\n")));
  EXPECT_THAT(run({"ref"}), Not(HasSubstr("nothing to prove")));
}

TEST_F(Devices, ANameOfNoDeviceSaysWhatItCouldBe) {
  for (const auto& [name, help] :
       {std::pair("gpu", "mynah knows NVIDIA's cards, as --device cuda"),
        std::pair("simt:1", "did you mean simt:0"), std::pair("auto", "is no device, but the")}) {
    EXPECT_THAT(refusal({name}, 2), HasSubstr(help)) << name;
  }
  EXPECT_THAT(refusal({"cuda:7"}, 3), HasSubstr("there is no device cuda:7: `mynah devices`"));
}

TEST_F(Devices, OneRemedyForSeveralCardsIsSaidOnce) {
  machine_.add_pci("0000:01:00.0", "");
  machine_.add_pci("0000:02:00.0", "");
  driver_->fail({.function = "cuInit", .result = gpu::CUDA_ERROR_NO_DEVICE});
  EXPECT_THAT(run(), HasSubstr("\nWhat helps:\n  0000:01:00.0, 0000:02:00.0: install NVIDIA's "
                               "driver"));
}

TEST_F(Devices, SeveralFindingsAboutOneDevice) {
  machine_.add_card("0000:01:00.0", kUuid);
  nvml_->cards = {FakeNvmlCard{.memory = {.total = 8'000'000'000, .free = 1'000'000, .used = 0},
                               .compute_mode = gpu::CU_COMPUTEMODE_EXCLUSIVE_PROCESS}};
  EXPECT_THAT(row("cuda:0"), HasSubstr("may not work: its compute mode is Exclusive_Process"));
  EXPECT_THAT(run(), HasSubstr("  cuda:0: only 1 MB of its memory are free, and a context alone "
                               "can take 479 MB: end what uses the card"));
}

TEST_F(Devices, SayWhyFreeMemoryIsNotKnown) {
  machine_.add_card("0000:01:00.0", kUuid);
  nvml_->failures["nvmlInit_v2"] = gpu::NVML_ERROR_LIB_RM_VERSION_MISMATCH;
  EXPECT_THAT(row("cuda:0"), HasSubstr(" ? of 8.6 GB "));
  EXPECT_THAT(run(),
              HasSubstr("\nHow much memory of cards is free is not known: starting NVML: the "
                        "driver's library and the driver in the kernel are of different "
                        "releases (NVML error 18); reboot"));
}

TEST_F(Devices, ASleepingCardSaysSo) {
  machine_.add_card("0000:01:00.0", kUuid);
  static_cast<void>(run());
  machine_.put_to_sleep("0000:01:00.0");
  EXPECT_THAT(row("cuda:0"), HasSubstr("usable, asleep, not proven yet"));
}

TEST_F(Devices, AreObjectsALine) {
  machine_.add_card("0000:01:00.0", kUuid);
  nvml_->cards = {FakeNvmlCard{
      .processes = {{.pid = 7, .bytes = 1000}, {.pid = 8, .bytes = gpu::kNvmlNotAvailable}}}};
  const std::vector<json> found = objects();
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0]["device"], "cpu");
  EXPECT_EQ(found[0]["outlook"], "fine");
  EXPECT_EQ(found[0]["auto"], true);
  EXPECT_EQ(found[0]["memory_bytes"], 8'192'000'000);
  EXPECT_GE(found[0]["cores"], 1);
  const json& card = found[1];
  EXPECT_EQ(card["device"], "cuda:0");
  EXPECT_EQ(card["model"], "Fake RTX");
  EXPECT_EQ(card["state"], "usable, not proven yet");
  EXPECT_EQ(card["free_memory_bytes"], 7ULL << 30);
  EXPECT_EQ(card["pci"], "0000:01:00.0");
  EXPECT_EQ(card["uuid"], kUuid);
  EXPECT_EQ(card["compute_capability"], "8.9");
  EXPECT_EQ(card["driver"], "550.54.14");
  EXPECT_EQ(card["driver_in_kernel"], "550.54.14");
  EXPECT_EQ(card["cuda"], "13.0");
  EXPECT_EQ(card["compute_mode"], "default");
  EXPECT_EQ(card["divided"], nullptr);
  EXPECT_EQ(card["processes"],
            json::parse(R"([{"pid":7,"memory_bytes":1000},{"pid":8,"memory_bytes":null}])"));
  EXPECT_EQ(card["findings"][0]["rule"], "compute capability");
  EXPECT_EQ(card["findings"][0]["outlook"], "fine");
  EXPECT_EQ(card["findings"][0]["remedy"], nullptr);
  EXPECT_EQ(found[3]["device"], "simt:0");
  EXPECT_EQ(found[3]["auto"], false);
}

TEST_F(Devices, ACardThatCannotBeUsedIsAnObjectToo) {
  machine_.add_card("0000:01:00.0", kUuid);
  environment_["CUDA_VISIBLE_DEVICES"] = "";
  driver_->reset({.cards = {}});
  const std::vector<json> found = objects();
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[1]["device"], "0000:01:00.0");
  EXPECT_EQ(found[1]["outlook"], "cannot");
  EXPECT_EQ(found[1]["auto"], false);
  EXPECT_THAT(found[1]["state"].get<std::string>(),
              HasSubstr("CUDA_VISIBLE_DEVICES='' hides every card"));
  EXPECT_EQ(found[1]["findings"][0]["remedy"], "unset it, or set it to 0");
}

TEST_F(Devices, WhatTheDriverToldIsKeptInTheCacheFolder) {
  machine_.add_card("0000:01:00.0", kUuid);
  const std::string first = run();
  EXPECT_TRUE(home_.has(".cache/mynah/devices"));
  driver_->clear_calls();
  EXPECT_EQ(run(), first);
  for (const auto& call : driver_->calls()) {
    EXPECT_NE(call.function, "cuInit");
  }
  // Another order of devices is another answer.
  environment_["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  static_cast<void>(run());
  EXPECT_THAT(driver_->calls(),
              testing::Contains(testing::Field(&gpu::fake::FakeCall::function, "cuInit")));
}

TEST_F(Devices, ADriverMayNameItselfAnyhow) {
  driver_->reset({.cards = {FakeCard{.name = "\xff\xfe"}}});
  machine_.add_card("0000:01:00.0", kUuid);
  EXPECT_EQ(objects().size(), 4U);
}

TEST(ProgramBuild, NamesTheFile) {
  EXPECT_THAT(engine::program_build(), HasSubstr("devices_test"));
  EXPECT_EQ(engine::program_build(), engine::program_build());
}

}  // namespace
}  // namespace mynah::cli
