#include "doctor/knowledge/knowledge.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "doctor/knowledge/knowledge_files.h"

namespace mynah::doctor {

namespace {

using Json = nlohmann::json;

Version version(const char* text) {
  return Version::parse(text).value();
}

std::string capability(const char* name) {
  const Product* product = builtin_knowledge().card(name);
  return product == nullptr ? "" : product->compute_capability;
}

// All files as one, changed by `change`.
template <class Change>
std::string bundle(const Change& change) {
  Json json = {{"format", kKnowledgeFormat}, {"date", builtin_knowledge().date}};
  for (const KnowledgeFile& file : builtin_files()) {
    json["files"][file.name.substr(0, file.name.size() - 5)] = Json::parse(file.text);
  }
  change(json);
  return json.dump();
}

template <class Change>
std::string fault(const Change& change) {
  const auto knowledge = Knowledge::parse_bundle(bundle(change), "new.json");
  return knowledge ? "none" : knowledge.error().message;
}

std::vector<std::string> wheels_of(const char* file) {
  std::vector<std::string> wheels;
  for (const Library* library : builtin_knowledge().libraries_named(file)) {
    wheels.push_back(library->wheel);
  }
  return wheels;
}

}  // namespace

TEST(Knowledge, OfTheProgramIsSoundAndHasEveryError) {
  const auto knowledge = Knowledge::parse(builtin_files());
  ASSERT_TRUE(knowledge) << knowledge.error().message;
  EXPECT_EQ(knowledge->errors.size(), 184U);
  EXPECT_GE(knowledge->date, "2026-11-24");
}

TEST(Knowledge, ACardIsFoundByWhatAnybodyCallsIt) {
  EXPECT_EQ(capability("RTX 5090"), "12.0");
  EXPECT_EQ(capability("NVIDIA GeForce RTX 5090"), "12.0");
  EXPECT_EQ(capability("GeForce RTX 5090 Laptop GPU"), "12.0");
  EXPECT_EQ(capability("NVIDIA RTX PRO 6000 Blackwell Workstation Edition"), "12.0");
  EXPECT_EQ(capability("NVIDIA RTX 6000 Ada Generation"), "8.9");
  EXPECT_EQ(capability("Quadro RTX 6000"), "7.5");
  EXPECT_EQ(capability("titan xp"), "6.1");
  EXPECT_EQ(capability("NVIDIA TITAN X (Pascal)"), "6.1");
  EXPECT_EQ(capability("GeForce GTX TITAN X"), "5.2");
  EXPECT_EQ(capability("Tesla V100-SXM2-16GB"), "7.0");
  EXPECT_EQ(capability("NVIDIA A100-PCIE-40GB"), "8.0");
  EXPECT_EQ(capability("NVIDIA H100 80GB HBM3 MIG 1g.10gb"), "9.0");
  EXPECT_EQ(capability("GeForce GTX 1060 6GB"), "6.1");
  EXPECT_EQ(capability("Tesla T4"), "7.5");
}

TEST(Knowledge, ACardsNameIsReadHoweverPeopleWriteIt) {
  for (const char* const name :
       {"rtx4090", "RTX4090", "rtx-4090", "Rtx_4090", "GeForce RTX4090 24GB", "rtx 4090 24 GB",
        "NVIDIA GeForce RTX 4090 Laptop GPU"}) {
    EXPECT_EQ(capability(name), "8.9") << name;
  }
  EXPECT_EQ(capability("rtx 4070ti super"), "8.9");
  EXPECT_EQ(capability("Tesla V100-SXM2-32GB"), "7.0");
  EXPECT_EQ(capability("NVIDIA A100-SXM4-80GB MIG 1g.10gb"), "8.0");
}

TEST(Knowledge, ACardThatIsNotListedOrCouldBeTwoIsNotGuessed) {
  EXPECT_EQ(capability("RTX 6000"), "");
  EXPECT_EQ(capability("RTX 9090"), "");
}

// Of which a failure may be certain.
TEST(Knowledge, CommonCardsHaveACapabilityThatWasVerified) {
  for (const auto& [capability, names] :
       std::vector<std::pair<std::string, std::vector<const char*>>>{
           {"6.1",
            {"Tesla P4", "Tesla P40", "GeForce GTX 1080 Ti", "GeForce MX150", "Quadro P400"}},
           {"7.0", {"Tesla V100-PCIE-16GB", "Tesla V100S-PCIE-32GB", "TITAN V"}},
           {"7.5",
            {"NVIDIA GeForce GTX 1650", "GeForce GTX 1650 with Max-Q Design",
             "NVIDIA GeForce GTX 1660 SUPER", "NVIDIA GeForce RTX 2080 SUPER",
             "NVIDIA GeForce MX450", "NVIDIA T400 4GB", "NVIDIA T600", "NVIDIA T1000 8GB",
             "Quadro T2000", "Tesla T4"}},
           {"8.0", {"NVIDIA A800-SXM4-80GB", "NVIDIA A30"}},
           {"8.6",
            {"NVIDIA A10G", "NVIDIA A2", "NVIDIA A16", "NVIDIA A40",
             "NVIDIA RTX A1000 6GB Laptop GPU", "NVIDIA RTX A4500", "NVIDIA RTX A5500",
             "NVIDIA GeForce RTX 3060 Laptop GPU", "NVIDIA GeForce RTX 2050"}},
           {"8.9",
            {"NVIDIA L4", "NVIDIA L40", "NVIDIA L40S", "NVIDIA L20",
             "NVIDIA GeForce RTX 4050 Laptop GPU", "NVIDIA RTX 2000 Ada Generation",
             "NVIDIA RTX 4000 SFF Ada Generation"}},
           {"9.0", {"NVIDIA H100 80GB HBM3", "NVIDIA H800", "NVIDIA H20"}},
           {"12.0",
            {"NVIDIA GeForce RTX 5050 Laptop GPU", "NVIDIA GeForce RTX 5090 D",
             "NVIDIA RTX PRO 2000 Blackwell", "NVIDIA RTX PRO 6000 Blackwell Server Edition"}}}) {
    for (const char* const name : names) {
      const Product* const product = builtin_knowledge().card(name);
      ASSERT_NE(product, nullptr) << name;
      EXPECT_EQ(product->compute_capability, capability) << name;
      EXPECT_TRUE(product->verified) << name;
    }
  }
  EXPECT_EQ(capability("Radeon RX 7900 XTX"), "");
  EXPECT_EQ(capability(""), "");
  EXPECT_EQ(capability("NVIDIA GPU"), "");
}

TEST(Knowledge, ArchitecturesSayWhoCompilesForThem) {
  const Architecture* pascal = builtin_knowledge().architecture("6.1");
  ASSERT_NE(pascal, nullptr);
  EXPECT_EQ(pascal->dropped_in->value, "13.0");
  EXPECT_EQ(pascal->last_driver->value, "580");
  EXPECT_EQ(builtin_knowledge().architecture("12.0")->first_toolkit.value, "12.8");
  EXPECT_TRUE(builtin_knowledge().architecture("8.7")->tegra);
  EXPECT_EQ(builtin_knowledge().architecture("12.5"), nullptr);
}

TEST(Knowledge, ADriverIsOfTheNewestBranchThatIsNotAboveIt) {
  const Knowledge& knowledge = builtin_knowledge();
  EXPECT_EQ(knowledge.branch("570.86")->cuda, "12.8");
  EXPECT_EQ(knowledge.branch("572.61")->cuda, "12.8");
  EXPECT_EQ(knowledge.branch("999.1")->cuda, "13.4");
  EXPECT_EQ(knowledge.branch("390.157"), nullptr);
  EXPECT_EQ(knowledge.branch(""), nullptr);
}

TEST(Knowledge, DriversHaveFloorsAndPtxTheCudaVersionThatReadsIt) {
  const Knowledge& knowledge = builtin_knowledge();
  EXPECT_EQ(knowledge.floor(version("12.9"))->linux_driver, "525.60.13");
  EXPECT_EQ(knowledge.floor(version("13.0.1"))->linux_driver, "580");
  EXPECT_EQ(knowledge.floor(version("11.0"))->linux_driver, "450.36.06");
  EXPECT_EQ(knowledge.floor(version("14.0")), nullptr);
  EXPECT_EQ(knowledge.ptx("8.7")->cuda, "12.8");
  EXPECT_TRUE(knowledge.ptx("8.7")->verified);
  EXPECT_FALSE(knowledge.ptx("9.2")->verified);
  EXPECT_EQ(knowledge.toolkit("12.8.1")->driver_linux, "570.124.06");
  EXPECT_EQ(knowledge.toolkit("12.6.1")->cuda, "12.6.3");
  EXPECT_EQ(knowledge.toolkit("15.0"), nullptr);
}

TEST(Knowledge, TorchIsKnownByReleaseAndVariant) {
  const Knowledge& knowledge = builtin_knowledge();
  const TorchVariant* variant = knowledge.torch_variant(version("2.7.1+cu126"));
  ASSERT_NE(variant, nullptr);
  EXPECT_EQ(variant->architectures.back(), "9.0");
  EXPECT_EQ(knowledge.torch_variant(version("2.7.1"))->cuda, "cu126");
  EXPECT_EQ(knowledge.torch_variant(version("2.10.0"))->architectures.front(), "7.0");
  EXPECT_EQ(knowledge.torch_variant(version("2.7.1+cpu")), nullptr);
  EXPECT_EQ(knowledge.torch_variant(version("3.0")), nullptr);
  const TorchRelease* release = knowledge.torch_release(version("2.8.0"));
  EXPECT_EQ(release->torchvision->value, "0.23");
  EXPECT_TRUE(release->python.contains(version("3.13.1")));
  EXPECT_FALSE(release->python.contains(version("3.14.0")));
}

TEST(Knowledge, PackagesAreKnownByTheirVersions) {
  const Knowledge& knowledge = builtin_knowledge();
  EXPECT_EQ(knowledge.ctranslate2_release(version("4.4.0"))->cudnn_major, 8);
  EXPECT_EQ(knowledge.ctranslate2_release(version("4.5.0"))->cudnn_major, 9);
  EXPECT_EQ(knowledge.ctranslate2_release(version("4.6.2"))->cudnn_major, 9);
  EXPECT_EQ(knowledge.ctranslate2_release(version("4.6.3"))->cudnn_major, 0);
  EXPECT_EQ(knowledge.ctranslate2_release(version("4.9.0")), nullptr);
  EXPECT_EQ(knowledge.onnxruntime_release(version("1.18.0"))->cuda_major, 11);
  EXPECT_EQ(knowledge.onnxruntime_release(version("1.26.0"))->cuda_major, 12);
  EXPECT_EQ(knowledge.onnxruntime_release(version("1.31.1"))->cuda_major, 13);
  EXPECT_FALSE(knowledge.onnxruntime_release(version("2.0"))->verified);
  EXPECT_EQ(knowledge.package("faster-whisper", version("1.0.3"))->requires_.front(),
            "ctranslate2>=4.0,<5");
  EXPECT_EQ(knowledge.wheel("ctranslate2", version("4.8.1"), System::Linux)->ptx_isa, "8.7");
  EXPECT_EQ(knowledge.wheel("ctranslate2", version("4.8.1"), System::Windows), nullptr);
}

TEST(Knowledge, TheReleasesOfThePythonIndexAreListedTheNewestFirst) {
  const PackageReleases* const listed = builtin_knowledge().releases_of("faster-whisper");
  ASSERT_NE(listed, nullptr);
  EXPECT_GE(listed->releases.front(), version("1.2.1"));
  EXPECT_THAT(listed->releases, testing::Contains(version("1.0.3")));
  EXPECT_EQ(builtin_knowledge().releases_of("left-pad"), nullptr);
}

TEST(Knowledge, ALibraryIsKnownByItsFileAndTheWheelThatBringsIt) {
  EXPECT_THAT(wheels_of("libcublasLt.so.12"), testing::ElementsAre("nvidia-cublas-cu12"));
  EXPECT_THAT(wheels_of("CUBLAS64_12.DLL"), testing::ElementsAre("nvidia-cublas-cu12"));
  EXPECT_THAT(wheels_of("libcusparse.so.12"),
              testing::ElementsAre("nvidia-cusparse-cu12", "nvidia-cusparse"));
  EXPECT_THAT(wheels_of("libstdc++.so.6"), testing::IsEmpty());
  EXPECT_EQ(builtin_knowledge().library("cublas", 13)->folder, "nvidia/cu13/lib");
  EXPECT_EQ(builtin_knowledge().opener("libcudnn.so.9")->opens.size(), 7U);
}

TEST(Knowledge, WhatIsWrongWithAFileIsSaidWithItsPath) {
  EXPECT_EQ(fault([](Json&) {}), "none");
  EXPECT_EQ(fault([](Json& json) { json["files"]["torch"]["releases"][3]["torch"] = 2.3; }),
            "new.json: torch.json: releases[3].torch: wanted text, found number");
  EXPECT_EQ(fault([](Json& json) { json["files"]["torch"]["releases"][3].erase("python"); }),
            "new.json: torch.json: releases[3]: wanted the field \"python\", found none");
  EXPECT_EQ(fault([](Json& json) { json["files"]["cards"]["products"][0]["price"] = 1; }),
            "new.json: cards.json: products[0]: has no field \"price\"; there are name, "
            "compute_capability, verified, source");
  EXPECT_EQ(fault([](Json& json) {
              json["files"]["ctranslate2"]["releases"][1]["versions"]["from"] = "four";
            }),
            "new.json: ctranslate2.json: releases[1].versions.from: wanted a version (PEP 440), "
            "found \"four\"");
  EXPECT_EQ(
      fault([](Json& json) {
        Json& releases = json["files"]["releases"]["releases"][0]["releases"];
        std::swap(releases[0], releases[1]);
      }),
      "new.json: releases.json: chatterbox-tts: wanted releases that get older from one to the "
      "next");
  EXPECT_EQ(fault([](Json& json) { json["files"].erase("errors"); }),
            "new.json: wanted errors.json, found none");
  EXPECT_EQ(fault([](Json& json) { json["files"]["wheels"]["cards"] = Json::array(); }),
            "new.json: wheels.json: has a field that is not known");
}

TEST(Knowledge, FactsThatContradictEachOtherAreRefused) {
  const auto of_errors = [](const char* key, Json value) {
    return fault([&](Json& json) { json["files"]["errors"]["errors"][0][key] = value; });
  };
  EXPECT_EQ(of_errors("follows", {"E00"}),
            "new.json: errors.json: E01: follows \"E00\", which is no other error");
  EXPECT_EQ(of_errors("patterns", {"{sm} is"}),
            "new.json: errors.json: E01: wanted text between two of {} and *, and before them");
  EXPECT_EQ(of_errors("cause", "{nothing}"),
            "new.json: errors.json: E01: wanted a title and a cause without {names}: not every "
            "pattern has them");
  EXPECT_EQ(of_errors("source", ""),
            "new.json: errors.json: E01: is verified, and names no source");
  EXPECT_EQ(
      of_errors("remedies", Json::parse(R"([{"text": "Then show it to the loader"}])")),
      "new.json: errors.json: E01: a remedy begins with Then or Or: what follows on another is "
      "a step of it, and what stands in its place says so by its place");
  for (const char* const remedies :
       {R"([{"text": "all", "steps": [{"text": "one"}]}])",
        R"([{"text": "all", "command": "x", "steps": [{"text": "one"}, {"text": "two"}]}])"}) {
    EXPECT_EQ(of_errors("remedies", Json::parse(remedies)),
              "new.json: errors.json: E01: wanted a command, or two steps or more in place of it");
  }
  EXPECT_EQ(of_errors("remedies", Json::parse(R"([{"text": "all", "steps": [{"text": "one"},
                                                  {"text": "two {no} three"}]}])")),
            "new.json: errors.json: E01: a remedy has a {name} that no pattern takes");
  EXPECT_EQ(
      fault([](Json& json) { json["files"]["cards"]["products"][0]["name"] = "RTX 5090"; }),
      "new.json: cards.json: product \"GeForce RTX 5090\": another product is called the same");
}

