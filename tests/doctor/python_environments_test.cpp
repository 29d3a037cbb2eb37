// Which environments are found, and which packages in them.
#include "doctor/python/python_environments.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "python_tree.h"
#include "text/documents/zip_file.h"

namespace mynah::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kSite = "/venv/lib/python3.11/site-packages";

class PythonEnvironments : public testing::Test {
 protected:
  void make_venv(const std::string& prefix, const std::string& more = "") {
    tree_.write(prefix + "/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n" + more);
    tree_.package(prefix + "/lib/python3.11/site-packages", "pip", "24.0");
  }

  static std::vector<std::string> names_of(const PythonEnvironment& environment) {
    std::vector<std::string> names;
    for (const Package& package : environment.packages) {
      names.push_back(package.name + " " + package.version);
    }
    return names;
  }

  test::PythonTree tree_;
};

TEST_F(PythonEnvironments, AVirtualEnvironmentIsReadByItsMetadata) {
  make_venv("/venv");
  tree_.package(kSite, "Faster_Whisper", "1.1.0",
                "Requires-Python: >=3.9\nRequires-Dist: ctranslate2<5,>=4.0\n"
                "Requires-Dist: black==23.*; extra == 'dev'\nProvides-Extra: Dev_Tools\n\ntext\n");
  const std::string info = std::string(kSite) + "/Faster_Whisper-1.1.0.dist-info/";
  tree_.write(info + "WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\nTag: py2-none-any\n");
  tree_.write(info + "INSTALLER", "uv\n");
  tree_.write(info + "direct_url.json", R"({"url": "file:///src/fw", "dir_info": {}})");
  const PythonEnvironment found = tree_.at("/venv");
  EXPECT_EQ(found.path, "/venv");
  EXPECT_EQ(found.kind, "venv");
  EXPECT_EQ(found.python, "3.11");
  EXPECT_THAT(names_of(found), ElementsAre("faster-whisper 1.1.0", "pip 24.0"));
  const Package& package = found.packages.front();
  EXPECT_EQ(package.folder, kSite);
  EXPECT_THAT(package.requires_, ElementsAre("ctranslate2<5,>=4.0", "black==23.*; extra == 'dev'"));
  EXPECT_THAT(package.extras, ElementsAre("dev-tools"));
  EXPECT_EQ(package.python, ">=3.9");
  EXPECT_THAT(package.tags, ElementsAre("py3-none-any", "py2-none-any"));
  EXPECT_EQ(package.installer, "uv");
  EXPECT_EQ(package.origin, "file:///src/fw");
  EXPECT_THAT(tree_.skipped, IsEmpty());
}

TEST_F(PythonEnvironments, ItIsNamedByItsFolderOfPackagesOrItsProjectToo) {
  make_venv("/project/.venv");
  EXPECT_EQ(tree_.at("/project").path, "/project/.venv");
  EXPECT_EQ(tree_.at("/project/.venv/lib/python3.11/site-packages").path, "/project/.venv");
  EXPECT_EQ(tree_.at("/project/.venv/lib/../").path, "/project/.venv");
}

TEST_F(PythonEnvironments, AFolderOfUnpackedWheelsNeedsNoPython) {
  tree_.package("/site", "torch", "2.7.1");
  tree_.write("/site/torch-2.7.1.dist-info/WHEEL", "Tag: cp311-cp311-manylinux_2_28_x86_64\n");
  tree_.package("/site", "abi", "1");
  tree_.write("/site/abi-1.dist-info/WHEEL", "Tag: cp39-abi3-manylinux_2_28_x86_64\n");
  const PythonEnvironment found = tree_.at("/site");
  EXPECT_EQ(found.kind, "folder");
  EXPECT_EQ(found.python, "3.11");
  EXPECT_THAT(names_of(found), ElementsAre("abi 1", "torch 2.7.1"));
}

TEST_F(PythonEnvironments, SystemPackagesCountWhereTheEnvironmentSaysSo) {
  tree_.package("/usr/lib/python3/dist-packages", "numpy", "1.24");
  tree_.package("/usr/local/lib/python3.11/dist-packages", "torch", "2.1.0");
  make_venv("/alone");
  EXPECT_THAT(names_of(tree_.at("/alone")), ElementsAre("pip 24.0"));
  make_venv("/venv", "include-system-site-packages = true\n");
  EXPECT_THAT(names_of(tree_.at("/venv")), ElementsAre("pip 24.0", "torch 2.1.0", "numpy 1.24"));
}

TEST_F(PythonEnvironments, FoldersOfPathFilesCount) {
  make_venv("/venv");
  tree_.write(std::string(kSite) + "/other.pth", "import site\n/shared/packages\n../extra\n/no\n");
  tree_.package("/shared/packages", "torch", "2.1.0");
  tree_.package("/venv/lib/python3.11/extra", "xformers", "0.1");
  EXPECT_THAT(names_of(tree_.at("/venv")), ElementsAre("pip 24.0", "torch 2.1.0", "xformers 0.1"));
}

TEST_F(PythonEnvironments, CondasOwnListIsReadBesidePips) {
  const std::string meta = "/opt/conda/envs/a/conda-meta/";
  tree_.write(meta + "python-3.10.4-h1.json", R"({"name": "python", "version": "3.10.4"})");
  tree_.write(meta + "cudnn-9.json", R"({"name": "cudnn", "version": "9.1.1", "build": "cuda12_0",
              "depends": ["cuda-version >=12,<13", 3], "url": "x", "files": ["lib/libcudnn.so"]})");
  tree_.write(meta + "numpy-1.json", R"({"name": "numpy", "version": "1.26.0"})");
  tree_.write(meta + "history", "==> text <==");
  tree_.write(meta + "broken-1.json", "{");
  tree_.package("/opt/conda/envs/a/lib/python3.10/site-packages", "numpy", "1.26.0");
  const PythonEnvironment found = tree_.at("/opt/conda/envs/a");
  EXPECT_EQ(found.kind, "conda");
  EXPECT_EQ(found.python, "3.10");
  EXPECT_THAT(names_of(found), ElementsAre("numpy 1.26.0", "cudnn 9.1.1", "python 3.10.4"));
  EXPECT_EQ(found.packages[0].installer, "conda");
  EXPECT_THAT(found.packages[1].requires_, ElementsAre("cuda-version >=12,<13"));
  EXPECT_THAT(found.packages[1].tags, ElementsAre("cuda12_0"));
  EXPECT_THAT(tree_.skipped, ElementsAre(HasSubstr("broken-1.json")));
}

