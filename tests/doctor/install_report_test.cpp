#include "doctor/plans/install_report.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/plans/compare.h"
#include "doctor/verdicts/known_framework.h"

namespace mynah::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string report(const std::string& installs) {
  return R"({"version": "1", "pip_version": "25.0", "install": [)" + installs +
         R"(], "environment": {}})";
}

std::string entry(const std::string& name, const std::string& version) {
  return R"({"requested": true, "metadata": {"name": ")" + name + R"(", "version": ")" + version +
         R"(", "requires_python": ">=3.9", "requires_dist": ["numpy"]}})";
}

Package package(const std::string& name, const std::string& version) {
  Package made;
  made.name = name;
  made.version = version;
  return made;
}

PythonEnvironment with_torch(const std::string& version) {
  PythonEnvironment environment;
  environment.path = "/home/joe/.venv";
  environment.python = "3.11";
  environment.packages = {package("numpy", "2.1.3"), package("torch", version)};
  environment.frameworks = {
      known_framework("torch", Version::parse(version).value(), System::Linux, builtin_knowledge())
          .value()};
  return environment;
}

Facts on_titan(const PythonEnvironment& environment) {
  Facts facts;
  Card card;
  card.name = "NVIDIA TITAN Xp";
  card.compute_capability = "6.1";
  card.vendor = "10de";
  facts.machine.cards = {card};
  facts.machine.driver = "580.95.05";
  facts.environments = {environment};
  return facts;
}

TEST(InstallReport, NamesWhatWouldBeInstalled) {
  const auto packages = parse_install_report(
      report(entry("Torch", "2.10.0") + "," + entry("Typing_Extensions", "4")));
  ASSERT_TRUE(packages) << packages.error().message;
  ASSERT_EQ(packages->size(), 2U);
  EXPECT_EQ(packages->front().name, "torch");
  EXPECT_EQ(packages->front().version, "2.10.0");
  EXPECT_EQ(packages->front().python, ">=3.9");
  EXPECT_THAT(packages->front().requires_, ElementsAre("numpy"));
  EXPECT_EQ(packages->back().name, "typing-extensions");
  EXPECT_TRUE(parse_install_report(report(""))->empty());
}

TEST(InstallReport, RefusesWhatIsNone) {
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"), std::string(R"({"version": "2"})"),
        std::string(R"({"version": "1", "install": {}})"), report("1"),
        report(R"({"metadata": 1})"), report(R"({"metadata": {"name": "torch"}})")}) {
    EXPECT_FALSE(parse_install_report(text)) << text;
  }
  std::string many = "1";
  for (size_t i = 0; i < kMostReportPackages; ++i) {
    many += ",1";
  }
  EXPECT_THAT(parse_install_report(report(many)).error().message, HasSubstr("packages, more than"));
}

TEST(InstallReport, AnInstallationThatTakesTheCardAwayBreaks) {
  const PythonEnvironment before = with_torch("2.10.0+cu126");
  const PythonEnvironment after =
      environment_after(before, {package("torch", "2.10.0+cu128")}, builtin_knowledge());
  ASSERT_EQ(after.packages.size(), 2U);
  ASSERT_EQ(after.frameworks.size(), 1U);
  EXPECT_EQ(after.frameworks.front().version, "2.10.0+cu128");
  const Facts first = on_titan(before);
  const Comparison comparison = compare(first, on_titan(after), first.machine, builtin_knowledge());
  EXPECT_TRUE(comparison.is_worse());
  ASSERT_EQ(comparison.packages.size(), 1U);
  EXPECT_EQ(comparison.packages.front().kind, ChangeKind::Rebuilt);
}

TEST(InstallReport, AFrameworkWhoseLibrariesAreReplacedIsNotJudgedByItsOldFiles) {
  PythonEnvironment before = with_torch("2.10.0+cu126");
  Framework& torch = before.frameworks.front();
  torch.source.clear();
  LibraryWant cudnn;
  cudnn.library = "libcudnn.so.9";
  cudnn.found = "/home/joe/.venv/lib/python3.11/site-packages/nvidia/cudnn/lib/libcudnn.so.9";
  torch.wants = {cudnn};
  const auto after = [&](const Package& comes) {
    return environment_after(before, {comes}, builtin_knowledge()).frameworks.front();
  };
  EXPECT_EQ(after(package("numpy", "2.2.0")), torch);
  EXPECT_FALSE(after(package("nvidia-cudnn-cu12", "9.28.0.10")).source.empty());
}

}  // namespace
}  // namespace mynah::doctor
