// Indexes that settings of installers name, which may not have been read: what they may name is
// never a failure.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "doctor/recipes/installer_settings.h"
#include "recipe_files.h"

namespace mynah::doctor {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kAsked = "torch==2.7.1\n";
constexpr const char* kSettings =
    "[global]\nextra-index-url = https://download.pytorch.org/whl/cu128\n";

std::vector<std::string> rows_of(const Report& report) {
  std::vector<std::string> rows;
  rows.reserve(report.verdicts.size());
  for (const FrameworkVerdict& verdict : report.verdicts) {
    rows.push_back(verdict.version + ": " + std::string(outcome_name(verdict.outcome)));
  }
  return rows;
}

// What is said of a folder, on an RTX 5090.
Report judged(std::initializer_list<std::pair<const char*, const char*>> texts) {
  static int number = 0;
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) /
      ("settings" + std::to_string(::getpid()) + "_" + std::to_string(number++));
  const Facts facts = project(folder, texts);
  std::filesystem::remove_all(folder);
  return judge(facts);
}

Report image(const std::string& lines, const char* settings = kSettings) {
  const std::string text = "FROM python:3.11-slim\n" + lines;
  return judged(
      {{"Dockerfile", text.c_str()}, {"requirements.txt", kAsked}, {"pip.conf", settings}});
}

constexpr const char* kInstall = "COPY requirements.txt .\nRUN pip install -r requirements.txt\n";

}  // namespace

TEST(RecipeSettings, WhatAnImagesPipConfNamesHolds) {
  const std::string install = kInstall;
  for (const std::string& lines :
       {"COPY pip.conf /etc/pip.conf\n" + install, "COPY pip.conf /etc/\n" + install,
        "RUN pip install -U pip\nCOPY pip.conf /root/.config/pip/pip.conf\n" + install,
        "COPY . /app\nWORKDIR /app\nENV PIP_CONFIG_FILE=/app/pip.conf\n" + install,
        std::string("COPY requirements.txt .\nRUN --mount=type=bind,source=pip.conf,"
                    "target=/etc/pip.conf pip install -r requirements.txt\n"),
        "RUN printf '[global]\\nextra-index-url=https://download.pytorch.org/whl/cu128\\n' > "
        "/etc/pip.conf\n" +
            install,
        "COPY <<EOF /etc/pip.conf\n[global]\nextra-index-url = "
        "https://download.pytorch.org/whl/cu128\nEOF\n" +
            install}) {
    const Report report = image(lines);
    EXPECT_THAT(rows_of(report), ElementsAre("2.7.1+cu128: works")) << lines;
    EXPECT_THAT(of_rule(report, "recipe not understood"), IsEmpty()) << lines;
  }
}

TEST(RecipeSettings, WhatWasNotReadMayNameAnIndex) {
  const std::string install = kInstall;
  for (const std::string& lines :
       {"COPY other.conf /etc/pip.conf\n" + install, install + "COPY pip.conf /etc/pip.conf\n",
        "COPY pip.conf /opt/\n" + install,
        "RUN cat > /etc/pip.conf <<EOF\n[global]\nEOF\n" + install,
        "RUN echo \"[global]\\nextra-index-url=$FEED\" > /etc/pip.conf\n" + install,
        std::string("COPY requirements.txt .\nRUN --mount=type=secret,id=pip,"
                    "target=/etc/pip.conf pip install -r requirements.txt\n"),
        "COPY uv.toml /app/\n" + install}) {
    const Report report = image(lines);
    EXPECT_THAT(failures(report), IsEmpty()) << lines;
    EXPECT_THAT(rows_of(report), ElementsAre("2.7.1+cu126: unknown")) << lines;
    EXPECT_EQ(of_rule(report, "recipe not understood").size(), 1U) << lines;
  }
}

TEST(RecipeSettings, ThatNameNoIndexChangeNothing) {
  EXPECT_THAT(rows_of(image("COPY pip.conf /etc/pip.conf\n" + std::string(kInstall),
                            "[global]\nno-cache-dir = true\n")),
              ElementsAre("2.7.1+cu126: fails at the first kernel"));
}