TEST_F(PythonEnvironments, EggsAreReadAsDebianHasThem) {
  const std::string site = "/usr/lib/python3/dist-packages";
  tree_.write(site + "/six-1.16.0.egg-info", "Metadata-Version: 1.0\nName: six\nVersion: 1.16.0\n");
  tree_.write(site + "/Mako-1.2.egg-info/PKG-INFO", "Name: Mako\nVersion: 1.2\n");
  tree_.write(site + "/Mako-1.2.egg-info/requires.txt", "MarkupSafe>=0.9\n[lingua]\nlingua\n");
  tree_.write("/usr/lib/python3.11/os.py", "");
  const auto found = tree_.look({.everything = true});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].kind, "system");
  EXPECT_EQ(found[0].path, "/usr");
  EXPECT_EQ(found[0].python, "3.11");
  EXPECT_THAT(names_of(found[0]), ElementsAre("mako 1.2", "six 1.16.0"));
  EXPECT_THAT(found[0].packages[0].requires_,
              ElementsAre("MarkupSafe>=0.9", "lingua ; extra == \"lingua\""));
}

TEST_F(PythonEnvironments, EggsAndLinksToThemAreReadToo) {
  make_venv("/venv");
  const std::string site = kSite;
  tree_.write(site + "/easy-install.pth", "./torch-1.4.0-py3.11.egg\n");
  tree_.write(site + "/torch-1.4.0-py3.11.egg/EGG-INFO/PKG-INFO", "Name: torch\nVersion: 1.4.0\n");
  tree_.write(site + "/unnamed-2.0-py3.11.egg/EGG-INFO/PKG-INFO", "Metadata-Version: 1.0\n");
  tree_.write(site + "/packed-1.0-py3.11.egg", "PK");
  tree_.write(site + "/mine.egg-link", "/src/mine\n.");
  tree_.write("/src/mine/mine.egg-info/PKG-INFO", "Name: mine\nVersion: 0.1\n");
  tree_.write(site + "/broken.egg-link", "");
  EXPECT_THAT(names_of(tree_.at("/venv")), ElementsAre("pip 24.0", "torch 1.4.0", "mine 0.1"));
  EXPECT_THAT(tree_.skipped,
              ElementsAre(HasSubstr("packed-1.0-py3.11.egg: an egg that is packed")));
}

