#include "doctor/binaries/loader.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "doctor/binaries/loader_paths.h"
#include "doctor/binaries/opened_names.h"
#include "temporary_folder.h"
#include "tiny_elf.h"
#include "tiny_pe.h"

namespace mynah::doctor {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

// A tree as an unpacked image is, and the loader's answers about it.
class LoaderTest : public testing::Test {
 protected:
  void write(const std::string& path, const test::TinyElf& elf) {
    test::write_file(root_.path() + path, test::elf_bytes(elf));
  }

  void write_dll(const std::string& path, const test::TinyPe& pe) {
    test::write_file(root_.path() + path, test::pe_bytes(pe));
  }

  void link(const std::string& path, const std::string& target) {
    std::filesystem::create_directories(std::filesystem::path(root_.path() + path).parent_path());
    std::filesystem::create_symlink(target, root_.path() + path);
  }

  LoaderView view(const std::string& library_path = "") const {
    LoaderView view = linux_view(root_.path(), library_path);
    return view;
  }

  static LoaderAnswer ask(const LoaderView& view, const LoaderQuestion& question) {
    Loader loader(view);
    auto answer = loader.ask(question);
    EXPECT_TRUE(answer) << answer.error().message;
    return answer.value_or(LoaderAnswer());
  }

  LoaderAnswer ask(const std::string& file) const { return ask(view(), {.file = file}); }

