// How services of compose files ask for cards.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recipe_files.h"

namespace mynah::doctor {

namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string service(const std::string& lines) {
  return "services:\n  asr:\n    image: pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime\n" + lines;
}

std::string device(const std::string& lines) {
  return service("    deploy:\n      resources:\n        reservations:\n          devices:\n" +
                 lines);
}

Report of_compose(const std::string& text) {
  return judge(files({{"compose.yml", text.c_str()}}));
}

// "fail: compose.yml:8" of what is said of devices.
std::vector<std::string> refused(const std::string& text) {
  const Report report = of_compose(text);
  std::vector<std::string> said;
  for (const auto& finding : of_rule(report, "compose refuses devices")) {
    said.push_back(std::string(level_name(finding->level)) + ": " + finding->evidence[0].where);
    EXPECT_FALSE(finding->remedies.empty());
    EXPECT_FALSE(finding->error.empty());
  }
  EXPECT_THAT(of_rule(report, "card not reserved"), IsEmpty()) << text;
  return said;
}

}  // namespace

TEST(RecipeCompose, RefusesDevicesWithoutCapabilities) {
  EXPECT_THAT(refused(device("            - count: 1\n")), ElementsAre("fail: compose.yml:8"));
  // Its newest releases take a driver in their place.
  EXPECT_THAT(refused(device("            - driver: nvidia\n              count: all\n")),
              ElementsAre("unknown: compose.yml:8"));
  EXPECT_THAT(refused(device("            - capabilities: [gpu]\n")), IsEmpty());
  EXPECT_THAT(refused(service("    gpus:\n      - driver: nvidia\n        count: 1\n")), IsEmpty());
  EXPECT_THAT(refused(service("    gpus: all\n")), IsEmpty());
}

TEST(RecipeCompose, RefusesANumberOfDevicesBesideTheirIds) {
  EXPECT_THAT(refused(device("            - capabilities: [gpu]\n              count: 1\n"
                             "              device_ids: ['0']\n")),
              ElementsAre("fail: compose.yml:8"));
  EXPECT_THAT(refused(service("    gpus:\n      - count: 1\n        device_ids: ['0']\n")),
              ElementsAre("fail: compose.yml:5"));
  EXPECT_THAT(
      refused(device("            - capabilities: [gpu]\n              device_ids: ['0']\n")),
      IsEmpty());
}

TEST(RecipeCompose, BothFaultsOfADeviceAreOneFinding) {
  const std::string text = device(
      "            - driver: nvidia\n              count: 1\n              device_ids: ['0']\n");
  EXPECT_THAT(refused(text), ElementsAre("fail: compose.yml:8"));
  const Report report = of_compose(text);
  const auto said = of_rule(report, "compose refuses devices");
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0]->error, "\"count\" and \"device_ids\" attributes are exclusive");
  ASSERT_EQ(said[0]->remedies.size(), 1U);
  EXPECT_EQ(said[0]->remedies[0].steps.size(), 2U);
  // Two devices are two findings.
  EXPECT_EQ(refused(device("            - count: 1\n            - count: 2\n")).size(), 2U);
}

TEST(RecipeCompose, AnImageWhoseNameSaysCudaWantsACard) {
  const auto said = [](const char* image) {
    const Report report = of_compose(std::string("services:\n  llm:\n    image: ") + image + "\n");
    return of_rule(report, "card not reserved").size();
  };
  for (const char* const image :
       {"ghcr.io/ggml-org/llama.cpp:server-cuda", "ghcr.io/ggerganov/llama.cpp:full-cuda12",
        "ghcr.io/speaches-ai/speaches:latest-cuda", "ghcr.io/remsky/kokoro-fastapi-gpu:v0.2.2",
        "onerahmet/openai-whisper-asr-webservice:latest-gpu"}) {
    EXPECT_EQ(said(image), 1U) << image;
  }
  for (const char* const image :
       {"ghcr.io/ggml-org/llama.cpp:server", "ghcr.io/ggml-org/llama.cpp:server-vulkan",
        "ghcr.io/ggml-org/llama.cpp:server-rocm", "localai/localai:latest-gpu-vulkan",
        "ghcr.io/ggml-org/llama.cpp:server-intel", "ghcr.io/remsky/kokoro-fastapi-cpu:v0.2.2"}) {
    EXPECT_EQ(said(image), 0U) << image;
  }
}