TEST(RecipeSettings, OfAServiceMayHoldForWhatItsCommandsInstall) {
  const auto with = [](const char* variable) {
    const std::string text =
        std::string("services:\n  a:\n    image: python:3.11\n    environment:\n      ") +
        variable + "\n    command: sh -c 'pip install -r requirements.txt'\n";
    return judged({{"compose.yaml", text.c_str()}, {"requirements.txt", kAsked}});
  };
  const Report report = with("PIP_EXTRA_INDEX_URL: https://download.pytorch.org/whl/cu128");
  EXPECT_THAT(rows_of(report), ElementsAre("2.7.1+cu126: unknown"));
  EXPECT_THAT(failures(report), IsEmpty());
  EXPECT_EQ(of_rule(report, "recipe not understood").size(), 1U);
  EXPECT_THAT(rows_of(with("HF_HOME: /models")),
              ElementsAre("2.7.1+cu126: fails at the first kernel"));
}

TEST(RecipeSettings, OfUvStandInThePlaceOfAProjectsTables) {
  const auto with = [](const char* settings) {
    return judged(
        {{"uv.toml", settings},
         {"pyproject.toml", "[project]\nname='q'\nversion='1'\ndependencies=['torch==2.7.1']\n"}});
  };
  for (const char* settings :
       {"[[index]]\nname='p'\nurl='https://download.pytorch.org/whl/cu128'\n",
        "[pip]\ntorch-backend='cu128'\n"}) {
    const Report report = with(settings);
    EXPECT_THAT(rows_of(report), ElementsAre("2.7.1+cu126: unknown")) << settings;
    EXPECT_THAT(failures(report), IsEmpty()) << settings;
  }
  EXPECT_THAT(rows_of(with("offline = true\n")),
              ElementsAre("2.7.1+cu126: fails at the first kernel"));
}

TEST(RecipeSettings, OfADevcontainerMayNameAnIndex) {
  const auto with = [](const char* command) {
    const std::string text = std::string("{\"postCreateCommand\": \"") + command + "\"}";
    return rows_of(
        judged({{".devcontainer/devcontainer.json", text.c_str()}, {"requirements.txt", kAsked}}));
  };
  EXPECT_THAT(with("pip install torch --index-url https://download.pytorch.org/whl/cu128"),
              ElementsAre("2.7.1+cu126: unknown"));
  EXPECT_THAT(with("pip install -r requirements.txt"),
              ElementsAre("2.7.1+cu126: fails at the first kernel"));
}

TEST(RecipeSettings, AScriptReadsFilesOfTheProjectAboveIt) {
  const Report report =
      judged({{"requirements.txt", kAsked},
              {"scripts/install.sh",
               "#!/bin/bash\npip install -r requirements.txt --extra-index-url "
               "https://download.pytorch.org/whl/cu128\n"},
              {"Dockerfile",
               "FROM python:3.11-slim\nCOPY requirements.txt scripts/install.sh ./\n"
               "RUN bash install.sh\n"}});
  EXPECT_THAT(rows_of(report), ElementsAre("2.7.1+cu128: works"));
  EXPECT_THAT(failures(report), IsEmpty());
}

TEST(RecipeSettings, WhatACommandTakesFromAFileIsNotThatFile) {
  for (const std::string taken :
       {"$(grep -v torch requirements.txt)", "`grep -v torch requirements.txt`",
        "$(grep -v torch requirements.txt | xargs)"}) {
    const Report report = image("COPY requirements.txt .\nRUN pip install " + taken +
                                "\nRUN pip install torch==2.7.1 --index-url "
                                "https://download.pytorch.org/whl/cu128\n");
    EXPECT_THAT(failures(report), IsEmpty()) << taken;
    EXPECT_THAT(rows_of(report), ElementsAre("2.7.1+cu128: works")) << taken;
  }
}

TEST(RecipeSettings, AreReadAsPipDoes) {
  const auto read = pip_settings(
      "# ours\n[list]\nindex-url = https://a.example/x\n[install]\nextra_index_url =\n"
      "  https://b.example/x\n  https://c.example/x\nindex-url: https://d.example/x\n",
      "pip.conf");
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->size(), 3U);
  EXPECT_EQ((*read)[0].url, "https://b.example/x");
  EXPECT_TRUE((*read)[0].extra);
  EXPECT_EQ((*read)[1].line, 7U);
  EXPECT_EQ((*read)[2].url, "https://d.example/x");
  EXPECT_FALSE((*read)[2].extra);
  EXPECT_FALSE(pip_settings("[global]\nextra-index-url = $FEED\n", "pip.conf").has_value());
  EXPECT_FALSE(pip_settings("no settings at all\n", "pip.conf").has_value());
}

}  // namespace mynah::doctor
