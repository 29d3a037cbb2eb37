#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/facts_json.h"
#include "doctor/machine/toolkit_gather.h"
#include "doctor/machine/toolkit_rules.h"
#include "doctor/machine/toolkit_text.h"
#include "temporary_folder.h"

namespace mynah::doctor {
namespace {

using test::TemporaryFolder;
using test::write_file;

constexpr std::string_view kHostConfig =
    "#if defined(__GNUC__)\n"
    "#if __GNUC__ > 12\n"
    "#error -- unsupported GNU version! gcc versions later than 12 are not supported!\n"
    "#endif\n"
    "#if defined(__HORIZON__)\n"
    "#if (__clang_major__ >= 22) || (__clang_major__ < 3)\n"
    "#error -- unsupported HOS clang version!\n"
    "#endif\n"
    "#endif\n"
    "#if defined(__clang__) && !defined(__ICC)\n"
    "#if (__clang_major__ >= 16) || (__clang_major__ < 3) || ((__clang_major__ == 3))\n"
    "#error -- unsupported clang version! clang version must be less than 16\n"
    "#endif\n"
    "#endif\n"
    "#endif\n"
    "#if defined(_WIN32)\n"
    "#if _MSC_VER < 1910 || _MSC_VER >= 1940\n"
    "#error -- unsupported Microsoft Visual Studio version!\n"
    "#endif\n"
    "#endif\n";

class ToolkitTree {
 public:
  void file(const std::string& path, std::string_view text = "") {
    write_file(folder_ / path, text);
  }

  void link(const std::string& path, const std::string& target) {
    const std::filesystem::path at(folder_ / path);
    std::filesystem::create_directories(at.parent_path());
    std::filesystem::create_symlink(target, at);
  }

  // A toolkit with everything that builds want.
  void toolkit(const std::string& path, std::string_view version, int number) {
    file(path + "/bin/nvcc");
    file(path + "/version.json",
         std::string(R"({"cuda": {"name": "CUDA SDK", "version": ")").append(version) + "\"}}");
    file(path + "/include/cuda.h", "#define CUDA_VERSION " + std::to_string(number) + "\n");
    file(path + "/include/crt/host_config.h", kHostConfig);
    for (const char* header : {"cuda_runtime.h", "cublas_v2.h", "nv/target", "cub/cub.cuh",
                               "thrust/version.h", "cuda/std/version"}) {
      file(path + "/include/" + header);
    }
    file(path + "/include/cub/version.cuh", "#define CUB_VERSION 200001 // one value\n");
  }

  [[nodiscard]] std::vector<Toolkit> gather(
      std::map<std::string, std::string> variables = {}) const {
    return gather_toolkits(
        {.root = folder_.path(), .variables = std::move(variables), .prefixes = {"/opt/conda"}});
  }

