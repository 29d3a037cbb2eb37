// What is read of frameworks: versions, device code, what they would load.
#include "doctor/python/python_frameworks.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "python_tree.h"

namespace mynah::doctor {
namespace {

using test::framework_of;
using test::TinyElf;
using test::want_of;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kPackages = "/venv/lib/python3.11/site-packages";

class PythonFrameworks : public testing::Test {
 protected:
  void SetUp() override { tree_.write("/venv/pyvenv.cfg", "version = 3.11.2\n"); }

  // What torch for CUDA 12.6 is, of which NVIDIA's wheels are installed apart.
  void add_torch(const std::string& script = "") {
    tree_.package(kPackages, "torch", "2.7.1",
                  "Requires-Dist: nvidia-cudnn-cu12==9.5.1.17; platform_system == \"Linux\"\n");
    tree_.write(kPackages + "/torch/version.py",
                "__version__ = '2.7.1+cu126'\ncuda: Optional[str] = '12.6'\n"
                "hip: Optional[str] = None\n");
    tree_.write(kPackages + "/torch/__init__.py", script);
    const std::string rpath =
        "$ORIGIN/../../nvidia/cublas/lib:$ORIGIN/../../nvidia/cuda_runtime/lib:$ORIGIN";
    const std::string lib = kPackages + "/torch/lib/";
    tree_.write(lib + "libtorch_global_deps.so",
                TinyElf{.needed = {"libcudart.so.12"}, .rpath = rpath});
    tree_.write(lib + "libtorch_python.so",
                TinyElf{.needed = {"libtorch_cuda.so"}, .rpath = rpath});
    tree_.write(lib + "libtorch_cuda.so",
                test::with_code(90, {.needed = {"libcublas.so.12"}, .rpath = rpath}));
  }

  void add_cublas(const TinyElf& elf = {.soname = "libcublas.so.12"}) {
    tree_.package(kPackages, "nvidia-cublas-cu12", "12.6.4.1");
    tree_.write(kPackages + "/nvidia/cublas/lib/libcublas.so.12", test::with_code(61, elf));
  }

  void add_cudart(const std::string& folder = "cuda_runtime") {
    tree_.write(kPackages + "/nvidia/" + folder + "/lib/libcudart.so.12",
                TinyElf{.soname = "libcudart.so.12"});
  }

  void add_onnxruntime(const std::vector<std::string>& needed) {
    tree_.package(kPackages, "onnxruntime-gpu", "1.23.2");
    const std::string capi = kPackages + "/onnxruntime/capi/";
    tree_.write(capi + "build_and_package_info.py",
                "package_name = 'onnxruntime-gpu'\n__version__ = '1.23.2'\n"
                "cuda_version = '12.2'\n");
    tree_.write(capi + "onnxruntime_pybind11_state.cpython-311-x86_64-linux-gnu.so", TinyElf{});
    tree_.write(capi + "libonnxruntime_providers_shared.so", TinyElf{});
    tree_.write(capi + "libonnxruntime_providers_cuda.so", test::with_code(86, {.needed = needed}));
  }

  Framework read(const std::string& name, Look look = {}) {
    look.places = {"/venv"};
    const auto found = tree_.look(std::move(look));
    EXPECT_THAT(found, SizeIs(1)) << tree_.error;
    return found.empty() ? Framework() : framework_of(found.front(), name);
  }