TEST_F(PythonEnvironments, AllAreFoundWhereToolsPutThemAndActiveOnesFirst) {
  const std::string home = "/home/ann";
  make_venv("/work/.venv");
  make_venv("/elsewhere/active");
  make_venv(home + "/.local/share/uv/tools/whisper");
  make_venv(home + "/.cache/pypoetry/virtualenvs/app-x-py3.11");
  make_venv(home + "/.local/share/pipx/venvs/tts");
  make_venv(home + "/.virtualenvs/old");
  tree_.write(home + "/miniforge3/conda-meta/history", "");
  tree_.package(home + "/miniforge3/lib/python3.12/site-packages", "conda", "24");
  tree_.write(home + "/miniforge3/envs/ml/conda-meta/history", "");
  tree_.package(home + "/miniforge3/envs/ml/lib/python3.12/site-packages", "torch", "2.5");
  tree_.package(home + "/.local/lib/python3.11/site-packages", "einops", "0.8");
  tree_.package("/usr/lib/python3/dist-packages", "numpy", "1.24");
  tree_.write("/usr/lib/python3.11/os.py", "");
  tree_.link(home + "/.virtualenvs/again", "/work/.venv");
  tree_.write(home + "/.conda/environments.txt", home + "/miniforge3/envs/ml\n/gone\n");
  const auto found = tree_.look(
      {.variables = {{"HOME", home}, {"VIRTUAL_ENV", "/elsewhere/active"}}, .here = "/work"});
  std::vector<std::pair<std::string, std::string>> seen;
  for (const PythonEnvironment& environment : found) {
    seen.emplace_back(environment.kind, environment.path);
  }
  EXPECT_THAT(seen,
              ElementsAre(std::pair("venv", "/elsewhere/active"), std::pair("venv", "/work/.venv"),
                          std::pair("user", home + "/.local"), std::pair("system", "/usr"),
                          std::pair("conda", home + "/miniforge3"),
                          std::pair("conda", home + "/miniforge3/envs/ml"),
                          std::pair("uv", home + "/.local/share/uv/tools/whisper"),
                          std::pair("poetry", home + "/.cache/pypoetry/virtualenvs/app-x-py3.11"),
                          std::pair("pipx", home + "/.local/share/pipx/venvs/tts"),
                          std::pair("venv", home + "/.virtualenvs/old")));
  EXPECT_THAT(names_of(found[2]), ElementsAre("einops 0.8", "numpy 1.24"));
}

TEST_F(PythonEnvironments, TwoVersionsOfOnePackageAreBothTold) {
  make_venv("/venv");
  tree_.write(std::string(kSite) + "/torch/a.py", "new");
  tree_.package(kSite, "torch", "2.5.1", "", "torch/a.py,sha256=old,5\n");
  tree_.package(kSite, "torch", "2.7.1", "", "torch/a.py,sha256=new,3\ntorch/b.py,sha256=n,1\n");
  const PythonEnvironment found = tree_.at("/venv");
  EXPECT_THAT(names_of(found), ElementsAre("pip 24.0", "torch 2.5.1", "torch 2.7.1"));
  ASSERT_THAT(found.shared_paths, SizeIs(1));
  EXPECT_THAT(found.shared_paths[0].owners, ElementsAre("torch 2.5.1", "torch 2.7.1"));
}

TEST_F(PythonEnvironments, TheWinnerOfASharedPathIsWhoseContentLiesThere) {
  make_venv("/venv");
  // SHA-256 of "one" and of "two".
  const std::string one = "sha256=dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z_0Me0";
  const std::string two = "sha256=P8TM_nRYcOLA2Z9x8w_wZWyN7dQcwdfT03aw2-aF4vM";
  const std::string both = "shared/__init__.py,sha256=e,0\nonnxruntime/";
  tree_.package(kSite, "onnxruntime", "1.23.0", "",
                both + "a.py," + one + ",3\nonnxruntime/b.so,sha256=q,9\nonnxruntime/c.py,,\n");
  tree_.package(kSite, "onnxruntime-gpu", "1.23.2", "",
                both + "a.py," + two + ",3\nonnxruntime/c.py,,\n");
  tree_.write(std::string(kSite) + "/onnxruntime/a.py", "two");
  PythonEnvironment found = tree_.at("/venv");
  ASSERT_THAT(found.shared_paths, SizeIs(1));
  SharedPath expected = {std::string(kSite) + "/onnxruntime/a.py",
                         {"onnxruntime", "onnxruntime-gpu"},
                         "onnxruntime-gpu",
                         0};
  EXPECT_EQ(found.shared_paths[0], expected);
  tree_.write(std::string(kSite) + "/onnxruntime/a.py", "one");
  EXPECT_EQ(tree_.at("/venv").shared_paths[0].winner, "onnxruntime");
  tree_.write(std::string(kSite) + "/onnxruntime/a.py", "edited");
  EXPECT_EQ(tree_.at("/venv").shared_paths[0].winner, "");
}