 private:
  TemporaryFolder folder_;
};

std::vector<Finding> judged_toolkits(const Facts& facts) {
  Diagnosis diagnosis{.facts = facts, .knowledge = builtin_knowledge(), .report = {}};
  judge_toolkits(diagnosis);
  return diagnosis.report.findings;
}

const Finding* finding_of(const std::vector<Finding>& findings, std::string_view rule) {
  const auto found = std::ranges::find(findings, rule, &Finding::rule);
  return found == findings.end() ? nullptr : &*found;
}

void expect_one_of_toolkits(const Facts& facts, std::string_view rule, Level level) {
  const std::vector<Finding> findings = judged_toolkits(facts);
  const Finding* const finding = finding_of(findings, rule);
  ASSERT_NE(finding, nullptr) << rule;
  EXPECT_EQ(finding->level, level) << rule << ": " << finding->text;
  if (level == Level::Fail) {
    EXPECT_EQ(finding->certainty, Certainty::Certain);
    EXPECT_FALSE(finding->remedies.empty());
    EXPECT_FALSE(finding->evidence.empty());
  }
}

Facts complete(std::string_view version) {
  Facts facts;
  facts.machine.release = "Ubuntu 24.04.1 LTS";
  Toolkit& toolkit = facts.toolkits.emplace_back();
  toolkit.path = "/usr/local/cuda-" + std::string(version);
  toolkit.version = version;
  for (const char* header : {"cuda_runtime.h", "cublas_v2.h", "nv/target", "cub/cub.cuh",
                             "thrust/version.h", "cuda/std/version"}) {
    toolkit.headers[header] = true;
  }
  toolkit.gcc_most = 12;
  toolkit.host_compiler = "gcc 12";
  return facts;
}

TEST(ToolkitText, LimitsOfHostCompilersAreReadFromTheConditionsInFrontOfTheErrors) {
  EXPECT_EQ(
      compiler_limits(kHostConfig),
      (CompilerLimits{.gcc_most = 12, .clang_most = 15, .msvc_least = 1910, .msvc_most = 1939}));
  EXPECT_EQ(compiler_limits(""), CompilerLimits());
  EXPECT_EQ(compiler_limits("#error unsupported GNU version\n"), CompilerLimits());
}

TEST(ToolkitText, VersionsAreReadAsEachFileHasThem) {
  EXPECT_EQ(version_of_json(R"({"cuda": {"version": "12.1.1"}})"), "12.1.1");
  EXPECT_EQ(version_of_json(R"({"cuda": []})"), "");
  EXPECT_EQ(version_of_json(R"({"cuda": {"version": "x"}})"), "");
  EXPECT_EQ(version_of_text("CUDA Version 10.2.89\n"), "10.2.89");
  EXPECT_EQ(defined_number("# define  CUDA_VERSION\t12010\n", "CUDA_VERSION"), 12010);
  EXPECT_FALSE(defined_number("#define CUDA_VERSION_X 1\n", "CUDA_VERSION"));
  EXPECT_FALSE(defined_number("#define CUDA_VERSION 99999999999\n", "CUDA_VERSION"));
  EXPECT_EQ(version_of_cuda_number(12010), "12.1");
  EXPECT_EQ(version_of_cub_number(200701), "2.7.1");
  EXPECT_EQ(msc_version("14.38.33130"), 1938);
  EXPECT_EQ(msc_version("15.0"), 0);
  EXPECT_EQ(msc_version("14.x"), 0);
}

TEST(GatherToolkits, ALinuxToolkitIsReadOnceWithItsCompiler) {
  ToolkitTree tree;
  tree.toolkit("usr/local/cuda-12.1", "12.1.1", 12010);
  tree.link("usr/local/cuda", "cuda-12.1");
  tree.file("usr/bin/x86_64-linux-gnu-gcc-13");
  tree.link("usr/bin/gcc", "x86_64-linux-gnu-gcc-13");
  tree.file("usr/lib/gcc/x86_64-linux-gnu/13/cc1plus");
  tree.file("usr/lib/gcc/x86_64-linux-gnu/11/cc1plus");
  tree.file("usr/lib/gcc/x86_64-linux-gnu/9/include/x");
  const auto toolkits =
      tree.gather({{"PATH", "/usr/bin:/usr/local/cuda/bin"}, {"CUDA_HOME", "/usr/local/cuda"}});
  ASSERT_EQ(toolkits.size(), 1U);
  const Toolkit& toolkit = toolkits[0];
  EXPECT_EQ(toolkit.path, "/usr/local/cuda-12.1");
  EXPECT_EQ(toolkit.version, "12.1.1");
  EXPECT_EQ(toolkit.cub_version, "2.0.1");
  EXPECT_TRUE(toolkit.on_path);
  EXPECT_TRUE(toolkit.named);
  EXPECT_TRUE(toolkit.headers.at("nv/target"));
  EXPECT_FALSE(toolkit.headers.at("cudnn.h"));
  EXPECT_EQ(toolkit.gcc_most, 12);
  EXPECT_EQ(toolkit.host_compiler, "gcc 13");
  EXPECT_EQ(toolkit.other_compilers, std::vector<std::string>{"gcc 11"});
  EXPECT_FALSE(toolkit.visual_studio);
  EXPECT_EQ(tree.gather({{"NVCC_CCBIN", "/usr/bin/g++-11"}})[0].host_compiler, "");
}

TEST(GatherToolkits, DebiansToolkitHasItsHeadersInUsrAndItsOwnCompiler) {
  ToolkitTree tree;
  tree.file("usr/bin/nvcc", "#!/bin/sh\n");
  tree.file("usr/include/cuda.h", "#define CUDA_VERSION 11080\n");
  tree.file("usr/include/crt/host_config.h", kHostConfig);
  tree.file("usr/include/cub/cub.cuh");
  tree.file("usr/bin/gcc-11");
  tree.link("usr/lib/nvidia-cuda-toolkit/bin/gcc", "/usr/bin/gcc-11");
  const auto toolkits = tree.gather({{"PATH", "/bin:/usr/bin"}});
  ASSERT_EQ(toolkits.size(), 1U);
  EXPECT_EQ(toolkits[0].path, "/usr");
  EXPECT_EQ(toolkits[0].version, "11.8");
  EXPECT_EQ(toolkits[0].host_compiler, "gcc 11");
  EXPECT_TRUE(toolkits[0].on_path);
}

TEST(GatherToolkits, ANewerToolkitHasItsCppHeadersInAFolderOfTheirOwnAndCondasLieInTargets) {
  ToolkitTree tree;
  tree.file("usr/local/cuda-13.0/bin/nvcc");
  tree.file("usr/local/cuda-13.0/include/cccl/nv/target");
  tree.file("opt/conda/bin/nvcc");
  tree.file("opt/conda/conda-meta/history");
  tree.file("opt/conda/targets/x86_64-linux/include/cuda.h", "#define CUDA_VERSION 12080\n");
  tree.file("opt/conda/targets/x86_64-linux/include/cub/cub.cuh");
  const auto toolkits = tree.gather();
  ASSERT_EQ(toolkits.size(), 2U);
  EXPECT_EQ(toolkits[0].version, "13.0");
  EXPECT_TRUE(toolkits[0].headers.at("nv/target"));
  EXPECT_EQ(toolkits[1].path, "/opt/conda");
  EXPECT_EQ(toolkits[1].version, "12.8");
  EXPECT_TRUE(toolkits[1].headers.at("cub/cub.cuh"));
  EXPECT_EQ(toolkits[1].host_compiler, "");
}

// Case 4 of the doctor's issue: a Windows tree with a minimal CUDA 12.1.
TEST(Toolkits, AMinimalCuda121OfWindowsStopsAtThreeHeadersWhichAreSaidAtOnce) {
  ToolkitTree tree;
  const std::string base = "Program Files/NVIDIA GPU Computing Toolkit/CUDA/v12.1";
  tree.file(base + "/bin/nvcc.exe");
  tree.file(base + "/version.json", R"({"cuda": {"version": "12.1.1"}})");
  tree.file(base + "/include/cuda_runtime.h");
  tree.file(base + "/include/cublas_v2.h");
  tree.file(base + "/include/crt/host_config.h", kHostConfig);
  const std::string studio = "Program Files/Microsoft Visual Studio/2022/Community";
  tree.file(studio + "/VC/Tools/MSVC/14.38.33130/bin/x");
  tree.file(studio + "/VC/Auxiliary/Build/Microsoft.VCToolsVersion.default.txt",
            "14.38.33130 \r\n");
  tree.file(studio + "/MSBuild/Microsoft/VC/v170/BuildCustomizations/CUDA 12.1.props");
  Facts facts;
  facts.machine.system = System::Windows;
  facts.toolkits = tree.gather(
      {{"CUDA_PATH", "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v12.1"},
       {"Path", "C:\\Windows;C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v12.1\\bin"}});
  ASSERT_EQ(facts.toolkits.size(), 1U);
  EXPECT_EQ(facts.toolkits[0].host_compiler, "_MSC_VER 1938");
  EXPECT_EQ(facts.toolkits[0].visual_studio, true);
  EXPECT_TRUE(facts.toolkits[0].named);
  EXPECT_TRUE(facts.toolkits[0].on_path);

  const std::vector<Finding> findings = judged_toolkits(facts);
  ASSERT_EQ(findings.size(), 1U);
  const Finding& finding = findings[0];
  EXPECT_EQ(finding.level, Level::Fail);
  EXPECT_NE(finding.text.find("nv/target, then at cub/cub.cuh, then at thrust/version.h"),
            std::string::npos);
  ASSERT_EQ(finding.remedies.size(), 2U);
  EXPECT_EQ(finding.remedies[0].command, "cuda_12.1.1_windows_network.exe -s thrust_12.1");
  EXPECT_NE(finding.remedies[1].text.find("mynah"), std::string::npos);

  // A card that needs a newer toolkit makes that a remedy, too.
  Card& card = facts.machine.cards.emplace_back();
  card.name = "NVIDIA GeForce RTX 5090";
  card.compute_capability = "12.0";
  const std::vector<Finding> with_card = judged_toolkits(facts);
  EXPECT_EQ(finding_of(with_card, "toolkit headers")->remedies.size(), 3U);
  EXPECT_EQ(finding_of(with_card, "toolkit too old for card")->level, Level::Warning);
}

TEST(ToolkitRules, ACompleteToolkitIsGood) {
  const std::vector<Finding> findings = judged_toolkits(complete("12.1"));
  ASSERT_EQ(findings.size(), 1U) << findings.back().text;
  EXPECT_EQ(findings[0].level, Level::Good);
}

TEST(ToolkitRules, HeadersThatNobodyLookedForAreNotMissing) {
  Facts facts = complete("12.1");
  facts.toolkits[0].headers.clear();
  EXPECT_EQ(judged_toolkits(facts)[0].level, Level::Good);
}

TEST(ToolkitRules, EachSystemHasItsOwnCommandForTheHeaders) {
  Facts facts = complete("12.1");
  facts.toolkits[0].headers["cub/cub.cuh"] = false;
  const auto command = [&] {
    return finding_of(judged_toolkits(facts), "toolkit headers")->remedies[0].command;
  };
  EXPECT_EQ(command(), "sudo apt-get install -y cuda-cccl-12-1");
  facts.machine.release = "Fedora Linux 42";
  EXPECT_EQ(command(), "sudo dnf install -y cuda-cccl-12-1");
  facts.toolkits[0].path = "/opt/conda";
  EXPECT_EQ(command(), "conda install -p /opt/conda -c nvidia cuda-cccl=12.1");
  facts.machine.release = "Debian GNU/Linux 12 (bookworm)";
  facts.toolkits[0].path = "/usr";
  EXPECT_EQ(command(), "sudo apt-get install -y libcub-dev libthrust-dev libcu++-dev");
}

TEST(ToolkitRules, ACompilerThatNvccRefusesFailsUnlessAnotherIsThere) {
  Facts facts = complete("12.1");
  Toolkit& toolkit = facts.toolkits[0];
  toolkit.host_compiler = "gcc 13.2.0";
  expect_one_of_toolkits(facts, "host compiler", Level::Fail);
  EXPECT_EQ(finding_of(judged_toolkits(facts), "host compiler")->remedies[0].command,
            "sudo apt-get install -y g++-12 && export NVCC_CCBIN=g++-12");
  toolkit.other_compilers = {"gcc 14", "gcc 11"};
  expect_one_of_toolkits(facts, "host compiler", Level::Warning);
  EXPECT_EQ(finding_of(judged_toolkits(facts), "host compiler")->remedies[0].command,
            "export NVCC_CCBIN=g++-11");
  toolkit.host_compiler = "clang 17";
  EXPECT_EQ(finding_of(judged_toolkits(facts), "host compiler"), nullptr);  // no limit is known
  toolkit.clang_most = 15;
  expect_one_of_toolkits(facts, "host compiler", Level::Fail);
  toolkit.system = System::Windows;
  toolkit.host_compiler = "_MSC_VER 1944";
  toolkit.msvc_least = 1910;
  toolkit.msvc_most = 1939;
  expect_one_of_toolkits(facts, "host compiler", Level::Fail);
  EXPECT_THAT(finding_of(judged_toolkits(facts), "host compiler")->text,
              testing::HasSubstr("_MSC_VER 1910 to 1939"));
  toolkit.msvc_least = 0;
  EXPECT_THAT(finding_of(judged_toolkits(facts), "host compiler")->text,
              testing::HasSubstr("_MSC_VER up to 1939"));
  toolkit.other_compilers = {"_MSC_VER 1938"};
  EXPECT_EQ(finding_of(judged_toolkits(facts), "host compiler")->remedies[0].command,
            "vcvarsall.bat x64 -vcvars_ver=14.38");
}

TEST(ToolkitRules, AToolkitThatDroppedTheCardFailsUnlessAnotherCompilesForIt) {
  Facts facts = complete("13.0");
  Card& card = facts.machine.cards.emplace_back();
  card.name = "NVIDIA TITAN Xp";
  card.compute_capability = "6.1";
  expect_one_of_toolkits(facts, "toolkit dropped card", Level::Fail);
  EXPECT_EQ(finding_of(judged_toolkits(facts), "toolkit dropped card")->remedies[0].command,
            "sudo apt-get install -y cuda-toolkit-12-9");
  facts.toolkits.push_back(complete("12.6").toolkits[0]);
  expect_one_of_toolkits(facts, "toolkit dropped card", Level::Warning);
}

TEST(ToolkitRules, ADriverThatIsTooOldForWhatIsCompiledIsWarnedOf) {
  Facts facts = complete("13.0");
  facts.machine.driver = "570.86.10";
  expect_one_of_toolkits(facts, "toolkit newer than driver", Level::Warning);
  facts.machine.driver = "580.95.05";
  EXPECT_EQ(finding_of(judged_toolkits(facts), "toolkit newer than driver"), nullptr);
}

TEST(ToolkitRules, PathAndCudaHomeThatDifferAreWarnedOf) {
  Facts facts = complete("12.0");
  facts.toolkits.push_back(complete("13.0").toolkits[0]);
  facts.toolkits[0].on_path = true;
  facts.toolkits[1].named = true;
  expect_one_of_toolkits(facts, "several toolkits", Level::Warning);
  EXPECT_EQ(finding_of(judged_toolkits(facts), "several toolkits")->remedies[0].command,
            "export PATH=/usr/local/cuda-13.0/bin:\"$PATH\"");
}

TEST(ToolkitRules, OfSeveralToolkitsAnUnusedOneIsAtMostWarnedOf) {
  Facts facts = complete("12.1");
  facts.toolkits[0].headers["cub/cub.cuh"] = false;
  facts.toolkits.push_back(complete("13.0").toolkits[0]);
  facts.toolkits[1].on_path = true;
  expect_one_of_toolkits(facts, "toolkit headers", Level::Warning);
}

TEST(ToolkitRules, VisualStudioThatWasNotToldIsWarnedOf) {
  Facts facts = complete("12.1");
  facts.toolkits[0].visual_studio = false;
  expect_one_of_toolkits(facts, "visual studio integration", Level::Warning);
}

TEST(Toolkits, ThisMachineDoesNotFail) {
  Facts facts;
  facts.toolkits = gather_toolkits({});
  for (const Finding& finding : judged_toolkits(facts)) {
    EXPECT_NE(finding.level, Level::Fail) << finding.text;
  }
}

}  // namespace
}  // namespace mynah::doctor