  test::PythonTree tree_;
};

TEST_F(PythonFrameworks, TorchTellsMoreThanItsMetadata) {
  add_torch();
  add_cublas();
  add_cudart();
  const PythonEnvironment found = tree_.at("/venv");
  EXPECT_EQ(found.packages.back().version, "2.7.1+cu126");
  const Framework& torch = framework_of(found, "torch");
  EXPECT_EQ(torch.package, "torch");
  EXPECT_EQ(torch.version, "2.7.1+cu126");
  EXPECT_EQ(torch.cuda, "12.6");
  EXPECT_EQ(torch.cudnn, "9.5.1.17");
  EXPECT_EQ(torch.hip, "");
  EXPECT_EQ(torch.folder, kPackages + "/torch");
  ASSERT_THAT(torch.code, SizeIs(1));
  EXPECT_EQ(torch.code[0].file, kPackages + "/torch/lib/libtorch_cuda.so");
  EXPECT_EQ(torch.code[0].units[0].images[0].architecture, 90);
  EXPECT_EQ(want_of(torch, "libcublas.so.12").via, "RPATH");
  EXPECT_EQ(want_of(torch, "libcublas.so.12").found,
            kPackages + "/nvidia/cublas/lib/libcublas.so.12");
  EXPECT_THAT(tree_.skipped, IsEmpty());
}

TEST_F(PythonFrameworks, TorchForTheProcessorAndForAmdAreKnown) {
  tree_.package(kPackages, "torch", "2.7.1");
  tree_.write(kPackages + "/torch/lib/libtorch_python.so", TinyElf{});
  tree_.write(kPackages + "/torch/version.py",
              "__version__ = '2.7.1+cpu'\ncuda = None\nhip = None\n");
  EXPECT_EQ(read("torch").cuda, "");
  tree_.write(kPackages + "/torch/version.py",
              "__version__ = '2.7.1+rocm6.3'\ncuda = None\nhip = '6.3.42131'\n");
  EXPECT_EQ(read("torch").cuda, "");
  EXPECT_EQ(read("torch").hip, "6.3.42131");
}

TEST_F(PythonFrameworks, TorchOpensItsOwnWheelsWhereTheirFolderIsNotOnItsWay) {
  add_torch(R"(cuda_libs = {"cublas": "libcublas.so.*[0-9]", "rt": "libcudart.so.*[0-9]"})");
  add_cudart("elsewhere");
  add_cublas();
  tree_.write(kPackages + "/nvidia/odd/lib/libodd.so.1", TinyElf{.soname = "libodd.so.1"});
  const Framework torch = read("torch");
  const LibraryWant& cudart = want_of(torch, "libcudart.so.12");
  EXPECT_EQ(cudart.found, kPackages + "/nvidia/elsewhere/lib/libcudart.so.12");
  EXPECT_EQ(cudart.want, Want::Provided);
  EXPECT_EQ(cudart.via, "loaded by torch/__init__.py");
  EXPECT_EQ(want_of(torch, "libcublas.so.12").via, "loaded by torch/__init__.py");
  add_torch();  // an older one, whose script names none
  EXPECT_EQ(read("torch").wants.front().found, "");
}

TEST_F(PythonFrameworks, TorchOpensNvJitLinkBeforeAnotherOneIsFound) {
  add_torch("    _preload_cuda_deps(\"nvjitlink\", \"libnvJitLink.so.*[0-9]\")\n");
  add_cudart();
  add_cublas({.needed = {"libnvJitLink.so.12"}, .soname = "libcublas.so.12"});
  tree_.write(kPackages + "/nvidia/nvjitlink/lib/libnvJitLink.so.12",
              TinyElf{.soname = "libnvJitLink.so.12"});
  tree_.write("/old/libnvJitLink.so.12", TinyElf{.soname = "libnvJitLink.so.12"});
  const Look look = {.variables = {{"LD_LIBRARY_PATH", "/old"}}};
  EXPECT_EQ(want_of(read("torch", look), "libnvJitLink.so.12").found,
            kPackages + "/nvidia/nvjitlink/lib/libnvJitLink.so.12");
  tree_.write(kPackages + "/torch/__init__.py", "");
  EXPECT_EQ(want_of(read("torch", look), "libnvJitLink.so.12").found, "/old/libnvJitLink.so.12");
}

TEST_F(PythonFrameworks, NewerTorchOpensAllThatItsListNames) {
  add_torch(
      "cuda_libs = [(\"nvjitlink\", \"libnvJitLink.so.*[0-9]\")]\n        _preload_cuda_deps()\n");
  add_cudart();
  add_cublas({.needed = {"libnvJitLink.so.12"}, .soname = "libcublas.so.12"});
  tree_.write(kPackages + "/nvidia/nvjitlink/lib/libnvJitLink.so.12",
              TinyElf{.soname = "libnvJitLink.so.12"});
  EXPECT_EQ(want_of(read("torch"), "libnvJitLink.so.12").via, "loaded by torch/__init__.py");
}

TEST_F(PythonFrameworks, TorchaudiosLibraryIsThereBeforeWhatNeedsIt) {
  add_torch();
  tree_.package(kPackages, "torchaudio", "2.7.1");
  tree_.write(kPackages + "/torchaudio/version.py", "__version__ = '2.7.1+cu126'\n");
  tree_.write(kPackages + "/torchaudio/lib/libtorchaudio.so", test::with_code(90));
  tree_.write(kPackages + "/torchaudio/lib/_torchaudio.so",
              TinyElf{.needed = {"libtorchaudio.so"}});
  const Framework torchaudio = read("torchaudio");
  EXPECT_EQ(torchaudio.cuda, "12.6");
  EXPECT_EQ(want_of(torchaudio, "libtorchaudio.so").found,
            kPackages + "/torchaudio/lib/libtorchaudio.so");
}

TEST_F(PythonFrameworks, LibrariesThatAFirstUseOpensAreToldApart) {
  add_torch();
  add_cudart();
  add_cublas();
  tree_.write(kPackages + "/torch/lib/libtorch_cuda_linalg.so",
              TinyElf{.needed = {"libcusolver.so.11"}, .rpath = "$ORIGIN"});
  const Framework torch = read("torch");
  const LibraryWant& linalg = want_of(torch, "libtorch_cuda_linalg.so");
  EXPECT_EQ(linalg.want, Want::Opened);
  EXPECT_EQ(linalg.by, kPackages + "/torch/lib/libtorch_python.so");
  EXPECT_EQ(linalg.found, kPackages + "/torch/lib/libtorch_cuda_linalg.so");
  EXPECT_EQ(want_of(torch, "libcusolver.so.11").by, linalg.found);
  EXPECT_EQ(want_of(torch, "libcusolver.so.11").found, "");
}

TEST_F(PythonFrameworks, OnnxruntimeMissesWhatTorchWouldHaveLoaded) {
  add_torch();
  add_cudart();
  add_cublas();
  add_onnxruntime({"libcublas.so.12", "libcudnn.so.9"});
  const Framework onnxruntime = read("onnxruntime");
  EXPECT_EQ(onnxruntime.package, "onnxruntime-gpu");
  EXPECT_EQ(onnxruntime.cuda, "12.2");
  EXPECT_EQ(onnxruntime.cudnn, "9");
  EXPECT_EQ(want_of(onnxruntime, "libonnxruntime_providers_cuda.so").want, Want::Opened);
  const LibraryWant& cublas = want_of(onnxruntime, "libcublas.so.12");
  EXPECT_EQ(cublas.found, "");
  EXPECT_EQ(cublas.via, "loaded by torch");
  EXPECT_THAT(cublas.elsewhere, ElementsAre(kPackages + "/nvidia/cublas/lib/libcublas.so.12"));
  EXPECT_EQ(want_of(onnxruntime, "libcudnn.so.9").via, "");
}

TEST_F(PythonFrameworks, TheVariableLeadsOnnxruntimeToNvidiasWheels) {
  add_onnxruntime({"libcublas.so.12"});
  add_cublas();
  const Framework alone = read("onnxruntime");
  EXPECT_EQ(want_of(alone, "libcublas.so.12").found, "");
  EXPECT_THAT(want_of(alone, "libcublas.so.12").elsewhere, SizeIs(1));
  const Framework led =
      read("onnxruntime", {.variables = {{"LD_LIBRARY_PATH", kPackages + "/nvidia/cublas/lib"}}});
  EXPECT_EQ(want_of(led, "libcublas.so.12").via, "LD_LIBRARY_PATH");
}

TEST_F(PythonFrameworks, OldOnnxruntimeOpensItsLibrariesByPython) {
  add_onnxruntime({});
  tree_.write(kPackages + "/onnxruntime/capi/_ld_preload.py",
              "from ctypes import CDLL, RTLD_GLOBAL\ntry:\n"
              "    _a = CDLL(\"libcublas.so.11\", mode=RTLD_GLOBAL)\n"
              "    _b = CDLL(\"libcudnn.so.8\", mode=RTLD_GLOBAL)\n"
              "    _c = CDLL(\"libnvinfer.so.8\", mode=RTLD_GLOBAL)\n");
  tree_.write("/usr/lib/libcublas.so.11", TinyElf{.soname = "libcublas.so.11"});
  const Framework onnxruntime = read("onnxruntime");
  const LibraryWant& cublas = want_of(onnxruntime, "libcublas.so.11");
  EXPECT_EQ(cublas.want, Want::Provided);
  EXPECT_EQ(cublas.by, kPackages + "/onnxruntime/capi/_ld_preload.py");
  EXPECT_EQ(cublas.found, "/usr/lib/libcublas.so.11");
  EXPECT_EQ(want_of(onnxruntime, "libcudnn.so.8").found, "");
  EXPECT_EQ(want_of(onnxruntime, "libcudnn.so.8").want, Want::Provided);
  EXPECT_EQ(want_of(onnxruntime, "libnvinfer.so.8").library, "");
}

TEST_F(PythonFrameworks, OnnxruntimeWithoutItsProviderComputesOnTheProcessor) {
  tree_.package(kPackages, "onnxruntime", "1.23.2");
  tree_.write(
      kPackages + "/onnxruntime/capi/onnxruntime_pybind11_state.cpython-311-x86_64-linux-gnu.so",
      TinyElf{});
  EXPECT_EQ(read("onnxruntime").cuda, "");
  EXPECT_EQ(read("onnxruntime").package, "onnxruntime");
}

TEST_F(PythonFrameworks, OfTwoPackagesTheOneWhoseFilesLieThereIsNamed) {
  add_onnxruntime({});
  tree_.package(kPackages, "onnxruntime", "1.23.0");
  EXPECT_EQ(read("onnxruntime").package, "onnxruntime-gpu");
  tree_.write(kPackages + "/onnxruntime/capi/build_and_package_info.py",
              "package_name = 'onnxruntime'\n__version__ = '1.23.0'\n");
  EXPECT_EQ(read("onnxruntime").package, "onnxruntime");
  EXPECT_EQ(read("onnxruntime").version, "1.23.0");
}

TEST_F(PythonFrameworks, CTranslate2OpensWhatItsVersionIsKnownToOpen) {
  tree_.package(kPackages, "ctranslate2", "4.5.0");
  tree_.write(kPackages + "/ctranslate2/_ext.cpython-311-x86_64-linux-gnu.so",
              TinyElf{.needed = {"libctranslate2-bc15bf3f.so.4.5.0"},
                      .rpath = "$ORIGIN/../ctranslate2.libs"});
  TinyElf library = test::with_code(86, {.needed = {"libcudnn-74a4c495.so.9.1.0"},
                                         .rpath = "$ORIGIN",
                                         .soname = "libctranslate2-bc15bf3f.so.4.5.0"});
  library.sections[0].second = test::fatbin_bytes(
      {{.architecture = 86}, {.kind = 1, .architecture = 86, .ptx_major = 8, .ptx_minor = 2}});
  tree_.write(kPackages + "/ctranslate2.libs/libctranslate2-bc15bf3f.so.4.5.0", library);
  tree_.write(kPackages + "/ctranslate2.libs/libcudnn-74a4c495.so.9.1.0",
              TinyElf{.soname = "libcudnn-74a4c495.so.9.1.0"});
  const Framework found = read("ctranslate2");
  EXPECT_EQ(found.cuda, "12.2");
  EXPECT_EQ(found.cudnn, "9.1.0");
  EXPECT_EQ(want_of(found, "libcublas.so.12").want, Want::Opened);
  EXPECT_FALSE(want_of(found, "libcublas.so.12").guessed);
  EXPECT_EQ(want_of(found, "libcudnn_ops.so.9").found, "");
  EXPECT_EQ(want_of(found, "libcudnn_adv.so.9").library, "");
  ASSERT_THAT(found.code, SizeIs(1));
}

TEST_F(PythonFrameworks, AnUnknownCTranslate2IsGuessedAt) {
  tree_.package(kPackages, "ctranslate2", "99.0");
  TinyElf extension;
  extension.sections = {{".rodata", std::string("\0libcublas.so.14\0", 17)}};
  tree_.write(kPackages + "/ctranslate2/_ext.cpython-311-x86_64-linux-gnu.so", extension);
  EXPECT_TRUE(want_of(read("ctranslate2"), "libcublas.so.14").guessed);
}

TEST_F(PythonFrameworks, NvidiasLibrariesAreReadByFolder) {
  add_cublas();
  tree_.package(kPackages, "nvidia-cudnn-cu12", "9.10.2.21");
  tree_.write(kPackages + "/nvidia/cudnn/lib/libcudnn_ops.so.9", test::with_code(70));
  tree_.write(kPackages + "/nvidia/cudnn/lib/libcudnn_adv.so.9", test::with_code(75));
  tree_.write(kPackages + "/nvidia/cudnn/lib/libcudnn_graph.so.9", test::with_code(75));
  // One of the system, which onnxruntime finds.
  add_onnxruntime({"libcudnn.so.9"});
  tree_.write("/usr/lib/libcudnn.so.9.19.1", TinyElf{.soname = "libcudnn.so.9"});
  tree_.link("/usr/lib/libcudnn.so.9", "libcudnn.so.9.19.1");
  tree_.write("/usr/lib/libcudnn_ops.so.9.19.1", test::with_code(90));
  tree_.link("/usr/lib/libcudnn_ops.so.9", "libcudnn_ops.so.9.19.1");
  const PythonEnvironment found = tree_.at("/venv");
  std::vector<std::string> seen;
  for (const Framework& framework : found.frameworks) {
    seen.push_back(framework.name + "|" + framework.package + "|" + framework.version + "|" +
                   framework.folder + "|" + std::to_string(framework.code.size()));
  }
  EXPECT_THAT(
      seen, ElementsAre("onnxruntime|onnxruntime-gpu|1.23.2|" + kPackages + "/onnxruntime|1",
                        "cublas|nvidia-cublas-cu12|12.6.4.1|" + kPackages + "/nvidia/cublas/lib|1",
                        "cudnn|nvidia-cudnn-cu12|9.10.2.21|" + kPackages + "/nvidia/cudnn/lib|2",
                        "cudnn||9.19.1|/usr/lib|1"));
  EXPECT_EQ(framework_of(found, "cublas").cuda, "12");
}

TEST_F(PythonFrameworks, OneOfSeveralFilesIsUsed) {
  add_torch();
  add_cudart();
  add_cublas();
  const std::string codec = kPackages + "/torchcodec/libtorchcodec_core";
  tree_.package(kPackages, "torchcodec", "0.5");
  tree_.write(codec + "6.so", TinyElf{.needed = {"libavutil.so.58", "libtorch_cuda.so"}});
  tree_.write(codec + "7.so", TinyElf{.needed = {"libavutil.so.59", "libtorch_cuda.so"}});
  tree_.write("/usr/lib/libavutil.so.59", TinyElf{});
  tree_.package(kPackages, "bitsandbytes", "0.45.0");
  tree_.write(kPackages + "/bitsandbytes/libbitsandbytes_cuda118.so", test::with_code(50));
  tree_.write(kPackages + "/bitsandbytes/libbitsandbytes_cuda126.so", test::with_code(90));
  tree_.write(kPackages + "/bitsandbytes/libbitsandbytes_cpu.so", TinyElf{});
  const PythonEnvironment found = tree_.at("/venv");
  const Framework& torchcodec = framework_of(found, "torchcodec");
  EXPECT_EQ(want_of(torchcodec, "libavutil.so.59").found, "/usr/lib/libavutil.so.59");
  EXPECT_EQ(want_of(torchcodec, "libtorch_cuda.so").via, "loaded by torch");
  EXPECT_EQ(want_of(torchcodec, "libavutil.so.58").library, "");
  const Framework& bitsandbytes = framework_of(found, "bitsandbytes");
  EXPECT_EQ(bitsandbytes.cuda, "12.6");
  ASSERT_THAT(bitsandbytes.code, SizeIs(1));
  EXPECT_EQ(bitsandbytes.code[0].units[0].images[0].architecture, 90);
}

TEST_F(PythonFrameworks, CondasInterpreterLeadsToItsLibraries) {
  const std::string prefix = "/opt/conda";
  const std::string site = prefix + "/lib/python3.11/site-packages";
  tree_.write(prefix + "/conda-meta/history", "");
  tree_.write(prefix + "/bin/python3.11", TinyElf{.rpath = "$ORIGIN/../lib"});
  tree_.link(prefix + "/bin/python", "python3.11");
  tree_.write(prefix + "/lib/libllama_dep.so", TinyElf{});
  tree_.package(site, "llama_cpp_python", "0.3.2");
  tree_.write(site + "/llama_cpp/lib/libllama.so", TinyElf{.needed = {"libllama_dep.so"}});
  const PythonEnvironment found = tree_.at(prefix);
  const Framework& llama = framework_of(found, "llama-cpp-python");
  EXPECT_EQ(want_of(llama, "libllama_dep.so").via, "RPATH");
  EXPECT_EQ(llama.cuda, "");
  EXPECT_EQ(llama.package, "llama-cpp-python");
}

TEST_F(PythonFrameworks, OfWindowsWheelsDllsAreRead) {
  const std::string site = "/win/Lib/site-packages";
  tree_.write("/win/pyvenv.cfg", "version = 3.11.4\n");
  tree_.package(site, "ctranslate2", "4.5.0");
  tree_.write(site + "/ctranslate2/_ext.cp311-win_amd64.pyd",
              test::TinyPe{.imports = {"ctranslate2.dll", "python311.dll", "KERNEL32.dll"}});
  tree_.write(site + "/ctranslate2/ctranslate2.dll",
              test::TinyPe{.imports = {"cudnn64_9.dll", "MSVCP140.dll"},
                           .sections = {{".nv_fatb", test::fatbin_bytes({{.architecture = 86}})}}});
  tree_.write(site + "/ctranslate2/cudnn64_9.dll", test::TinyPe{});
  const PythonEnvironment found = tree_.at("/win");
  const Framework& ctranslate2 = framework_of(found, "ctranslate2");
  EXPECT_EQ(want_of(ctranslate2, "cudnn64_9.dll").found, site + "/ctranslate2/cudnn64_9.dll");
  EXPECT_EQ(want_of(ctranslate2, "cublas64_12.dll").want, Want::Opened);
  EXPECT_EQ(want_of(ctranslate2, "cublas64_12.dll").found, "");
  EXPECT_FALSE(want_of(ctranslate2, "cublas64_12.dll").guessed);
  EXPECT_TRUE(want_of(ctranslate2, "MSVCP140.dll").guessed);
  EXPECT_EQ(ctranslate2.cudnn, "9");
  ASSERT_THAT(ctranslate2.code, SizeIs(1));
  EXPECT_EQ(ctranslate2.code[0].units[0].images[0].architecture, 86);
}

TEST_F(PythonFrameworks, AFolderThatAnUninstallationLeftIsNoFramework) {
  std::filesystem::create_directories(tree_.root() + kPackages + "/torch/lib");
  std::filesystem::create_directories(tree_.root() + kPackages + "/ctranslate2");
  EXPECT_THAT(tree_.at("/venv").frameworks, IsEmpty());
}

TEST_F(PythonFrameworks, WhatHasMetadataAloneIsAFrameworkWithoutFiles) {
  tree_.package(kPackages, "torch", "2.7.1+cu126");
  tree_.package(kPackages, "onnxruntime-gpu", "1.23.2");
  std::filesystem::create_directories(tree_.root() + kPackages + "/onnxruntime/capi");
  const PythonEnvironment found = tree_.at("/venv");
  ASSERT_THAT(found.frameworks, SizeIs(2));
  const Framework& torch = framework_of(found, "torch");
  EXPECT_EQ(torch.version, "2.7.1+cu126");
  EXPECT_EQ(torch.folder, kPackages + "/torch/lib");
  EXPECT_EQ(torch.cuda, std::nullopt);
  EXPECT_THAT(torch.unverified, ElementsAre(kNoFiles));
  EXPECT_THAT(framework_of(found, "onnxruntime").unverified, ElementsAre(kNoFiles));
}

TEST_F(PythonFrameworks, WhatIsInstalledForEditingIsReadWhereItLies) {
  tree_.package(kPackages, "torch", "2.7.1");
  tree_.write(kPackages + "/__editable___torch_2_7_1_finder.py",
              "from __future__ import annotations\nimport sys\n"
              "MAPPING: dict[str, str] = {'functorch': '/src/f/other', 'torch': '/src/torch'}\n");
  tree_.write("/src/torch/version.py", "__version__ = '2.7.1'\ncuda = '12.6'\n");
  tree_.write("/src/torch/lib/libtorch_cuda.so", test::with_code(90));
  const Framework torch = read("torch");
  EXPECT_EQ(torch.folder, "/src/torch");
  ASSERT_THAT(torch.code, SizeIs(1));
  EXPECT_THAT(torch.unverified, IsEmpty());
}

TEST_F(PythonFrameworks, ALibraryThatIsBrokenIsSaidAndPassedBy) {
  add_torch();
  tree_.write(kPackages + "/torch/lib/libtorch_cuda.so",
              "\x7f"
              "ELF");
  const Framework torch = read("torch");
  EXPECT_THAT(torch.code, IsEmpty());
  EXPECT_THAT(tree_.skipped,
              ElementsAre(testing::HasSubstr(kPackages + "/torch/lib/libtorch_cuda.so: ")));
}

}  // namespace
}  // namespace mynah::doctor