TEST_F(PythonEnvironments, OfLargeFilesTheSizeSaysWhoseTheyAre) {
  make_venv("/venv");
  tree_.package(kSite, "onnxruntime", "1", "", "onnxruntime/x.so,sha256=a,70000000\n");
  tree_.package(kSite, "onnxruntime-gpu", "1", "", "onnxruntime/x.so,sha256=b,70000001\n");
  tree_.write(std::string(kSite) + "/onnxruntime/x.so", "");
  std::filesystem::resize_file(tree_.root() + kSite + "/onnxruntime/x.so", 70000001);
  const PythonEnvironment found = tree_.at("/venv");
  ASSERT_THAT(found.shared_paths, SizeIs(1));
  EXPECT_EQ(found.shared_paths[0].winner, "onnxruntime-gpu");
}

TEST_F(PythonEnvironments, WhatIsBrokenIsSaidAndTheRestRead) {
  make_venv("/venv");
  std::filesystem::create_directories(tree_.root() + kSite + "/~orch-2.7.1.dist-info");
  std::filesystem::create_directories(tree_.root() + kSite + "/half-1.0.dist-info");
  std::filesystem::create_directories(tree_.root() + kSite + "/pipe-1.0.dist-info");
  ASSERT_EQ(::mkfifo((tree_.root() + kSite + "/pipe-1.0.dist-info/METADATA").c_str(), 0600), 0);
  tree_.link(std::string(kSite) + "/loop-1.0.dist-info", "loop-1.0.dist-info");
  tree_.link(std::string(kSite) + "/up", "..");
  tree_.link(std::string(kSite) + "/out-1.0.dist-info", "../../../../../../../../../etc");
  EXPECT_THAT(names_of(tree_.at("/venv")), ElementsAre("half 1.0", "pip 24.0", "pipe 1.0"));
  EXPECT_THAT(tree_.skipped,
              ElementsAre(HasSubstr("half-1.0.dist-info: has no METADATA"),
                          HasSubstr("pipe-1.0.dist-info: has no METADATA"),
                          HasSubstr("~orch-2.7.1.dist-info: left behind by an installation")));
}

TEST_F(PythonEnvironments, LinksNeverLeadOutOfTheTree) {
  make_venv("/venv");
  test::TemporaryFolder outside;
  test::write_file(outside / "secret-1.dist-info/METADATA", "Name: secret\nVersion: 1\n");
  tree_.link(std::string(kSite) + "/secret-1.dist-info", outside / "secret-1.dist-info");
  EXPECT_THAT(names_of(tree_.at("/venv")), ElementsAre("pip 24.0"));
}

TEST_F(PythonEnvironments, AWindowsTreeIsKnownByItsFolders) {
  tree_.write("/users/ann/venv/pyvenv.cfg", "home = C:\\Python311\nversion = 3.11.4\n");
  tree_.package("/users/ann/venv/Lib/site-packages", "torch", "2.7.1+cu128");
  const PythonEnvironment found = tree_.at("/users/ann/venv");
  EXPECT_EQ(found.system, System::Windows);
  EXPECT_EQ(found.python, "3.11");
  EXPECT_THAT(names_of(found), ElementsAre("torch 2.7.1+cu128"));
}

TEST_F(PythonEnvironments, AnUnpackedImageIsLookedAtAsIfItWereTheMachine) {
  for (const char* const folder : {"/image/etc", "/image/var", "/image/usr/bin"}) {
    std::filesystem::create_directories(tree_.root() + folder);
  }
  tree_.write("/image/usr/lib/python3.10/os.py", "");
  tree_.package("/image/usr/local/lib/python3.10/dist-packages", "torch", "2.7.1");
  tree_.write("/image/opt/venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.10.1\n");
  tree_.package("/image/opt/venv/lib/python3.10/site-packages", "numpy", "2.0");
  const auto found =
      tree_.look({.places = {"/image"}, .variables = {{"VIRTUAL_ENV", "/not/there"}}});
  ASSERT_THAT(found, SizeIs(2)) << tree_.error;
  EXPECT_EQ(found[0].path, "/usr");
  EXPECT_EQ(found[1].path, "/opt/venv");
}

