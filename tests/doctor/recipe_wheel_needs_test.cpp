// What wheels ask of torch by their metadata, and the series of torch that torchcodec is built for.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recipe_files.h"

namespace mynah::doctor {

namespace {

Report on_a_card(const std::string& text) {
  Facts facts = files({{"requirements.txt", text.c_str()}});
  facts.machine.cards = {card("GeForce RTX 3090", "8.6")};
  facts.machine.driver = "580.95.05";
  return judge(facts);
}

bool contradicts(const std::string& text) {
  const Report report = on_a_card(text);
  return !of_rule(report, "requirements contradict").empty();
}

}  // namespace

// pip show (Requires-Dist) of these wheels, read 25 November 2026.
TEST(RecipeWheelNeeds, APinThatAWheelRefusesFails) {
  for (const char* const refused : {
           "pyannote.audio==4.0.1\ntorch==2.7.1\n",                            // torch>=2.8.0
           "pyannote.audio==4.0.3\ntorch==2.9.0\n",                            // torch==2.8.0
           "pyannote.audio==4.0.4\ntorch==2.8.0\ntorchcodec==0.6.0\n",         // torchcodec>=0.7.0
           "coqui-tts==0.27.2\ntorch==2.9.0\ntorchaudio==2.9.0\n",             // torch<2.9
           "vllm==0.6.3\ntorch==2.5.1\n",                                      // torch==2.4.0
           "vllm==0.6.4.post1\ntorch==2.4.0\n", "vllm==0.7.3\ntorch==2.6.0\n"  // torch==2.5.1
       }) {
    EXPECT_TRUE(contradicts(refused)) << refused;
  }
  for (const char* const taken :
       {"pyannote.audio==4.0.0\ntorch==2.8.0\n", "pyannote.audio==4.0.4\ntorch==2.9.1\n",
        "coqui-tts==0.27.1\ntorch==2.8.0\n", "coqui-tts==0.27.3\ntorch==2.9.0\n",
        "vllm==0.6.1\ntorch==2.4.0\n", "vllm==0.8.3\ntorch==2.6.0\n"}) {
    EXPECT_FALSE(contradicts(taken)) << taken;
  }
}

// Beside an Arm processor the build is not known, the version is.
TEST(RecipeWheelNeeds, AFrameworkBesideAnArmProcessorHasItsVersion) {
  Facts facts = files({{"requirements.txt", "onnxruntime-gpu==1.22.0\ntorch==2.9.1\n"}});
  facts.machine.cards = {card("NVIDIA GB10", "12.1")};
  facts.machine.driver = "580.95.05";
  std::vector<std::string> subjects;
  const Report report = judge(facts);
  for (const Finding& finding : report.findings) {
    subjects.push_back(finding.subject);
  }
  EXPECT_THAT(subjects, ::testing::IsSupersetOf({"onnxruntime-gpu 1.22.0 in requirements.txt",
                                                 "torch 2.9.1 in requirements.txt"}));
}

// kokoro-onnx asks for onnxruntime, and with its extra "gpu" for onnxruntime-gpu beside it, which
// writes the same folder.
TEST(RecipeWheelNeeds, AnExtraBringsWhatOverwritesAnother) {
  const auto overlaps = [](const std::string& text) {
    const Report report = on_a_card(text);
    EXPECT_THAT(failures(report), ::testing::IsEmpty()) << text;
    const auto found = of_rule(report, "packages clash");
    return found.empty() || found.front()->remedies.empty()
               ? std::string()
               : found.front()->remedies.front().command;
  };
  for (const char* const both : {"kokoro-onnx[gpu]==0.4.9\n", "kokoro-onnx[gpu]==0.6.1\n",
                                 "faster-whisper==1.2.0\nkokoro-onnx[gpu]==0.4.9\n"}) {
    EXPECT_THAT(overlaps(both), ::testing::HasSubstr("--no-deps onnxruntime-gpu")) << both;
  }
  EXPECT_EQ(overlaps("kokoro-onnx==0.4.9\n"), "");
}

// The table of torchcodec's README: 0.10 for torch 2.10, 0.11 for 2.11, 0.12 for 2.11 and newer.
TEST(RecipeWheelNeeds, TorchcodecOfAnotherSeriesIsNamed) {
  const auto told = [](const std::string& text) {
    bool found = false;
    const Report report = on_a_card(text);
    for (const Finding& finding : report.findings) {
      found |= finding.text.contains("built for one series of torch");
      EXPECT_NE(finding.level, Level::Fail) << finding.text;
    }
    return found;
  };
  EXPECT_TRUE(told("torch==2.10.0\ntorchcodec==0.8.0\n"));
  EXPECT_TRUE(told("torch==2.10.0\ntorchcodec==0.9.1\n"));
  EXPECT_TRUE(told("torch==2.10.0\ntorchcodec==0.11.0\n"));
  EXPECT_TRUE(told("torch==2.9.1\ntorchcodec==0.10.0\n"));
  EXPECT_TRUE(told("torch==2.11.0\ntorchcodec==0.10.0\n"));
  EXPECT_FALSE(told("torch==2.10.0\ntorchcodec==0.10.0\n"));
  EXPECT_FALSE(told("torch==2.11.0\ntorchcodec==0.12.0\n"));
}

}  // namespace mynah::doctor