  test::TemporaryFolder root_;
};

LibraryWant only(const LoaderAnswer& answer) {
  EXPECT_EQ(answer.wants.size(), 1);
  return answer.wants.empty() ? LibraryWant() : answer.wants.front();
}

TEST_F(LoaderTest, RunpathIsTheRequestersAlone) {
  write("/app/libapp.so", {.needed = {"liba.so"}, .runpath = "$ORIGIN/deep"});
  write("/app/deep/liba.so", {.needed = {"libb.so"}});
  write("/app/deep/libb.so", test::TinyElf{});
  const LoaderAnswer answer = ask("/app/libapp.so");
  ASSERT_EQ(answer.wants.size(), 2);
  EXPECT_EQ(answer.wants[0].found, "/app/deep/liba.so");
  EXPECT_EQ(answer.wants[0].via, "RUNPATH");
  EXPECT_EQ(answer.wants[1].library, "libb.so");
  EXPECT_EQ(answer.wants[1].by, "/app/deep/liba.so");
  EXPECT_EQ(answer.wants[1].found, "");
}

TEST_F(LoaderTest, RpathIsThatOfTheChain) {
  write("/app/libapp.so", {.needed = {"liba.so"}, .rpath = "${ORIGIN}/deep"});
  write("/app/deep/liba.so", {.needed = {"libb.so"}});
  write("/app/deep/libb.so", test::TinyElf{});
  const LoaderAnswer answer = ask("/app/libapp.so");
  ASSERT_EQ(answer.wants.size(), 2);
  EXPECT_EQ(answer.wants[1].found, "/app/deep/libb.so");
  EXPECT_EQ(answer.wants[1].via, "RPATH");
}

TEST_F(LoaderTest, ARunpathTakesTheRpathOfItsFileAway) {
  write("/app/libapp.so", {.needed = {"liba.so"}, .rpath = "$ORIGIN/deep", .runpath = "$ORIGIN/x"});
  write("/app/deep/liba.so", test::TinyElf{});
  EXPECT_EQ(only(ask("/app/libapp.so")).found, "");
  // Of the file that wants it, too: its loader's RPATH is not looked at.
  write("/b/libapp.so", {.needed = {"libm.so"}, .rpath = "$ORIGIN"});
  write("/b/libm.so", {.needed = {"liba.so"}, .runpath = "$ORIGIN/nothing"});
  write("/b/liba.so", test::TinyElf{});
  const LoaderAnswer answer = ask("/b/libapp.so");
  ASSERT_EQ(answer.wants.size(), 2);
  EXPECT_EQ(answer.wants[1].found, "");
}

TEST_F(LoaderTest, TheVariableComesBehindRpathAndBeforeRunpath) {
  for (const char* folder : {"/app/own", "/variable"}) {
    write(std::string(folder) + "/liba.so", test::TinyElf{});
  }
  write("/app/with_rpath.so", {.needed = {"liba.so"}, .rpath = "$ORIGIN/own"});
  write("/app/with_runpath.so", {.needed = {"liba.so"}, .runpath = "$ORIGIN/own"});
  const LoaderView with_variable = view("/nothing:/variable");
  EXPECT_EQ(only(ask(with_variable, {.file = "/app/with_rpath.so"})).via, "RPATH");
  const LibraryWant want = only(ask(with_variable, {.file = "/app/with_runpath.so"}));
  EXPECT_EQ(want.via, "LD_LIBRARY_PATH");
  EXPECT_EQ(want.found, "/variable/liba.so");
  EXPECT_EQ(want.dead_path, "");  // a variable that leads nowhere is no build machine
}

TEST_F(LoaderTest, TheCacheComesBeforeTheDefaultFolders) {
  write("/app/libapp.so", {.needed = {"liba.so.1"}});
  write("/usr/lib/liba.so.1", test::TinyElf{});
  write("/opt/cuda/liba.so.1.2", test::TinyElf{});
  link("/opt/cuda/liba.so.1", "liba.so.1.2");
  EXPECT_EQ(only(ask("/app/libapp.so")).via, "default folder");
  LoaderView cached = view();
  cached.cache["liba.so.1"] = {"/opt/cuda/liba.so.1"};
  const LibraryWant want = only(ask(cached, {.file = "/app/libapp.so"}));
  EXPECT_EQ(want.via, "cache");
  EXPECT_EQ(want.found, "/opt/cuda/liba.so.1.2");
}

TEST_F(LoaderTest, FilesOfAnotherMachineAreNoCandidates) {
  write("/app/libapp.so", {.needed = {"liba.so"}, .runpath = "/arm:/narrow:/text:/good"});
  write("/arm/liba.so", {.machine = 183});
  write("/narrow/liba.so", {.bits = 32, .machine = 3});
  test::write_file(root_.path() + "/text/liba.so", "GROUP ( libb.so )");
  write("/good/liba.so", test::TinyElf{});
  EXPECT_EQ(only(ask("/app/libapp.so")).found, "/good/liba.so");
}

TEST_F(LoaderTest, FoldersOfTheBuildMachineAreNamed) {
  write("/app/libapp.so",
        {.needed = {"liba.so"},
         .runpath = "$ORIGIN/../gone:/usr/lib64:/home/builder/cuda/lib64:/also/gone"});
  EXPECT_EQ(only(ask("/app/libapp.so")).dead_path, "/home/builder/cuda/lib64");
}

TEST_F(LoaderTest, AnEmptyElementIsTheCurrentDirectoryAndNeverSearched) {
  std::filesystem::create_directories(root_ / "usr/local/cuda-11.8/lib");
  write("/app/libapp.so", {.needed = {"liba.so"}, .runpath = "/usr/local/cuda-11.8/lib:"});
  EXPECT_EQ(only(ask("/app/libapp.so")).dead_path, ".");
  write("/app/other.so", {.needed = {"liba.so"}});
  EXPECT_EQ(only(ask(view(":/nothing"), {.file = "/app/other.so"})).dead_path, ".");
  EXPECT_EQ(only(ask(view(), {.file = "/app/other.so"})).dead_path, "");
}

TEST_F(LoaderTest, WhatIsLoadedAlreadyMeetsAWantByItsSoname) {
  write("/torch/libtorch.so", {.needed = {"libcudnn.so.9"}, .rpath = "$ORIGIN/../cudnn"});
  write("/cudnn/libcudnn.so.9.10.2", {.soname = "libcudnn.so.9"});
  link("/cudnn/libcudnn.so.9", "libcudnn.so.9.10.2");
  write("/ort/libort.so", {.needed = {"libcudnn.so.9"}});
  Loader loader(view());
  EXPECT_EQ(only(loader.ask({.file = "/ort/libort.so"}).value()).found, "");
  auto torch = loader.ask({.file = "/torch/libtorch.so"}).value();
  for (LoadedLibrary& library : torch.loaded) {
    library.by = "torch";
  }
  const LibraryWant want =
      only(loader.ask({.file = "/ort/libort.so", .loaded = torch.loaded}).value());
  EXPECT_EQ(want.found, "/cudnn/libcudnn.so.9.10.2");
  EXPECT_EQ(want.via, "loaded by torch");
}

TEST_F(LoaderTest, NamesOpenedAtRunTimeAreWantedAndTheirNeedsWithThem) {
  write("/app/libapp.so", {.needed = {"libcudnn.so.9"}, .runpath = "$ORIGIN"});
  write("/app/libcudnn.so.9", {.runpath = "$ORIGIN/parts", .soname = "libcudnn.so.9"});
  write("/app/parts/libcudnn_ops.so.9", {.needed = {"libcublas.so.12"}});
  const LoaderAnswer answer =
      ask(view(), {.file = "/app/libapp.so",
                   .opened = {{"libcudnn.so.9", "libcudnn_ops.so.9"}, {"", "libcuda.so.1"}}});
  EXPECT_THAT(
      answer.wants,
      ElementsAre(Field(&LibraryWant::library, "libcudnn.so.9"),
                  AllOf(Field(&LibraryWant::library, "libcuda.so.1"),
                        Field(&LibraryWant::want, Want::Opened), Field(&LibraryWant::found, ""),
                        Field(&LibraryWant::by, "/app/libapp.so")),
                  AllOf(Field(&LibraryWant::library, "libcudnn_ops.so.9"),
                        Field(&LibraryWant::want, Want::Opened),
                        Field(&LibraryWant::by, "/app/libcudnn.so.9"),
                        Field(&LibraryWant::found, "/app/parts/libcudnn_ops.so.9")),
                  AllOf(Field(&LibraryWant::library, "libcublas.so.12"),
                        Field(&LibraryWant::want, Want::Needed))));
}

TEST_F(LoaderTest, ABundledLibraryOpensWhatItDidByItsOldName) {
  write("/ct2/_ext.so", {.needed = {"libcudnn-74a4c495.so.9.1.0"}, .rpath = "$ORIGIN/../ct2.libs"});
  write("/ct2.libs/libcudnn-74a4c495.so.9.1.0", {.soname = "libcudnn-74a4c495.so.9.1.0"});
  const LoaderAnswer answer =
      ask(view(), {.file = "/ct2/_ext.so", .opened = {{"libcudnn.so.9", "libcudnn_ops.so.9"}}});
  ASSERT_EQ(answer.wants.size(), 2);
  EXPECT_EQ(answer.wants[1].library, "libcudnn_ops.so.9");
  EXPECT_EQ(answer.wants[1].by, "/ct2.libs/libcudnn-74a4c495.so.9.1.0");
  EXPECT_EQ(answer.wants[1].found, "");
}

TEST_F(LoaderTest, TextsThatAreNamesOfLibrariesAreGuesses) {
  test::TinyElf elf;
  elf.sections = {{".rodata", std::string("\0libcublas.so.12\0cannot open libx.so\0libcudnn_%s.so\0"
                                          "libcuda.so.1\0libcuda.so\0x.so\0lib.so\0liby.so.cfg\0",
                                          100)}};
  write("/app/libapp.so", elf);
  write("/usr/lib64/libcuda.so.1", test::TinyElf{});
  const LoaderAnswer answer = ask("/app/libapp.so");
  ASSERT_EQ(answer.wants.size(), 2);
  EXPECT_EQ(answer.wants[0].library, "libcublas.so.12");
  EXPECT_EQ(answer.wants[0].want, Want::Opened);
  EXPECT_TRUE(answer.wants[0].guessed);
  EXPECT_EQ(answer.wants[0].found, "");
  EXPECT_EQ(answer.wants[1].library, "libcuda.so.1");  // so that libcuda.so is not missed
  EXPECT_THAT(ask(view(), {.file = "/app/libapp.so", .guess = false}).wants, IsEmpty());
}

TEST_F(LoaderTest, WhatAGuessedLibraryNeedsIsNobodysWant) {
  test::TinyElf elf;
  elf.sections = {{".rodata", std::string("\0liba.so\0", 9)}};
  write("/app/libapp.so", elf);
  write("/usr/lib64/liba.so", {.needed = {"libgone.so"}});
  const LoaderAnswer answer = ask("/app/libapp.so");
  EXPECT_EQ(only(answer).found, "/usr/lib64/liba.so");
  EXPECT_EQ(answer.loaded.size(), 1);
}

TEST_F(LoaderTest, VersionsAndSymbolsThatAreLackingAreNamed) {
  test::TinyElf user;
  user.needed = {"libnvJitLink.so.12", "libc.so.6"};
  user.runpath = "$ORIGIN";
  user.version_needs = {{"libnvJitLink.so.12", {"libnvJitLink.so.12"}},
                        {"libc.so.6", {"GLIBC_2.17", "GLIBC_2.38"}}};
  user.symbols = {{"__nvJitLinkCreate_12_1", false, "libnvJitLink.so.12"},
                  {"__nvJitLinkComplete_12_4", false, "libnvJitLink.so.12"},
                  {"maybe", false, "libnvJitLink.so.12", true}};
  write("/app/libcusparse.so.12", user);
  write("/app/libnvJitLink.so.12", {.soname = "libnvJitLink.so.12",
                                    .version_definitions = {"libnvJitLink.so.12"},
                                    .symbols = {{"__nvJitLinkCreate_12_1"}}});
  write("/app/libc.so.6", {.soname = "libc.so.6", .version_definitions = {"GLIBC_2.17"}});
  const LoaderAnswer answer = ask("/app/libcusparse.so.12");
  ASSERT_EQ(answer.wants.size(), 2);
  EXPECT_THAT(answer.wants[0].lacks,
              ElementsAre("__nvJitLinkComplete_12_4, version libnvJitLink.so.12"));
  EXPECT_THAT(answer.wants[1].lacks, ElementsAre("GLIBC_2.38"));
}

TEST_F(LoaderTest, WhereAMissingLibraryLiesIsTold) {
  write("/app/libapp.so", {.needed = {"libcublas.so.12"}});
  write("/venv/nvidia/cublas/lib/libcublas.so.12", test::TinyElf{});
  LoaderView with_folders = view();
  with_folders.other_folders = {"/nothing", "/venv/nvidia/cublas/lib"};
  const LibraryWant want = only(ask(with_folders, {.file = "/app/libapp.so"}));
  EXPECT_EQ(want.found, "");
  EXPECT_THAT(want.elsewhere, ElementsAre("/venv/nvidia/cublas/lib/libcublas.so.12"));
}

TEST_F(LoaderTest, TheProgramsOwnRpathCounts) {
  write("/conda/bin/python", {.rpath = "$ORIGIN/../lib"});
  write("/conda/lib/libstdc++.so.6", test::TinyElf{});
  write("/app/libapp.so", {.needed = {"libstdc++.so.6"}});
  LoaderView conda = view();
  conda.program = "/conda/bin/python";
  EXPECT_EQ(only(ask(conda, {.file = "/app/libapp.so"})).found, "/conda/lib/libstdc++.so.6");
}

TEST_F(LoaderTest, LinksStayInsideOfTheTreeAndLoopsEnd) {
  write("/opt/real/liba.so", test::TinyElf{});
  link("/opt/absolute", "/opt/real");
  link("/opt/outwards", "../../../../../../opt/real");
  link("/opt/loop", "loop");
  write("/app/libapp.so",
        {.needed = {"liba.so"}, .runpath = "/opt/loop:/opt/absolute:/opt/outwards"});
  EXPECT_EQ(only(ask("/app/libapp.so")).found, "/opt/real/liba.so");
  EXPECT_EQ(real_path(root_.path(), "/opt/outwards/liba.so"), "/opt/real/liba.so");
  EXPECT_EQ(real_path(root_.path(), "/opt/loop/liba.so"), std::nullopt);
  EXPECT_EQ(real_path(root_.path(), "/.."), "/");
}

TEST_F(LoaderTest, LibrariesThatNeedEachOtherEnd) {
  write("/app/liba.so", {.needed = {"libb.so"}, .rpath = "$ORIGIN", .soname = "liba.so"});
  write("/app/libb.so", {.needed = {"liba.so", "libb.so"}, .soname = "libb.so"});
  EXPECT_EQ(ask("/app/liba.so").loaded.size(), 2);
}

TEST_F(LoaderTest, ASearchWithoutEndIsGivenUp) {
  std::string folders;
  for (int i = 0; i < 9000; ++i) {
    folders += "/gone:";
  }
  test::TinyElf elf;
  elf.runpath = folders;
  for (int i = 0; i < 100; ++i) {
    elf.needed.push_back("lib" + std::to_string(i) + ".so");
  }
  write("/app/libapp.so", elf);
  Loader loader(view());
  EXPECT_THAT(loader.ask({.file = "/app/libapp.so"}).error().message, HasSubstr("do not end"));
}

TEST_F(LoaderTest, ANamedPipeIsNotWaitedFor) {
  write("/app/libapp.so", {.needed = {"liba.so"}, .runpath = "$ORIGIN"});
  ASSERT_EQ(::mkfifo((root_ / "app/liba.so").c_str(), 0600), 0);
  EXPECT_EQ(only(ask("/app/libapp.so")).found, "");
}

TEST_F(LoaderTest, AFileThatIsNoLibraryIsAnError) {
  test::write_file(root_ / "app/libapp.so", "text");
  Loader loader(view());
  EXPECT_THAT(loader.ask({.file = "/app/libapp.so"}).error().message,
              HasSubstr("wanted an ELF file"));
  EXPECT_EQ(loader.ask({.file = "/app/gone.so"}).error().code, ErrorCode::NotFound);
}

TEST_F(LoaderTest, WindowsLooksInItsOwnOrderAndIgnoresCase) {
  write_dll("/venv/app/app.pyd",
            {.imports = {"CUBLAS64_12.dll", "cudnn64_9.dll", "cudart64_12.dll", "KERNEL32.dll",
                         "python311.dll", "api-ms-win-crt-heap-l1-1-0.dll", "nvcuda.dll"},
             .delay_imports = {"zlibwapi.dll"}});
  write_dll("/venv/app/cublas64_12.dll", {.imports = {"cublasLt64_12.dll"}});
  write_dll("/nvidia/bin/cudnn64_9.dll", test::TinyPe{});
  write_dll("/nvidia/bin/cudart64_12.dll", {.machine = 0xAA64});
  write_dll("/path/cudart64_12.dll", test::TinyPe{});
  LoaderView windows;
  windows.system = System::Windows;
  windows.root = root_.path();
  windows.dll_folders = {"/nvidia/bin"};
  windows.library_path = "/nothing;/path";
  const LoaderAnswer answer = ask(windows, {.file = "/venv/app/app.pyd"});
  const auto want = [](const std::string& library, const std::string& found,
                       const std::string& via) {
    return AllOf(Field(&LibraryWant::library, library), Field(&LibraryWant::found, found),
                 Field(&LibraryWant::via, via));
  };
  EXPECT_THAT(
      answer.wants,
      ElementsAre(want("CUBLAS64_12.dll", "/venv/app/cublas64_12.dll", "its folder"),
                  want("cudnn64_9.dll", "/nvidia/bin/cudnn64_9.dll", "add_dll_directory"),
                  want("cudart64_12.dll", "/path/cudart64_12.dll", "PATH"),
                  want("KERNEL32.dll", "System32/KERNEL32.dll", "System32, taken to be there"),
                  want("python311.dll", "python311.dll", "Python, taken to have it"),
                  want("api-ms-win-crt-heap-l1-1-0.dll", "System32/api-ms-win-crt-heap-l1-1-0.dll",
                       "System32, taken to be there"),
                  want("nvcuda.dll", "", ""), want("zlibwapi.dll", "", ""),
                  want("cublasLt64_12.dll", "", "")));
  EXPECT_EQ(answer.wants[7].want, Want::Opened);
}

TEST(LoaderPaths, TokensAreExpanded) {
  const LoaderTokens tokens = {"/a/b", "lib/x86_64-linux-gnu", "x86_64"};
  EXPECT_EQ(expand_tokens("$ORIGIN/../${LIB}/$PLATFORM", tokens),
            "/a/b/../lib/x86_64-linux-gnu/x86_64");
  EXPECT_EQ(expand_tokens("/x", tokens), "/x");
  EXPECT_EQ(expand_tokens("$HOME/x", tokens), std::nullopt);
  EXPECT_EQ(expand_tokens("/x/$", tokens), std::nullopt);
}

TEST(LoaderPaths, EmptyPartsOfAListAreKept) {
  EXPECT_THAT(split_folders("/a::/b:", ":"), ElementsAre("/a", "", "/b", ""));
  EXPECT_THAT(split_folders(":", ":"), ElementsAre("", ""));
  EXPECT_THAT(split_folders("", ":"), IsEmpty());
}

TEST(OpenedNames, BundledLibrariesHadOtherNames) {
  EXPECT_EQ(name_before_bundling("libcudnn-463fd6d5.so.8.9.7"), "libcudnn.so.8.9.7");
  EXPECT_EQ(name_before_bundling("msvcp140-d64049c6e3865410a7dda6a7e9f0c575.dll"), "msvcp140.dll");
  EXPECT_EQ(name_before_bundling("libc10-cuda.so"), std::nullopt);
  EXPECT_EQ(name_before_bundling("libcudnn.so.8"), std::nullopt);
}

}  // namespace
}  // namespace mynah::doctor
