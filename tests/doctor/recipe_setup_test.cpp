// Projects of setuptools, and folders that begin with a dot.
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/recipes/recipe_edits.h"
#include "recipe_files.h"
#include "temporary_folder.h"

namespace mynah::doctor {

namespace {

namespace fs = std::filesystem;

using test::TemporaryFolder;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> names(const Facts& facts, const fs::path& folder) {
  std::vector<std::string> paths;
  paths.reserve(facts.recipes.size());
  for (const Recipe& recipe : facts.recipes) {
    paths.push_back(fs::path(recipe.path).lexically_relative(folder).string());
  }
  return paths;
}

// "torch==2.4.0 {extra} of line 3".
std::vector<std::string> asked(const Recipe& recipe) {
  std::vector<std::string> all;
  all.reserve(recipe.requirements.size());
  for (const Requirement& requirement : recipe.requirements) {
    all.push_back(std::to_string(requirement.line) + " " + requirement.name +
                  requirement.specifier +
                  (requirement.group.empty() ? "" : " {" + requirement.group + "}"));
  }
  return all;
}

std::string refused(const std::string& text) {
  const auto recipe = parse_recipe(text, "setup.py");
  return recipe ? "" : recipe.error().message;
}

constexpr const char* kOldTorch =
    "FROM python:3.11-slim\nRUN pip install torch==2.4.0 --index-url "
    "https://download.pytorch.org/whl/cu121\n";
constexpr const char* kSetup =
    "from setuptools import setup\nsetup(\n    install_requires=['torch==2.4.0'])\n";

}  // namespace

TEST(RecipeSetup, FoldersOfImagesMayBeginWithADot) {
  const TemporaryFolder folder;
  const Facts facts = project(folder.path(), {{".devops/main-cuda.Dockerfile", kOldTorch},
                                              {".docker/Dockerfile", kOldTorch},
                                              {".devcontainer/Dockerfile", kOldTorch},
                                              {".github/Dockerfile", kOldTorch},
                                              {".git/Dockerfile", kOldTorch},
                                              {".venv/requirements.txt", "torch==2.4.0\n"},
                                              {".cache/requirements.txt", "torch==2.4.0\n"},
                                              {".tox/requirements.txt", "torch==2.4.0\n"}});
  EXPECT_THAT(names(facts, folder.path()),
              ElementsAre(".devcontainer/Dockerfile", ".devops/main-cuda.Dockerfile",
                          ".docker/Dockerfile"));
  EXPECT_THAT(failures(judge(facts)), Contains(HasSubstr(".devops/main-cuda.Dockerfile")));
}

TEST(RecipeSetup, PlainTextsOfASetupScriptAreRead) {
  const Recipe recipe =
      parse_recipe(
          "#!/usr/bin/env python\n'''install_requires=['no']'''\nimport setuptools\n"
          "def setup(): pass\nlogging.setup(x)\n"
          "if __name__ == '__main__':\n    setuptools.setup(\n        name=f'{x}', "
          "packages=find_packages(where=\"src\"),\n"
          "        python_requires='>=3.9',\n        install_requires=[\n"
          "            \"torch==2.4.0\",  # 'a comment'\n            r'numpy<2; "
          "python_version < \"3.13\"',\n        ],\n"
          "        extras_require={'GPU': ['onnxruntime-gpu'], \"dev\": (\"pytest\",)},\n    )\n",
          "p/setup.py")
          .value();
  EXPECT_EQ(recipe.kind, "pyproject");
  EXPECT_EQ(recipe.python, ">=3.9");
  EXPECT_THAT(asked(recipe), ElementsAre("11 torch==2.4.0", "12 numpy<2",
                                         "14 onnxruntime-gpu {gpu}", "14 pytest {dev}"));
  EXPECT_THAT(recipe.doubts, IsEmpty());
  EXPECT_THAT(parse_recipe("setup(cmdclass={'a': b}, install_requires=[])\n", "setup.py")
                  .value()
                  .requirements,
              IsEmpty());
}

TEST(RecipeSetup, WhatAProgramWouldHaveToBeRunForIsRefusedWithTheReason) {
  const std::string plain = "setup(install_requires=['torch'])\n";
  EXPECT_EQ(refused(plain), "");
  EXPECT_THAT(refused("setup(install_requires=open('r.txt').read().split())\n"),
              AllOf(HasSubstr("install_requires at line 1 is no plain list of texts"),
                    HasSubstr("is a program, and is not run")));
  for (const char* value :
       {"REQUIRES", "['a'] + more", "['a', *more]", "['a' 'b']", "[f'a{b}']", "[x for x in y]",
        "['a'] if b else ['c']", "['a\\n']", "'a'", "[b'a']", "{'a'}", "['a'"}) {
    EXPECT_THAT(refused("setup(name='x', install_requires=" + std::string(value) + ")\n"),
                HasSubstr("no plain list"))
        << value;
  }
  EXPECT_THAT(refused("setup(**config)\n"), HasSubstr("more by a '*' at line 1"));
  EXPECT_THAT(refused("setup(pbr=True)\n"), HasSubstr("pbr makes what it asks for"));
  EXPECT_THAT(refused("print('hello')\n"), HasSubstr("no call of setup()"));
  EXPECT_THAT(refused(plain + plain), HasSubstr("calls setup() at line 1 and at line 2"));
  EXPECT_THAT(refused("setup(name='x\n"), HasSubstr("begins at line 1 does not end"));
  EXPECT_THAT(refused(plain + std::string(size_t{1} << 20, '#')), HasSubstr("at most"));
}

TEST(RecipeSetup, ExtrasThatAreMadeAreADoubt) {
  for (const char* extras :
       {"extras", "{'a': x}", "{**a}", "{'a:os_name==1': ['b']}", "{'a': ['b']} | c"}) {
    const Recipe recipe =
        parse_recipe(
            "setup(install_requires=['torch'],\n extras_require=" + std::string(extras) + ")\n",
            "setup.py")
            .value();
    EXPECT_THAT(asked(recipe), ElementsAre("1 torch")) << extras;
    EXPECT_THAT(recipe.doubts, ElementsAre(HasSubstr("line 2: extras_require"))) << extras;
  }
}

TEST(RecipeSetup, APinInASetupScriptIsJudgedAndMended) {
  const TemporaryFolder folder;
  const Facts facts =
      project(folder.path(), {{"setup.py",
                               "setup(\n  install_requires=[\n    'torch==2.1.2',\n    "
                               "'ctranslate2==4.5.0',\n  ])\n"}});
  const auto found = of_rule(judge(facts), "cudnn of another version");
  ASSERT_EQ(found.size(), 1U);
  ASSERT_FALSE(found[0]->remedies.empty());
  EXPECT_EQ(found[0]->remedies[0].command,
            "sed -i '4s|4\\.5\\.0|4.8.5|' '" + (folder / "setup.py") + "'");
}

TEST(RecipeSetup, AProjectThatAsksForNothingItselfTakesTheOlderFiles) {
  const TemporaryFolder folder;
  const Facts facts = project(
      folder.path(), {{"a/pyproject.toml", "[build-system]\nrequires=['setuptools']\n"},
                      {"a/setup.py", kSetup},
                      {"b/setup.py", "from setuptools import setup\nsetup()\n"},
                      {"b/setup.cfg", "[options]\ninstall_requires = numpy\n"},
                      {"c/pyproject.toml", "[project]\ndependencies=['numpy']\n"},
                      {"c/setup.py", kSetup},
                      {"c/setup.cfg", "[options]\ninstall_requires = scipy\n"},
                      {"d/pyproject.toml", "[project]\nname='d'\ndynamic=['dependencies']\n"},
                      {"d/setup.py", "setup(install_requires=made())\n"}});
  EXPECT_THAT(names(facts, folder.path()),
              ElementsAre("a/pyproject.toml", "a/setup.py", "b/setup.cfg", "b/setup.py",
                          "c/pyproject.toml", "d/pyproject.toml"));
  EXPECT_THAT(facts.skipped, ElementsAre(AllOf(HasSubstr("d/setup.py: what it asks for was not "
                                                         "read: install_requires at line 1"),
                                               HasSubstr("is not run"))));
  const Report report = judge(facts);
  EXPECT_THAT(failures(report),
              ElementsAre(HasSubstr("torch 2.4.0+cu121 in " + (folder / "a/pyproject.toml"))));
  const auto missing = of_rule(report, "recipe is missing");
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_THAT(missing[0]->text, HasSubstr("no plain list of requirements of it was to be read"));
}

TEST(RecipeSetup, AnImageThatInstallsAProjectTakesItsSetupScript) {
  const TemporaryFolder folder;
  const Facts facts =
      project(folder.path(), {{".devops/Dockerfile",
                               "FROM python:3.11-slim\nCOPY . /app\nWORKDIR /app\nRUN pip install "
                               ".\n"},
                              {"setup.py", kSetup},
                              {"other/requirements.txt", "-e .\n"},
                              {"other/setup.cfg", "[options]\ninstall_requires = torch==2.4.0\n"}});
  EXPECT_THAT(facts.skipped, IsEmpty());
  const Report report = judge(facts);
  EXPECT_THAT(of_rule(report, "recipe is missing"), IsEmpty());
  EXPECT_THAT(failures(report), Contains(HasSubstr(".devops/Dockerfile")));
  EXPECT_THAT(failures(report), Contains(HasSubstr("other/requirements.txt")));
}

TEST(RecipeSetup, FilesThatSetuptoolsIsToldToReadAreRead) {
  const TemporaryFolder folder;
  const Facts facts = project(
      folder.path(), {{"a/setup.cfg", "[options]\ninstall_requires = file: needs.in, more.in\n"},
                      {"a/needs.in", "torch==2.4.0\n"},
                      {"a/more.in", "numpy\n"},
                      {"b/pyproject.toml",
                       "[project]\nname='b'\ndynamic=['dependencies']\n[tool.setuptools.dynamic]\n"
                       "dependencies={file=['needs.in']}\n"},
                      {"b/needs.in", "torch==2.4.0\n"},
                      {"c/pyproject.toml",
                       "[project]\nname='c'\ndynamic=['dependencies']\n[tool.setuptools.dynamic]\n"
                       "dependencies={file='needs.in'}\n"},
                      {"c/needs.in", "numpy\n"}});
  EXPECT_THAT(names(facts, folder.path()),
              ElementsAre("a/setup.cfg", "a/more.in", "a/needs.in", "b/pyproject.toml",
                          "b/needs.in", "c/pyproject.toml", "c/needs.in"));
  for (const Recipe& recipe : facts.recipes) {
    EXPECT_THAT(recipe.doubts, IsEmpty()) << recipe.path;
  }
  const Report report = judge(facts);
  EXPECT_THAT(failures(report), Contains(HasSubstr("a/setup.cfg")));
  EXPECT_THAT(failures(report), Contains(HasSubstr("b/pyproject.toml")));
}

}  // namespace mynah::doctor