TEST(RecipeCompose, SaysThatADockerfileWithinItWasNotRead) {
  const Recipe recipe =
      parse_recipe(
          "services:\n  asr:\n    build:\n      context: .\n      dockerfile_inline: |\n"
          "        FROM python:3.11\n        RUN pip install torch==2.5.1\n",
          "compose.yml")
          .value();
  EXPECT_THAT(recipe.doubts, Contains(HasSubstr("the Dockerfile within \"asr\" was not read")));
}

TEST(RecipeCompose, NvidiasRuntimeGivesTheCardsThatAVariableNames) {
  const auto said = [](const std::string& more, const std::string& from) {
    const std::string compose = "services:\n  asr:\n    build: .\n    runtime: nvidia\n" + more;
    const std::string dockerfile = "FROM " + from + "\nRUN pip install torch==2.5.1\n";
    const Report report =
        judge(files({{"compose.yml", compose.c_str()}, {"Dockerfile", dockerfile.c_str()}}));
    std::vector<std::string> remedies;
    for (const auto& finding : of_rule(report, "card not reserved")) {
      remedies.push_back(finding->remedies.at(0).command);
    }
    return remedies;
  };
  EXPECT_THAT(said("", "python:3.11"), ElementsAre("NVIDIA_VISIBLE_DEVICES: all"));
  EXPECT_THAT(said("    environment: {NVIDIA_VISIBLE_DEVICES: all}\n", "python:3.11"), IsEmpty());
  EXPECT_THAT(said("    gpus: all\n", "python:3.11"), IsEmpty());
  EXPECT_THAT(said("    env_file: .env\n", "python:3.11"), IsEmpty());
  EXPECT_THAT(said("", "nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04"), IsEmpty());
}

// Docker starts no container with a card that is not there; inside, the reserved ones are counted
// from 0 on.
TEST(RecipeCompose, CountsTheCardsThatAServiceIsGiven) {
  const auto said = [](const std::string& text, size_t cards) {
    Facts facts = files({{"compose.yml", text.c_str()}});
    facts.machine.driver = "580.95.05";
    for (size_t i = 0; i < cards; ++i) {
      facts.machine.cards.push_back(card("GeForce RTX 3090", "8.6"));
    }
    const Report report = judge(facts);
    std::vector<std::string> found;
    for (const auto& finding : of_rule(report, "visible devices")) {
      found.push_back(std::string(level_name(finding->level)) + ": " +
                      finding->subject.substr(0, finding->subject.find(' ')) + " at " +
                      finding->evidence[0].where);
    }
    return found;
  };
  const std::string one = "            - capabilities: [gpu]\n              device_ids: ['1']\n";
  const std::string variable = "    environment:\n      - CUDA_VISIBLE_DEVICES=1\n";
  EXPECT_THAT(said(device(one), 2), IsEmpty());
  EXPECT_THAT(said(device(one), 1), ElementsAre("fail: device_ids at compose.yml:9"));
  EXPECT_THAT(said(device(one) + variable, 2),
              ElementsAre("fail: CUDA_VISIBLE_DEVICES at compose.yml:11"));
  const std::string count = "            - capabilities: [gpu]\n              count: 1\n";
  EXPECT_THAT(said(device(count) + variable, 2),
              ElementsAre("fail: CUDA_VISIBLE_DEVICES at compose.yml:11"));
  EXPECT_THAT(said(service("    gpus: all\n" + variable), 2), IsEmpty());
  const std::string both =
      "            - capabilities: [gpu]\n              device_ids: ['0', '1']\n";
  EXPECT_THAT(said(device(both) + variable, 2), IsEmpty());
  const std::string runtime = "    runtime: nvidia\n    environment: {NVIDIA_VISIBLE_DEVICES: ";
  EXPECT_THAT(said(service(runtime + "\"4\"}\n"), 4),
              ElementsAre("fail: NVIDIA_VISIBLE_DEVICES at compose.yml:5"));
  EXPECT_THAT(said(service(runtime + "\"0,1\"}\n"), 2), IsEmpty());
  EXPECT_THAT(said(service(runtime + "all}\n"), 1), IsEmpty());
  EXPECT_THAT(said(service(runtime + "\"1\", CUDA_VISIBLE_DEVICES: \"1\"}\n"), 2),
              ElementsAre("fail: CUDA_VISIBLE_DEVICES at compose.yml:5"));
  // What a variable says, and slices, are not known.
  EXPECT_THAT(said(service(runtime + "\"${CARD:-4}\"}\n"), 1), IsEmpty());
}

}  // namespace mynah::doctor
