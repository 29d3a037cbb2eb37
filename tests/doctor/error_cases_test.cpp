// Known errors foretold from facts: what a finding says that the user would see is, as a log,
// explained as that very error.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/diagnose.h"
#include "doctor/errors/explain.h"
#include "doctor/known_frameworks.h"

namespace mynah::doctor {
namespace {

// As if its own files had been read.
Framework read(Framework framework) {
  framework.source.clear();
  framework.unverified.clear();
  for (LibraryWant& want : framework.wants) {
    want.found = "/usr/lib/" + want.library;
  }
  return framework;
}

Facts facts(const Framework& framework, const char* card_name, const char* driver) {
  Facts facts;
  Card& card = facts.machine.cards.emplace_back();
  card.name = card_name;
  card.vendor = "10de";
  card.kernel_driver = "nvidia";
  facts.machine.driver = driver;
  PythonEnvironment& environment = facts.environments.emplace_back();
  environment.path = "/venv";
  environment.python = "3.11";
  environment.frameworks = {framework};
  return facts;
}

// The same without a library: the loader finds none, or it lies at `elsewhere`.
Facts without(Framework framework, const std::string& library, const char* card, const char* driver,
              const std::string& elsewhere = "") {
  framework = read(std::move(framework));
  for (LibraryWant& want : framework.wants) {
    if (want.library == library) {
      want.found.clear();
      if (!elsewhere.empty()) {
        want.elsewhere = {elsewhere};
      }
    }
  }
  return facts(framework, card, driver);
}

Facts with_packages(const std::vector<std::pair<const char*, const char*>>& packages) {
  Facts facts;
  PythonEnvironment& environment = facts.environments.emplace_back();
  for (const auto& [name, version] : packages) {
    Package& package = environment.packages.emplace_back();
    package.name = name;
    package.version = version;
  }
  return facts;
}

Framework packed_llama() {
  Framework llama = read(known("llama-cpp-python", "0.3.4+cu124"));
  DeviceImage image;
  image.architecture = 70;
  image.zstd = true;
  llama.code = {{.file = "/venv/llama_cpp/lib/libggml-cuda.so", .units = {{90, {image}}}}};
  return llama;
}

Facts llama_without_driver() {
  Facts facts = without(packed_llama(), "libcuda.so.1", "Tesla V100", "570.124.06");
  facts.machine.container.inside = true;
  return facts;
}

Facts torch_beside_old_cudnn() {
  Framework torch = read(known("torch", "2.8.0+cu128"));
  for (LibraryWant& want : torch.wants) {
    if (want.library == "libcudnn.so.9") {
      want.found = "/opt/cudnn/lib/libcudnn.so.9.1.0";
      want.via = "LD_LIBRARY_PATH";
    }
  }
  return facts(torch, "RTX 4090", "570.124.06");
}

Facts torch_beside_old_nvjitlink() {
  Framework torch = read(known("torch", "2.5.1+cu124"));
  LibraryWant& cusparse = torch.wants.emplace_back();
  cusparse.library = "libcusparse.so.12";
  cusparse.by = "libtorch_cuda.so";
  cusparse.found = "/venv/nvidia/cusparse/lib/libcusparse.so.12";
  LibraryWant& nvjitlink = torch.wants.emplace_back();
  nvjitlink.library = "libnvJitLink.so.12";
  nvjitlink.by = "/venv/nvidia/cusparse/lib/libcusparse.so.12";
  nvjitlink.found = "/usr/local/cuda-12.1/lib64/libnvJitLink.so.12";
  nvjitlink.via = "LD_LIBRARY_PATH";
  nvjitlink.lacks = {"__nvJitLinkComplete_12_4"};
  return facts(torch, "RTX 4090", "570.124.06");
}

Facts llama_for_newer_processor() {
  Framework llama = packed_llama();
  llama.cpu_features = {"avx512f"};
  Facts old = facts(llama, "Tesla V100", "570.124.06");
  old.machine.processor_flags = {"avx", "avx2", "fma"};
  return old;
}

struct Case {
  const char* error;
  std::function<Facts()> facts;
  Level level;
  const char* remedy;  // that one of the commands or texts begins with; empty: none is wanted
};

// The parameter is printed by its error.
void PrintTo(const Case& value, std::ostream* out) {
  *out << value.error;
}

class ErrorCase : public testing::TestWithParam<Case> {};

TEST_P(ErrorCase, IsForetold) {
  const Report report = diagnose(GetParam().facts(), builtin_knowledge());
  ASSERT_FALSE(report.findings.empty());
  const auto own = std::ranges::find_if(report.findings, [](const Finding& finding) {
    return finding.subject.contains(' ') && !finding.error.empty();
  });
  ASSERT_NE(own, report.findings.end());
  const Finding& first = *own;
  EXPECT_EQ(first.level, GetParam().level) << first.text;
  const auto explained = explain(first.error, builtin_knowledge());
  ASSERT_FALSE(explained.empty()) << first.error;
  EXPECT_EQ(explained.front().id, GetParam().error) << first.error;
  const std::string remedy = GetParam().remedy;
  std::vector<std::string> remedies;
  for (const Remedy& found : first.remedies) {
    EXPECT_FALSE(found.command.empty() && found.text.empty());
    EXPECT_TRUE(found.steps.empty() || !found.text.empty());
    remedies.push_back(found.command.empty() ? found.text : found.command);
  }
  EXPECT_THAT(remedies, remedy.empty() ? testing::IsEmpty()
                                       : testing::Matcher<std::vector<std::string>>(
                                             testing::Contains(testing::StartsWith(remedy))));
}

INSTANTIATE_TEST_SUITE_P(
    Known, ErrorCase,
    testing::Values(
        Case{"E02",
             [] { return facts(known("torch", "2.13.0+cu126"), "RTX 5060 Ti", "580.95.05"); },
             Level::Fail, "pip install torch==2.13.0+cu130 "},
        Case{"E02", [] { return facts(known("torch", "2.8.0+cu128"), "GTX 1070 Ti", "580.95.05"); },
             Level::Fail, "pip install torch==2.8.0+cu126 "},
        Case{"E05",
             [] { return facts(known("onnxruntime-gpu", "1.28.0"), "Tesla P40", "580.95.05"); },
             Level::Fail, "pip install 'onnxruntime-gpu[cuda,cudnn]==1.23.2' 'nvidia-cudnn-cu12<="},
        Case{"E06", [] { return facts(packed_llama(), "Tesla V100", "535.288.01"); }, Level::Fail,
             "Install NVIDIA's driver of branch 550 or later."},
        Case{"E07", [] { return facts(known("ctranslate2", "4.8.1"), "H100", "550.54.14"); },
             Level::Fail, "Install NVIDIA's driver of branch 570 or later."},
        Case{"E07", [] { return facts(known("ctranslate2", "4.8.1"), "H100", "550.54.14"); },
             Level::Fail, "pip install ctranslate2==4.6.1 "},
        Case{"E08", [] { return facts(known("ctranslate2", "4.6.1"), "RTX 5090", "580.95.05"); },
             Level::Warning, "pip install 'ctranslate2>=4.7.0'"},
        Case{"E12", [] { return facts(known("torch", "2.12.0+cu130"), "RTX 3090", "550.163.01"); },
             Level::Fail, "pip install torch==2.12.0+cu126 "},
        Case{"E12", [] { return facts(known("torch", "2.12.0+cu130"), "RTX 3090", "550.163.01"); },
             Level::Fail, "Install NVIDIA's driver of branch 580 or later."},
        Case{"E17", [] { return facts(known("torch", "2.8.0+cu126"), "GTX 1050", "595.71.05"); },
             Level::Fail, "Put NVIDIA's driver of branch 580 back in"},
        Case{"E23", [] { return llama_without_driver(); }, Level::Fail, "docker run --gpus all"},
        Case{"E25",
             [] {
               return without(known("ctranslate2", "4.4.0"), "libcudnn_ops_infer.so.8", "RTX 3090",
                              "570.124.06");
             },
             Level::Fail, "pip install ctranslate2=="},
        Case{"E26",
             [] {
               return without(known("ctranslate2", "4.5.0"), "libcudnn_ops.so.9", "RTX 3090",
                              "570.124.06", "/venv/nvidia/cudnn/lib/libcudnn_ops.so.9");
             },
             Level::Fail, "export LD_LIBRARY_PATH=\"/venv/nvidia/cudnn/lib$"},
        Case{"E28", [] { return torch_beside_old_cudnn(); }, Level::Fail, "unset LD_LIBRARY_PATH"},
        Case{"E31",
             [] {
               return without(known("ctranslate2", "4.8.1"), "libcublas.so.12", "RTX 3090",
                              "570.124.06");
             },
             Level::Fail, "pip install ctranslate2==4.8.1 nvidia-cublas-cu12 && export"},
        Case{"E35", [] { return torch_beside_old_nvjitlink(); }, Level::Fail,
             "unset LD_LIBRARY_PATH"},
        Case{"E37",
             [] { return without(packed_llama(), "libcudart.so.12", "Tesla V100", "570.124.06"); },
             Level::Fail, "pip install nvidia-cuda-runtime-cu12 && export"},
        Case{"E38",
             [] { return without(packed_llama(), "libcublas.so.12", "Tesla V100", "570.124.06"); },
             Level::Fail, "pip install nvidia-cublas-cu12 && export"},
        Case{"E41",
             [] {
               return without(known("onnxruntime-gpu", "1.17.1"), "libcublasLt.so.11", "RTX 3090",
                              "570.124.06");
             },
             Level::Warning, "pip install 'onnxruntime-gpu[cuda,cudnn]==1.23.2' && export"},
        Case{"E42",
             [] {
               return without(known("onnxruntime-gpu", "1.23.2"), "libcublasLt.so.12", "RTX 3090",
                              "570.124.06");
             },
             Level::Warning, "pip install 'onnxruntime-gpu[cuda,cudnn]==1.23.2' && export"},
        Case{"E43",
             [] {
               return without(known("onnxruntime-gpu", "1.23.2"), "libcudnn.so.9", "RTX 3090",
                              "570.124.06");
             },
             Level::Warning, "pip install 'onnxruntime-gpu[cuda,cudnn]==1.23.2' && export"},
        Case{"E46",
             [] { return with_packages({{"torch", "2.5.1+cu124"}, {"torchaudio", "2.4.1"}}); },
             Level::Fail, "pip install torchaudio==2.5.1+cu124 --index-url"},
        Case{"E47",
             [] { return with_packages({{"torch", "2.7.1+cu126"}, {"torchvision", "0.21.0"}}); },
             Level::Fail, "pip install torchvision==0.22.1+cu126 --index-url"},
        Case{"E48",
             [] { return with_packages({{"torchaudio", "2.9.1"}, {"pyannote-audio", "3.3.2"}}); },
             Level::Fail, "pip install"},
        Case{"E52",
             [] {
               Facts windows =
                   facts(known("torch", "2.7.1", System::Windows), "RTX 4090", "572.61");
               windows.machine.system = System::Windows;
               windows.environments.front().system = System::Windows;
               return windows;
             },
             Level::Warning, "pip install torch==2.7.1+cu126 --index-url"},
        Case{"E61", [] { return llama_for_newer_processor(); }, Level::Fail, "CMAKE_ARGS="}));

TEST(Remedies, LeaveTorchTheCudnnThatItPins) {
  Facts both =
      without(known("ctranslate2", "4.4.0"), "libcudnn_ops_infer.so.8", "RTX 3090", "570.124.06");
  PythonEnvironment& environment = both.environments.front();
  environment.frameworks.push_back(read(known("torch", "2.7.1+cu126")));
  for (const auto& [name, version] : {std::pair("torch", "2.7.1+cu126"),
                                      {"ctranslate2", "4.4.0"},
                                      {"nvidia-cublas-cu12", "12.6.4.1"},
                                      {"nvidia-cudnn-cu12", "9.5.1.17"}}) {
    Package& package = environment.packages.emplace_back();
    package.name = name;
    package.version = version;
  }
  environment.packages.front().requires_ = {"nvidia-cublas-cu12==12.6.4.1",
                                            "nvidia-cudnn-cu12==9.5.1.17"};
  const Report report = diagnose(both, builtin_knowledge());
  const auto of_ctranslate2 = std::ranges::find_if(report.findings, [](const Finding& finding) {
    return finding.subject.starts_with("ctranslate2 4.4.0") && !finding.remedies.empty();
  });
  ASSERT_NE(of_ctranslate2, report.findings.end());
  for (const Remedy& remedy : of_ctranslate2->remedies) {
    EXPECT_THAT(remedy.command, testing::Not(testing::HasSubstr("cudnn-cu12==8"))) << remedy.text;
    // The cuBLAS that is there stays.
    EXPECT_EQ(remedy.cost, "") << remedy.command;
  }
  EXPECT_THAT(of_ctranslate2->remedies.front().command,
              testing::StartsWith("pip install ctranslate2==4.6.3 nvidia-cublas-cu12 "));
}

}  // namespace
}  // namespace mynah::doctor