TEST_F(PythonEnvironments, AWheelIsReadWithoutBeingInstalled) {
  const std::string name = "/wheels/torch-2.7.1-cp311-cp311-manylinux_2_28_x86_64.whl";
  std::filesystem::create_directories(tree_.root() + "/wheels");
  test::write_zip(
      tree_.root() + name,
      {{"torch-2.7.1.dist-info/METADATA", "Name: torch\nVersion: 2.7.1\n"},
       {"torch-2.7.1.dist-info/WHEEL", "Tag: cp311-cp311-manylinux_2_28_x86_64\n"},
       {"torch/version.py", "__version__ = '2.7.1+cu126'\ncuda: Optional[str] = '12.6'\n"},
       {"torch/nn/big.py", std::string(1 << 20, '#')},
       {"torch/lib/libtorch_cuda.so", test::elf_bytes(test::with_code(75))},
       {"torch/lib/libtorch_python.so",
        test::elf_bytes({.needed = {"libtorch_cuda.so"}, .rpath = "$ORIGIN"})}});
  const PythonEnvironment found = tree_.at(name);
  EXPECT_EQ(found.path, name);
  EXPECT_EQ(found.kind, "wheel");
  EXPECT_EQ(found.python, "3.11");
  EXPECT_THAT(names_of(found), ElementsAre("torch 2.7.1+cu126"));
  EXPECT_EQ(found.packages[0].folder, name);
  const Framework& torch = test::framework_of(found, "torch");
  EXPECT_EQ(torch.folder, name + "/torch");
  ASSERT_THAT(torch.code, SizeIs(1));
  EXPECT_EQ(torch.code[0].file, name + "/torch/lib/libtorch_cuda.so");
  EXPECT_EQ(test::want_of(torch, "libtorch_cuda.so").found, torch.code[0].file);
}

TEST_F(PythonEnvironments, EachWheelOfAFolderIsRead) {
  std::filesystem::create_directories(tree_.root() + "/wheels");
  for (const char* const version : {"1.0", "2.0"}) {
    const std::string stem = std::string("one-") + version;
    test::write_zip(
        tree_.root() + "/wheels/" + stem + "-py3-none-any.whl",
        {{stem + ".dist-info/METADATA", std::string("Name: one\nVersion: ") + version}});
  }
  tree_.write("/wheels/broken-1.0-py3-none-any.whl", "text");
  tree_.write("/wheels/notes.txt", "text");
  const auto found = tree_.look({.places = {"/wheels"}});
  ASSERT_THAT(found, SizeIs(2)) << tree_.error;
  EXPECT_THAT(names_of(found[0]), ElementsAre("one 1.0"));
  EXPECT_EQ(found[1].path, "/wheels/one-2.0-py3-none-any.whl");
  EXPECT_THAT(tree_.skipped, ElementsAre(HasSubstr("broken-1.0-py3-none-any.whl")));
}

TEST_F(PythonEnvironments, WhatIsNoEnvironmentIsAnError) {
  std::filesystem::create_directories(tree_.root() + "/empty");
  tree_.look({.places = {"/empty"}});
  EXPECT_THAT(tree_.error, HasSubstr("found no Python environment in /empty: neither pyvenv.cfg"));
  tree_.look({.places = {"/nowhere"}});
  EXPECT_THAT(tree_.error, HasSubstr("found no folder /nowhere"));
  tree_.write("/file.txt", "text");
  tree_.look({.places = {"/file.txt"}});
  EXPECT_THAT(tree_.error, HasSubstr("wanted a folder or a wheel (.whl), found /file.txt"));
  tree_.write("/broken.whl", "text");
  tree_.look({.places = {"/broken.whl"}});
  EXPECT_THAT(tree_.error, HasSubstr("broken.whl"));
  test::write_zip(tree_.root() + "/other.whl", {{"a.txt", "a"}});
  tree_.look({.places = {"/other.whl"}});
  EXPECT_THAT(tree_.error, HasSubstr("no wheel: it has no *.dist-info/METADATA"));
}

TEST_F(PythonEnvironments, AMachineWithoutPythonHasNone) {
  EXPECT_THAT(tree_.look({}), IsEmpty());
  EXPECT_EQ(tree_.error, "");
}

}  // namespace
}  // namespace mynah::doctor
