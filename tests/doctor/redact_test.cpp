#include "doctor/reports/redact.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/facts_json.h"

namespace mynah::doctor {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string redacted(const std::string& text) {
  return Redactor(Facts(), "joe", "joes-box.example.com").redacted(text);
}

TEST(Redactor, KeepsWhatEverySystemHas) {
  for (const char* text :
       {"/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/usr/local/cuda-12.8/lib64/libcudart.so.12",
        "/dev/nvidia0", "/proc/driver/nvidia/version", "/etc/docker/daemon.json",
        "/usr/lib/python3.11/site-packages/torch/lib/libtorch_cuda.so",
        "C:\\Windows\\System32\\nvcuda.dll", "nv/target, cub/cub.cuh and/or thrust",
        "pip install torch==2.7.1 --index-url https://download.pytorch.org/whl/cu128",
        "https://github.com/SYSTRAN/faster-whisper/issues/885", "nvidia/cuda:12.9.1-runtime",
        "import: x=1; y==2", "linux/amd64"}) {
    EXPECT_EQ(redacted(text), text);
  }
}

TEST(Redactor, ReplacesFoldersAndTheirUser) {
  EXPECT_EQ(redacted("/home/joe/secret/.venv/lib/python3.11/site-packages/torch/version.py"),
            "/home/USER/folder1/.venv/lib/python3.11/site-packages/torch/version.py");
  EXPECT_EQ(redacted("in /srv/acme/rocket.yml:3, and '/srv/acme'."),
            "in /folder1/folder2/file1.yml:3, and '/folder1/folder2'.");
  EXPECT_EQ(redacted("C:\\Users\\joe\\Acme\\venv\\Lib\\site-packages\\torch"),
            "C:\\Users\\USER\\folder1\\venv\\Lib\\site-packages\\torch");
  EXPECT_EQ(redacted("/home/ann/x"), "/home/folder1/folder2");
  EXPECT_EQ(redacted("joe on joes-box.example.com (joes-box), not joey"),
            "USER on HOST (HOST), not joey");
  EXPECT_EQ(redacted("nvcc -I/acme/include -L/acme/lib $HOME/acme ~/acme ../acme"),
            "nvcc -I/folder1/include -L/folder1/lib $HOME/folder1 ~/folder1 ../folder1");
  EXPECT_EQ(redacted("LD_LIBRARY_PATH=/acme/lib:/usr/lib:/b"),
            "LD_LIBRARY_PATH=/folder1/lib:/usr/lib:/folder2");
}

TEST(Redactor, DropsPasswordsAndPrivateAddresses) {
  EXPECT_EQ(redacted("--index-url https://joe:pw@pip.acme.example:8080/simple and more"),
            "--index-url https://host1/... and more");
  EXPECT_EQ(redacted("git+https://token@github.com/x/y"), "git+https://github.com/x/y");
  EXPECT_EQ(redacted("file:///home/joe/w.whl"), "file:///home/USER/file1.whl");
  EXPECT_EQ(redacted("RUN HF_TOKEN=hf_abc pip install x"), "RUN HF_TOKEN=redacted pip install x");
}

Facts somebodys() {
  Facts facts;
  facts.machine.name = "annsbox";
  facts.machine.variables = {{"LD_LIBRARY_PATH", "/home/ann/My Libs:/usr/lib"},
                             {"HF_TOKEN", "hf_abc"}};
  facts.environments = {{.path = "/home/ann/My Work/.venv",
                         .kind = "venv",
                         .packages = {{.name = "torch",
                                       .version = "2.7.1",
                                       .folder = "/home/ann/My Work/.venv/lib/python3.11/"
                                                 "site-packages"}}}};
  facts.recipes = {{.path = "acme/rocket.txt", .kind = "requirements"}};
  return facts;
}

TEST(Redactor, HasOneStandInForAPathInFactsAndReports) {
  Facts facts = somebodys();
  Redactor redactor(facts);
  redactor.redact(facts);
  const std::string environment = facts.environments[0].path;
  EXPECT_EQ(environment, "/home/USER/folder2/.venv");
  EXPECT_EQ(facts.environments[0].packages[0].folder,
            environment + "/lib/python3.11/site-packages");
  EXPECT_EQ(facts.machine.variables["HF_TOKEN"], "redacted");
  EXPECT_EQ(facts.machine.name, "HOST");
  Report report;
  report.findings = {
      {.rule = "x",
       .level = Level::Fail,
       .certainty = Certainty::Certain,
       .subject = "torch 2.7.1 in /home/ann/My Work/.venv",
       .card = "",
       .text = "ann on annsbox; acme/rocket.txt:3 says so",
       .evidence = {{"/home/ann/My Work", "acme/rocket.txt:3"}},
       .remedies = {{"'/home/ann/My Work/.venv/bin/python' -m pip install x", "", ""}},
       .error = ""}};
  redactor.redact(report);
  const Finding& finding = report.findings[0];
  EXPECT_EQ(finding.subject, "torch 2.7.1 in " + environment);
  EXPECT_EQ(finding.text, "USER on HOST; " + facts.recipes[0].path + ":3 says so");
  EXPECT_EQ(finding.evidence[0].text, "/home/USER/folder2");
  EXPECT_EQ(finding.remedies[0].command, "'" + environment + "/bin/python' -m pip install x");
  const std::string all = to_json(facts).dump();
  for (const char* secret : {"ann", "My ", "Work", "acme", "rocket", "hf_abc"}) {
    EXPECT_THAT(all, Not(HasSubstr(secret)));
  }
}

TEST(Redactor, LeavesNothingElseChanged) {
  Facts facts = somebodys();
  Facts again = facts;
  Redactor(facts).redact(facts);
  EXPECT_EQ(facts.environments[0].packages[0].version, "2.7.1");
  // Twice the same.
  Redactor(again).redact(again);
  EXPECT_EQ(facts, again);
  // What is redacted has nothing left to redact.
  Redactor(again).redact(again);
  EXPECT_EQ(to_json(facts).dump().find("ann"), std::string::npos);
}

TEST(Redact, AnImageLosesTheHostOfAPrivateRegistry) {
  Facts facts;
  Recipe& recipe = facts.recipes.emplace_back();
  recipe.path = "compose.yml";
  recipe.services.emplace_back().image = "registry.acme.example:5000/team/asr:1";
  recipe.images.emplace_back().image = "nvcr.io/nvidia/pytorch";
  Redactor redactor(facts);
  redactor.redact(facts);
  EXPECT_EQ(facts.recipes[0].services[0].image.find("acme"), std::string::npos)
      << facts.recipes[0].services[0].image;
  EXPECT_EQ(facts.recipes[0].images[0].image, "nvcr.io/nvidia/pytorch");
}

}  // namespace
}  // namespace mynah::doctor
