#include "doctor/recipes/recipes.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "doctor/recipes/requirement_text.h"

namespace mynah::doctor {

namespace {

namespace fs = std::filesystem;

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Recipe read(const std::string& text, const std::string& path) {
  auto recipe = parse_recipe(text, path);
  EXPECT_TRUE(recipe) << recipe.error().message;
  return recipe ? *recipe : Recipe();
}

std::string row_of(const Requirement& requirement) {
  std::string row = std::to_string(requirement.line) + " " + requirement_text(requirement);
  for (const std::string& index : requirement.indexes) {
    row += " <" + index + ">";
  }
  return requirement.group.empty() ? row : row + " {" + requirement.group + "}";
}

std::vector<std::string> rows_of(const Recipe& recipe) {
  std::vector<std::string> rows;
  for (const Requirement& requirement : recipe.requirements) {
    rows.push_back(row_of(requirement));
  }
  return rows;
}

class Folder {
 public:
  Folder() : path_(fs::path(::testing::TempDir()) / ("recipes" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }

  ~Folder() { fs::remove_all(path_); }

  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }

  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

TEST(Recipes, OfPyprojectHaveDependenciesExtrasAndGroups) {
  const Recipe recipe = read(
      "[project]\nname = 'x'\nrequires-python = '>=3.10,<3.13'\n"
      "dependencies = [\n  'torch==2.5.1',\n  'numpy<2 ; python_version < \"3.13\"',\n]\n"
      "[project.optional-dependencies]\nGpu_Extra = ['onnxruntime-gpu==1.23.2']\n"
      "[dependency-groups]\ndev = ['pytest', {include-group = 'lint'}]\nlint = ['ruff', "
      "{include-group = 'dev'}]\n",
      "pyproject.toml");
  EXPECT_EQ(recipe.kind, "pyproject");
  EXPECT_EQ(recipe.python, ">=3.10,<3.13");
  EXPECT_THAT(rows_of(recipe),
              ElementsAre("5 torch==2.5.1", "6 numpy<2 ; python_version < \"3.13\"",
                          "9 onnxruntime-gpu==1.23.2 {gpu-extra}", "11 pytest {dev}",
                          "12 ruff {dev}", "12 ruff {lint}", "11 pytest {lint}"));
}

TEST(Recipes, OfUvSayWhichIndexAPackageComesFrom) {
  const Recipe recipe = read(
      "[project]\ndependencies = ['torch>=2.5', 'torchaudio', 'numpy']\n"
      "[tool.uv.sources]\n"
      "torch = [{ index = 'cu124', marker = \"sys_platform == 'linux'\" },"
      " { index = 'cpu', marker = \"sys_platform == 'win32'\" }]\n"
      "torchaudio = { index = 'cu124' }\n"
      "[[tool.uv.index]]\nname = 'cu124'\nurl = 'https://download.pytorch.org/whl/cu124'\n"
      "explicit = true\n"
      "[[tool.uv.index]]\nname = 'cpu'\nurl = 'https://download.pytorch.org/whl/cpu'\n",
      "pyproject.toml");
  EXPECT_THAT(
      rows_of(recipe),
      ElementsAre("2 torch>=2.5 ; sys_platform == 'linux' <https://download.pytorch.org/whl/cu124>",
                  "2 torch>=2.5 ; sys_platform == 'win32' <https://download.pytorch.org/whl/cpu>",
                  "2 torchaudio <https://download.pytorch.org/whl/cu124>", "2 numpy"));
  ASSERT_EQ(recipe.indexes.size(), 2U);
  EXPECT_TRUE(recipe.indexes[0].explicit_);
}

TEST(Recipes, OfPoetryHaveItsSignsInPlainForm) {
  const Recipe recipe = read(
      "[tool.poetry.dependencies]\npython = '^3.10'\na = '^1.2.3'\nb = '^0.2.3'\nc = '^0.0.3'\n"
      "d = '~1.2'\ne = '~1'\nf = '1.2'\ng = '*'\nh = '>=1,<2'\n"
      "torch = { version = '^2.5', source = 'pt', extras = ['x'], markers = \"os_name == 'nt'\" }\n"
      "i = '^1 || ^2'\n"
      "[tool.poetry.group.dev.dependencies]\npytest = '^8'\n"
      "[[tool.poetry.source]]\nname = 'pt'\nurl = 'https://download.pytorch.org/whl/cu124'\n"
      "priority = 'explicit'\n",
      "pyproject.toml");
  EXPECT_EQ(recipe.python, ">=3.10,<4");
  EXPECT_THAT(rows_of(recipe),
              ::testing::UnorderedElementsAre(
                  "3 a>=1.2.3,<2", "4 b>=0.2.3,<0.3", "5 c>=0.0.3,<0.0.4", "6 d>=1.2,<1.3",
                  "7 e>=1,<2", "8 f==1.2", "9 g", "10 h>=1,<2",
                  "11 torch[x]>=2.5,<3 ; os_name == 'nt' <https://download.pytorch.org/whl/cu124>",
                  "14 pytest>=8,<9 {dev}"));
  EXPECT_THAT(recipe.doubts, ElementsAre(HasSubstr("are alternatives")));
}

TEST(Recipes, OfPdmSetupCfgAndPipfileAreRead) {
  const Recipe setup = read(
      "[metadata]\nname = x\n[options]\npython_requires = >=3.9\ninstall_requires =\n    torch>=2\n"
      "    numpy\n[options.extras_require]\ngpu =\n    onnxruntime-gpu\n",
      "setup.cfg");
  EXPECT_EQ(setup.python, ">=3.9");
  EXPECT_THAT(rows_of(setup), ElementsAre("6 torch>=2", "7 numpy", "10 onnxruntime-gpu {gpu}"));
  const Recipe pipfile = read(
      "[[source]]\nname = 'pytorch'\nurl = 'https://download.pytorch.org/whl/cu121'\n"
      "[packages]\ntorch = {version = '==2.1.2', index = 'pytorch'}\nnumpy = '*'\n"
      "[requires]\npython_version = '3.11'\n",
      "Pipfile");
  EXPECT_EQ(pipfile.python, "==3.11.*");
  EXPECT_THAT(rows_of(pipfile),
              ::testing::UnorderedElementsAre(
                  "5 torch==2.1.2 <https://download.pytorch.org/whl/cu121>", "6 numpy"));
}

TEST(Recipes, OfLocksAreExactVersions) {
  const Recipe poetry = read(
      "[[package]]\nname = \"torch\"\nversion = \"2.5.1+cu124\"\ngroups = [\"main\"]\n"
      "[package.source]\ntype = \"legacy\"\nurl = \"https://download.pytorch.org/whl/cu124\"\n"
      "[[package]]\nname = \"pytest\"\nversion = \"8.0\"\ngroups = [\"dev\"]\n"
      "[metadata]\npython-versions = \">=3.10\"\n",
      "poetry.lock");
  EXPECT_EQ(poetry.python, ">=3.10");
  EXPECT_THAT(rows_of(poetry),
              ElementsAre("1 torch==2.5.1+cu124 <https://download.pytorch.org/whl/cu124>",
                          "8 pytest==8.0 {dev}"));
  EXPECT_TRUE(poetry.requirements[0].locked);
  const Recipe uv = read(
      "version = 1\nrequires-python = \">=3.11\"\n"
      "[[package]]\nname = \"app\"\nversion = \"0.1\"\nsource = { virtual = \".\" }\n"
      "[[package]]\nname = \"torch\"\nversion = \"2.7.1+cu126\"\n"
      "source = { registry = \"https://download.pytorch.org/whl/cu126\" }\n"
      "resolution-markers = [\"sys_platform == 'linux'\"]\n",
      "uv.lock");
  EXPECT_THAT(rows_of(uv), ElementsAre("7 torch==2.7.1+cu126 ; (sys_platform == 'linux') "
                                       "<https://download.pytorch.org/whl/cu126>"));
  const Recipe pylock = read(
      "lock-version = \"1.0\"\nrequires-python = \">=3.12\"\n[[packages]]\nname = \"ctranslate2\"\n"
      "version = \"4.5.0\"\nmarker = \"os_name == 'posix'\"\n",
      "pylock.toml");
  EXPECT_THAT(rows_of(pylock), ElementsAre("3 ctranslate2==4.5.0 ; os_name == 'posix'"));
  const Recipe pipfile = read(
      "{\"_meta\": {\"requires\": {\"python_version\": \"3.11\"}, \"sources\": [{\"name\": \"pt\", "
      "\"url\": \"https://h.example\"}]},\n \"default\": {\"torch\": {\"version\": \"==2.5.1\", "
      "\"index\": \"pt\"}},\n \"develop\": {\"pytest\": {\"version\": \"==8.0\"}}}",
      "Pipfile.lock");
  EXPECT_THAT(rows_of(pipfile),
              ElementsAre("2 torch==2.5.1 <https://h.example>", "3 pytest==8.0 {dev}"));
  const Recipe conda = read(
      "package:\n- name: python\n  version: 3.11.7\n  manager: conda\n  platform: linux-64\n"
      "- name: torch\n  version: 2.5.1\n  manager: pip\n  platform: linux-64\n",
      "conda-lock.yml");
  EXPECT_EQ(conda.python, "==3.11.7");
  EXPECT_THAT(
      rows_of(conda),
      ElementsAre("6 torch==2.5.1 ; sys_platform == 'linux' and platform_machine == 'x86_64'"));
}

TEST(Recipes, OfCondaHaveItsPipPart) {
  const Recipe recipe = read(
      "name: x\nchannels: [pytorch, nvidia]\ndependencies:\n  - python=3.11\n"
      "  - pytorch::pytorch=2.1.2=py3.11_cuda12.1\n  - pytorch-cuda=12.1\n  - numpy <2\n  - cudnn\n"
      "  - pip\n  - pip:\n    - --extra-index-url https://download.pytorch.org/whl/cu121\n"
      "    - faster-whisper==1.0.3\n    - -r requirements.txt\n",
      "/p/environment.yml");
  EXPECT_EQ(recipe.kind, "conda");
  EXPECT_EQ(recipe.python, "==3.11.*");
  EXPECT_THAT(rows_of(recipe),
              ElementsAre("5 torch @ conda", "6 pytorch-cuda @ conda", "7 numpy @ conda",
                          "8 cudnn @ conda", "9 pip @ conda", "12 faster-whisper==1.0.3"));
  EXPECT_EQ(recipe.requirements[0].specifier, "==2.1.2.*");
  EXPECT_EQ(recipe.requirements[2].specifier, "<2");
  ASSERT_EQ(recipe.indexes.size(), 1U);
  EXPECT_EQ(recipe.indexes[0].line, 11U);
  EXPECT_THAT(recipe.includes, ElementsAre("/p/requirements.txt"));
}

TEST(Recipes, OfComposeSayWhichServicesReserveACard) {
  const Recipe recipe = read(
      "x-gpu: &gpu\n  deploy:\n    resources:\n      reservations:\n        devices:\n"
      "          - driver: nvidia\n            count: 1\n            capabilities: [gpu]\n"
      "services:\n"
      "  merged:\n    <<: *gpu\n    image: a:${TAG:-1.0}\n"
      "  runtime:\n    image: b\n    runtime: nvidia\n"
      "  gpus:\n    image: c\n    gpus: all\n"
      "  cdi:\n    image: d\n    devices: [nvidia.com/gpu=all]\n"
      "  plain:\n    build: ./api\n    environment:\n      - NVIDIA_VISIBLE_DEVICES=all\n      - "
      "EMPTY\n"
      "  other:\n    build: {context: web, dockerfile: docker/Web.Dockerfile}\n"
      "    environment: {DEVICE: cuda}\n    env_file: .env\n"
      "  extended:\n    extends: {service: runtime}\n"
      "  half:\n    environment: {A: b}\n",
      "/p/compose.yml");
  EXPECT_EQ(recipe.kind, "compose");
  std::vector<std::string> seen;
  for (const Service& service : recipe.services) {
    seen.push_back(service.name + " " + service.image + service.build + " " +
                   (service.card ? (*service.card ? "card" : "none") : "unknown"));
  }
  EXPECT_THAT(seen,
              ElementsAre("merged a:1.0 card", "runtime b card", "gpus c card", "cdi d card",
                          "plain /p/api/Dockerfile none", "other /p/web/docker/Web.Dockerfile none",
                          "extended b card", "half  unknown"));
  EXPECT_EQ(recipe.services[4].variables.at("NVIDIA_VISIBLE_DEVICES"), "all");
  EXPECT_EQ(recipe.services[4].line, 22U);
  EXPECT_THAT(recipe.includes, ElementsAre("/p/api/Dockerfile", "/p/web/docker/Web.Dockerfile"));
  EXPECT_THAT(recipe.doubts, ElementsAre(HasSubstr("\".env\" was not read")));
}

TEST(Recipes, OfDockerfilesHaveImagesVariablesAndWhatTheirCommandsInstall) {
  const Recipe recipe = read(
      "# syntax=docker/dockerfile:1\n"
      "ARG CUDA=12.9.1\nARG FLAVOUR\n"
      "FROM --platform=linux/amd64 nvidia/cuda:${CUDA}-cudnn-runtime-ubuntu22.04 AS base\n"
      "ENV TORCH=2.7.1 DEVICE=\"cuda\"\n"
      "ENV OLD form of it\n"
      "RUN apt-get update && apt-get install -y python3-pip  # pip install nothing\n"
      "RUN pip3 install --no-cache-dir torch==${TORCH} torchaudio==$TORCH \\\n"
      "    # a comment inside\n"
      "\n"
      "      --index-url https://download.pytorch.org/whl/cu126 && \\\n"
      "    python -m pip install 'faster-whisper>=1.0,<2; python_version < \"3.13\"'\n"
      "COPY requirements/base.txt /tmp/requirements.txt\n"
      "RUN uv pip install --system -r /tmp/requirements.txt\n"
      "FROM base\n"
      "ENV PIP_EXTRA_INDEX_URL=https://extra.example\n"
      "RUN <<EOF\nset -e\npip install \"numpy<2\"\nEOF\n"
      "RUN [\"pip\", \"install\", \"scipy\"]\n"
      "RUN --mount=type=bind,source=deps/uv.lock,target=uv.lock uv sync --frozen\n"
      "RUN CMAKE_ARGS=\"-DGGML_CUDA=on\" pip install llama-cpp-python==0.3.2\n"
      "CMD [\"python\", \"-m\", \"app\"]\n",
      "/p/Dockerfile");
  ASSERT_EQ(recipe.images.size(), 2U);
  EXPECT_EQ(recipe.images[0].image, "nvidia/cuda");
  EXPECT_EQ(recipe.images[0].tag, "12.9.1-cudnn-runtime-ubuntu22.04");
  EXPECT_EQ(recipe.images[0].stage, "base");
  EXPECT_EQ(recipe.images[1].image, "base");
  EXPECT_EQ(recipe.variables.at("DEVICE"), "cuda");
  EXPECT_EQ(recipe.variables.at("OLD"), "form of it");
  EXPECT_THAT(rows_of(recipe),
              ElementsAre("8 torch==2.7.1 <https://download.pytorch.org/whl/cu126>",
                          "8 torchaudio==2.7.1 <https://download.pytorch.org/whl/cu126>",
                          "12 faster-whisper>=1.0,<2 ; python_version < \"3.13\"", "19 numpy<2",
                          "21 scipy", "23 llama-cpp-python==0.3.2"));
  EXPECT_FALSE(recipe.requirements[0].literal);  // a variable says the version
  EXPECT_TRUE(recipe.requirements[2].literal);
  EXPECT_THAT(recipe.requirements[0].index_lines, ElementsAre(11U));
  EXPECT_THAT(recipe.includes, ElementsAre("/p/requirements/base.txt", "/p/deps/uv.lock"));
  EXPECT_THAT(recipe.builds, ElementsAre("pip install llama-cpp-python==0.3.2"));
  ASSERT_EQ(recipe.indexes.size(), 1U);
  EXPECT_EQ(recipe.indexes[0].line, 16U);
  EXPECT_THAT(recipe.doubts, IsEmpty());
}

TEST(Recipes, OfDockerfilesWithAnotherEscapeOrUnknownVariablesAreReadOrDoubted) {
  const Recipe windows =
      read("# escape=`\nFROM python:3.11-slim\nRUN pip install `\n  torch\n", "Dockerfile");
  EXPECT_THAT(rows_of(windows), ElementsAre("4 torch"));
  EXPECT_EQ(windows.python, "==3.11.*");
  const Recipe unknown = read(
      "ARG TAG\nFROM nvidia/cuda:${TAG}\nRUN pip install torch==$(cat v) x==${V}\n", "Dockerfile");
  EXPECT_THAT(unknown.doubts, Contains(HasSubstr("line 2: \"nvidia/cuda:${TAG}\"")));
  EXPECT_THAT(unknown.doubts, Contains(HasSubstr("\"x==${V}\" holds a variable")));
}

TEST(Recipes, OfDockerfilesForSeveralMachinesAreReadForTheOneThatMostHave) {
  const Recipe recipe = read(
      "FROM docker.io/library/python:3.13-slim AS for_amd64\nFROM python:3.12 AS for_arm64\n"
      "FROM for_$TARGETARCH$TARGETVARIANT AS base\nFROM base\nRUN pip install torch\n",
      "Dockerfile.gpu");
  ASSERT_EQ(recipe.images.size(), 3U);  // the other machine's stage is not built
  EXPECT_EQ(recipe.images[1].image, "for_amd64");
  EXPECT_EQ(recipe.python, "==3.13.*");
  EXPECT_THAT(recipe.doubts, IsEmpty());
  EXPECT_EQ(kind_by_name("src/dockerfile.cpp"), "");
}

TEST(Recipes, AreGatheredWithWhatTheyIncludeEachOnce) {
  const Folder folder;
  folder.write("requirements.txt", "-r deep/base.txt\n-c missing.txt\ntorch==2.5.1\n");
  folder.write("deep/base.txt", "-r ../requirements.txt\nnumpy\n");
  folder.write("docker/Dockerfile",
               "FROM python:3.11\nCOPY deep/base.txt .\nRUN pip install -r base.txt\n");
  folder.write(".venv/requirements.txt", "hidden\n");
  folder.write("pyproject.toml", "[project\n");
  fs::create_directory_symlink(folder.path(), folder.path() / "loop");
  ASSERT_EQ(::mkfifo((folder.path() / "environment.yml").c_str(), 0600), 0);
  Facts facts;
  const std::vector<fs::path> places = {folder.path()};
  gather_recipes(places, facts);
  std::vector<std::string> paths;
  for (const Recipe& recipe : facts.recipes) {
    paths.push_back(fs::path(recipe.path).lexically_relative(folder.path()).string());
  }
  EXPECT_THAT(paths, ElementsAre("requirements.txt", "deep/base.txt", "docker/Dockerfile"));
  EXPECT_EQ(facts.recipes.back().includes[0], (folder.path() / "deep/base.txt").string());
  EXPECT_THAT(facts.skipped, Contains(HasSubstr("missing.txt")));
  EXPECT_THAT(facts.skipped, Contains(HasSubstr("pyproject.toml:1:")));
}

TEST(Recipes, AreReadOnceAlsoWhereSeveralPlacesLeadToThem) {
  const Folder folder;
  folder.write("a.txt", "torch==2.5.1\n");
  folder.write("Dockerfile", "FROM python:3.11\nCOPY a.txt .\nRUN pip install -r a.txt\n");
  Facts facts;
  for (const char* name : {"a.txt", "Dockerfile", "a.txt"}) {
    const std::vector<fs::path> place = {folder.path() / name};
    EXPECT_GT(gather_recipes(place, facts), 0U) << name;
  }
  EXPECT_EQ(facts.recipes.size(), 2U);
}

TEST(Recipes, ThatGrowWithoutEndAreRefused) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string above = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + above;
    for (int copy = 0; copy < 9; ++copy) {
      text += ", " + above;
    }
    text += "]\n";
  }
  const auto bomb = parse_recipe(text, "compose.yml");
  ASSERT_FALSE(bomb);
  EXPECT_THAT(bomb.error().message, HasSubstr("grow without end"));
  EXPECT_FALSE(parse_recipe("a: &a [*a]\n", "compose.yml"));
  EXPECT_FALSE(parse_recipe(std::string(5000, '['), "compose.yml"));
  EXPECT_FALSE(parse_recipe("a = " + std::string(5000, '['), "pyproject.toml"));
}

}  // namespace mynah::doctor