TEST(Knowledge, ANewerOneIsTakenAndAnOlderOrAnotherFormatIsNot) {
  const Knowledge& present = builtin_knowledge();
  const auto dated = [](const char* date, int format) {
    return bundle([&](Json& json) {
      json["date"] = date;
      json["format"] = format;
      json["files"]["torch"]["date"] = date;
    });
  };
  const auto newer = newer_knowledge(present, dated("2027-02-01", 1), "new.json");
  ASSERT_TRUE(newer) << newer.error().message;
  EXPECT_EQ(newer->date, "2027-02-01");
  EXPECT_EQ(newer_knowledge(present, bundle([](Json&) {}), "new.json").error().message,
            "new.json: is of " + present.date + ", and the knowledge base at hand is of " +
                present.date + ": nothing newer");
  EXPECT_EQ(newer_knowledge(present, dated("2027-02-01", 2), "new.json").error().message,
            "new.json: format: wanted 1, found 2");
  EXPECT_EQ(newer_knowledge(present, dated("soon", 1), "new.json").error().message,
            "new.json: date: wanted a day as 2026-11-24");
  EXPECT_FALSE(newer_knowledge(present, "[]", "new.json"));
  EXPECT_FALSE(newer_knowledge(present, "{", "new.json"));
}

}  // namespace mynah::doctor
