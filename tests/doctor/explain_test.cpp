#include "doctor/errors/explain.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/errors/log_text.h"

namespace mynah::doctor {

namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> ids(const std::vector<Explanation>& explanations) {
  std::vector<std::string> ids;
  ids.reserve(explanations.size());
  for (const Explanation& explanation : explanations) {
    ids.push_back((explanation.guess ? "guess " : "") + explanation.id);
  }
  return ids;
}

std::vector<std::string> ids_of(const std::string& log) {
  return ids(explain(log, builtin_knowledge()));
}

std::vector<std::string> commands_of(const std::string& log) {
  std::vector<std::string> commands;
  for (const Explanation& explanation : explain(log, builtin_knowledge())) {
    for (const Remedy& remedy : explanation.remedies) {
      if (remedy.steps.empty()) {
        commands.push_back(remedy.command);
      }
      for (const RemedyStep& step : remedy.steps) {
        commands.push_back(step.command);
      }
    }
  }
  return commands;
}

// The catalogue: ids and texts.
std::vector<std::pair<std::string, std::string>> catalogue() {
  std::ifstream in(std::string(MYNAH_SOURCE_DIR) + "/tests/doctor/data/errors.tsv");
  std::vector<std::pair<std::string, std::string>> entries;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("E")) {
      const size_t tab = line.find('\t');
      std::string text = line.substr(tab + 1);
      for (size_t at = text.find("\\n"); at != std::string::npos; at = text.find("\\n", at)) {
        text.replace(at, 2, "\n");
      }
      entries.emplace_back(line.substr(0, tab), text);
    }
  }
  return entries;
}

// Lines that name everything and complain of nothing.
const char* const kHealthy =
    "Loading faster-whisper large-v3 on cuda:0 with compute_type=float16\n"
    "NVIDIA GeForce RTX 5090, driver 580.95.05, CUDA capability sm_120\n"
    "ggml_cuda_init: found 1 CUDA devices: Device 0: NVIDIA RTX A6000, compute capability 8.6\n"
    "Successfully installed nvidia-cublas-cu12-12.4.5.8 torch-2.5.1 torchaudio-2.5.1\n"
    "loaded libcudnn_ops.so.9 from /opt/venv/lib/python3.11/site-packages/nvidia/cudnn/lib\n"
    "Building wheel for llama-cpp-python (pyproject.toml): finished with status 'done'\n"
    "NVIDIA_REQUIRE_CUDA=cuda>=12.9 brand=unknown,driver>=535,driver<536\n"
    "export LD_LIBRARY_PATH=/opt/venv/lib/python3.11/site-packages/nvidia/cublas/lib\n"
    "import os, nvidia.cublas.lib; print(os.path.dirname(nvidia.cublas.lib.__path__[0]))\n"
    "Available providers: CUDAExecutionProvider, CPUExecutionProvider\n"
    "0 errors, 0 failed, 63 passed\n"
    "Detected language 'en' with probability 0.99\n"
    "import torch, torchaudio, onnxruntime; print(torch.__version__)\n"
    "NumPy 2.1.3, libnvrtc-builtins.so.12.8 and libnvrtc.so.12 loaded\n"
    "found 2 devices, cuda:0 and cpu; using cuda:0, device ordinal 0\n"
    "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
    "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"
    "nvcc: NVIDIA (R) Cuda compiler driver, release 12.8, V12.8.61\n"
    "-- Using CMAKE_CUDA_ARCHITECTURES=75;86;89;120\n";

std::string with_noise(const std::string& text) {
  std::string noise;
  for (int i = 0; i < 40; ++i) {
    noise += kHealthy;
  }
  return noise + text + "\n" + noise;
}

// The text with `before` in front of every line and `after` behind it.
std::string framed(const std::string& text, const std::string& before, const std::string& after) {
  std::string result = before;
  for (const char c : text) {
    if (c == '\n') {
      result += after;
      result += c;
      result += before;
    } else {
      result += c;
    }
  }
  return result + after;
}

std::string wrapped(const std::string& text, size_t width, const std::string& prefix) {
  std::string result = prefix;
  size_t column = 0;
  for (const char c : text) {
    if (c == ' ' && column >= width) {
      result += '\n';
      result += prefix;
      column = 0;
    } else {
      result += c;
      column = c == '\n' ? 0 : column + 1;
    }
  }
  return result;
}

}  // namespace

TEST(Explain, EveryErrorOfTheCatalogueIsFoundAsItself) {
  ASSERT_GE(catalogue().size(), 180U);
  for (const auto& [id, text] : catalogue()) {
    const auto found = explain(text, builtin_knowledge());
    EXPECT_THAT(ids(found), ElementsAre(id)) << text;
    EXPECT_FALSE(found.empty() || found.front().mention) << text;
  }
}

TEST(Explain, EveryErrorIsFoundAloneWithinNoise) {
  for (const auto& [id, text] : catalogue()) {
    EXPECT_THAT(ids_of(with_noise(text)), ElementsAre(id)) << text;
  }
}

TEST(Explain, ColoursLineEndsAndPrefixesDoNotHideAnError) {
  for (const auto& [id, text] : catalogue()) {
    EXPECT_THAT(ids_of(framed(text, "\x1b[31;1m", "\x1b[0m\r")), ElementsAre(id)) << text;
    EXPECT_THAT(ids_of(framed(text, "whisper-1  | 2026-11-24T07:19:09.123Z ", "")), ElementsAre(id))
        << text;
    EXPECT_THAT(ids_of(framed(text, "[2026-11-24 07:19:09,123] ERROR ", "")), ElementsAre(id))
        << text;
  }
}

TEST(Explain, AMessageThatALoggerOrATerminalBrokeAtBlanksIsFound) {
  const std::string text =
      "RuntimeError: CUDA error: no kernel image is available for execution on the device";
  EXPECT_THAT(ids_of(wrapped(text, 12, "")), ElementsAre("E02"));
  EXPECT_THAT(ids_of(wrapped(text, 12, "asr-1  | 2026-11-24 07:19:09 ")), ElementsAre("E02"));
  EXPECT_THAT(ids_of(wrapped(text, 12, "    ")), ElementsAre("E02"));
}

// The same words mean another error by what stands near them.
TEST(Explain, WhatStandsBesideAnErrorSaysWhichItIs) {
  const std::string torch = "ModuleNotFoundError: No module named 'torch'\n";
  const std::string build = "x Getting requirements to build wheel did not run successfully.\n";
  EXPECT_THAT(ids_of(torch), ElementsAre("E82"));
  EXPECT_THAT(ids_of(build + torch), ElementsAre("E162"));
  EXPECT_THAT(ids_of(build + std::string(20000, '\n') + torch), ElementsAre("E82"));
  EXPECT_THAT(commands_of(build + torch), Not(Contains(HasSubstr("whl/cu128"))));

  const std::string weights = "_pickle.UnpicklingError: Weights only load failed.\n";
  EXPECT_THAT(ids_of("File pyannote/audio/core/model.py\n" + weights), ElementsAre("E68"));
  const auto xtts = explain("File site-packages/TTS/utils/io.py\n" + weights, builtin_knowledge());
  ASSERT_THAT(ids(xtts), ElementsAre("E154"));
  ASSERT_FALSE(xtts[0].remedies.empty());
  EXPECT_THAT(xtts[0].remedies[0].text, HasSubstr("coqui-tts"));
}

// As long a log as there may be, of one line.
TEST(Explain, ManyErrorsWithNeighboursTakeNoLonger) {
  std::string log = "Getting requirements to build wheel did not run\n";
  while (log.size() < (4U << 20U)) {
    log += "No module named 'torch'\n";
  }
  EXPECT_THAT(ids_of(log), testing::UnorderedElementsAre("E162", "E82"));
}

TEST(Explain, TypographicQuotesAndWideCharactersAreRead) {
  EXPECT_THAT(ids_of("module \xe2\x80\x98torchaudio\xe2\x80\x99 has no attribute "
                     "\xe2\x80\x98"
                     "AudioMetaData\xe2\x80\x99"),
              ElementsAre("E48"));
  std::string wide("\xff\xfe", 2);
  for (const char c :
       std::string("nvcc fatal   : Unsupported gpu architecture 'compute_120'\r\n")) {
    wide += c;
    wide += '\0';
  }
  EXPECT_THAT(ids_of(wide), ElementsAre("E53"));
}

TEST(Explain, WhatIsNoErrorGivesNothing) {
  EXPECT_THAT(ids_of(kHealthy), IsEmpty());
  EXPECT_THAT(ids_of(""), IsEmpty());
  EXPECT_THAT(ids_of("\n\n\r\n"), IsEmpty());
  EXPECT_THAT(ids_of("Traceback (most recent call last):\nKeyError: 'text'"), IsEmpty());
  EXPECT_THAT(ids_of("error: failed to open input.wav: No such file or directory"), IsEmpty());
  EXPECT_THAT(ids_of("ValueError: could not convert string to float: 'abc'"), IsEmpty());
  EXPECT_THAT(ids_of("libpulse.so.0: cannot open shared object file"), IsEmpty());
  EXPECT_THAT(ids_of("clang version 19.1.7 -cc1 -disable-free -ferror-limit 19"), IsEmpty());
  EXPECT_THAT(ids_of("A device may fail to compute without a word, which is why the capability of "
                     "each card is proven before a model that needs it is loaded"),
              IsEmpty());
}

// Each names a known error, and none of them met it.
TEST(Explain, AnErrorThatIsOnlySpokenOfIsNoCertainty) {
  for (const char* log :
       {"fixed CUDA error: out of memory in 1.2",
        "- Fix: no kernel image is available for execution on the device on sm_120 (#1234)",
        "* CUDA out of memory when transcribing long files (#991)",
        "avoids \"Could not load library libcudnn_ops_infer.so.8\" by preloading cuDNN",
        "INFO:     127.0.0.1:5123 - \"GET /docs?q=CUDA out of memory HTTP/1.1\" 200 OK",
        "2026-11-24 10:00:00,123 - asr - INFO - CUDA out of memory handler installed",
        "time=2026-11-24 level=info msg=\"on CUDA out of memory the model is unloaded\"",
        "#6 [3/6] RUN command -v ffmpeg || echo \"ffmpeg: not found\"",
        "test \"CUDA out of memory\" is retried ... ok",
        "    if \"CUDA out of memory\" in str(error):",
        "# CUDA error: no kernel image is available for execution on the device: needs cu128",
        "If you see `Could not load library libcudnn_ops_infer.so.8`, install cuDNN 8.",
        "When it says No such file or directory: 'ffmpeg', install ffmpeg.",
        "    raise OSError('PortAudio library not found')",
        "the crash by libcublas.so.12: cannot open shared object file is fixed"}) {
    const auto found = explain(log, builtin_knowledge());
    ASSERT_THAT(ids(found), testing::SizeIs(1)) << log;
    EXPECT_TRUE(found[0].mention) << log;
  }
  EXPECT_THAT(ids_of("bluetoothd[812]: No devices were found to reconnect"), IsEmpty());
}

TEST(Explain, WhatHappenedIsCertainAlsoBesideLinesThatSpeakOfIt) {
  for (const char* log : {"INFO:root:starts\nRuntimeError: CUDA out of memory",
                          "ERROR: INFO asked for, CUDA out of memory",
                          "{\"level\":\"error\",\"msg\":\"CUDA out of memory\"}",
                          "[INFO] worker failed: CUDA out of memory"}) {
    const auto found = explain(log, builtin_knowledge());
    ASSERT_THAT(ids(found), ElementsAre("E64")) << log;
    EXPECT_FALSE(found[0].mention) << log;
  }
  const auto found = explain(
      "# fixed: CUDA error: no kernel image is available for execution on the device\n"
      "    raise OSError('PortAudio library not found')\n"
      "OSError: PortAudio library not found\n",
      builtin_knowledge());
  ASSERT_THAT(ids(found), ElementsAre("E109", "E02"));
  EXPECT_FALSE(found[0].mention);
  EXPECT_EQ(found[0].line, 3U);
  EXPECT_EQ(found[0].times, 2U);
  EXPECT_TRUE(found[1].mention);
}

TEST(Explain, EveryKnownErrorIsInTheCatalogueOfTexts) {
  std::set<std::string> shown;
  for (const auto& [id, text] : catalogue()) {
    shown.insert(id);
  }
  for (const KnownError& error : builtin_knowledge().errors) {
    EXPECT_TRUE(shown.contains(error.id)) << error.id;
  }
}

// The log of a program that computes on the processor, as it was told to.
TEST(Explain, AHealthyRunOnTheProcessorShowsNothingThatDoesHarm) {
  const auto found = explain(
      "whisper_init_with_params_no_state: use gpu    = 1\n"
      "whisper_backend_init_gpu: device 0: CPU (type: 0)\n"
      "whisper_backend_init_gpu: no GPU found\n"
      "whisper_init_state: kv self size  =   18.87 MB\n"
      "whisper_print_timings:    total time =  5210.11 ms\n",
      builtin_knowledge());
  ASSERT_THAT(ids(found), ElementsAre("E79"));
  EXPECT_TRUE(found[0].harmless);
}

TEST(Explain, WhatAnEarlierErrorBrokeIsToldAsItsConsequence) {
  const auto found = explain(
      "RuntimeError: CUDA error: device-side assert triggered\n"
      "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling "
      "`cublasCreate(handle)`\n",
      builtin_knowledge());
  ASSERT_THAT(ids(found), ElementsAre("E72", "E89"));
  EXPECT_EQ(found[1].follows, "E72");
}

// A driver of CUDA 11 starts no wheel for CUDA 12: another wheel for 12 mends nothing.
TEST(Explain, ForADriverOfCuda11ADriverComesBeforeAnyTorchForCuda12) {
  for (const char* log : {"CUDA driver version is insufficient for CUDA runtime version",
                          "The NVIDIA driver on your system is too old (found version 11040)"}) {
    const auto found = explain(log, builtin_knowledge());
    ASSERT_THAT(ids(found), ElementsAre("E99")) << log;
    const auto names = [](const char* what) {
      return [what](const Remedy& remedy) { return (remedy.command + remedy.text).contains(what); };
    };
    const auto& remedies = found[0].remedies;
    const auto driver = std::ranges::find_if(remedies, names("Install a driver of branch 580"));
    const auto torch = std::ranges::find_if(remedies, names("/whl/cu12"));
    ASSERT_NE(driver, remedies.end());
    EXPECT_LT(driver, torch) << log;
  }
}

TEST(Explain, RootsComeBeforeTheirConsequencesAndWhatDoesNoHarmIsLast) {
  const auto found = explain(
      "Bad things might happen unless you revert torch to 1.x.\n"
      "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
      "RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch "
      "installation.\n",
      builtin_knowledge());
  EXPECT_THAT(ids(found), ElementsAre("E01", "E02", "E51"));
  EXPECT_EQ(found[0].line, 3U);
  EXPECT_EQ(found[1].line, 2U);
  EXPECT_EQ(found[1].follows, "E01");
  EXPECT_TRUE(found[2].harmless);
}

TEST(Explain, TheLineAndHowOftenItCameAreSaid) {
  const std::string line = "E: device kernel image is invalid\x1b[0m\n";
  const auto found = explain("one\ntwo\n" + line + "four\n" + line, builtin_knowledge());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].line, 3U);
  EXPECT_EQ(found[0].times, 2U);
  EXPECT_EQ(found[0].text, "E: device kernel image is invalid");
}

TEST(Explain, RemediesAreFilledWithWhatTheLogSays) {
  EXPECT_THAT(commands_of("#error -- unsupported GNU version! gcc versions later than 12 are not "
                          "supported!"),
              ElementsAre("export NVCC_CCBIN=gcc-12", ""));
  EXPECT_THAT(commands_of("unsupported clang version"), ElementsAre(""));
  EXPECT_THAT(commands_of("Your installed torch==2.13.0+cu126 does not include kernels for this "
                          "GPU.")[0],
              HasSubstr("torch==2.13.0 torchvision"));
}

TEST(Explain, ALogPutsNothingIntoACommandThatAShellWouldRun) {
  for (const char* log :
       {"unsupported GNU version! gcc versions later than 12;touch x are not supported",
        "libcublas.so.12$(touch x): cannot open shared object file",
        "torchcodec 1;touch installed by `touch x`: incompatible",
        "undefined symbol: __nvJitLink$(touch x), version libnvJitLink.so.12"}) {
    EXPECT_THAT(commands_of(log), testing::Each(testing::Not(HasSubstr("touch")))) << log;
  }
}

TEST(Explain, AMissingLibraryOfCudaIsKnownByTheWheelThatBringsIt) {
  const std::string log = "ImportError: libcufft.so.11: cannot open shared object file: No such";
  EXPECT_THAT(ids_of(log), ElementsAre("library"));
  EXPECT_THAT(commands_of(log), ElementsAre("pip install \"nvidia-cufft-cu12\"",
                                            HasSubstr("import nvidia.cufft as")));
  EXPECT_THAT(commands_of("/opt/a/libcudnn_adv.so.9: cannot open shared object file")[0],
              "pip install \"nvidia-cudnn-cu12==9.*\"");
}

// All of it is needed, in this order: one remedy, and no choice between two.
TEST(Explain, WhatFollowsOnAnotherIsAStepOfTheSameRemedy) {
  for (const char* log : {"RuntimeError: Library libcublas.so.12 is not found or cannot be loaded",
                          "ImportError: libcudart.so.12: cannot open shared object file",
                          "libllama.so: libcublas.so.12: cannot open shared object file",
                          "libcurand.so.10: cannot open shared object file"}) {
    const auto found = explain(log, builtin_knowledge());
    ASSERT_THAT(found, testing::SizeIs(1)) << log;
    ASSERT_FALSE(found[0].remedies.empty()) << log;
    const Remedy& first = found[0].remedies[0];
    EXPECT_EQ(first.command, "") << log;
    ASSERT_THAT(first.steps, testing::SizeIs(2)) << log;
    EXPECT_THAT(first.steps[0].command, testing::StartsWith("pip install ")) << log;
    EXPECT_THAT(first.steps[1].command, testing::StartsWith("export LD_LIBRARY_PATH=")) << log;
  }
}

// A card that fell off the bus is no fault of a program's; what mends it mostly comes first.
TEST(Explain, AnXidIsExplainedByItsNumber) {
  const auto first = [](const char* number) {
    const auto found = explain(
        std::string("NVRM: Xid (PCI:0000:01:00): ") + number + ", pid=1234, name=python3, and more",
        builtin_knowledge());
    EXPECT_THAT(found, testing::SizeIs(1)) << number;
    return found.empty() || found[0].remedies.empty() ? Remedy() : found[0].remedies[0];
  };
  EXPECT_THAT(first("79").text, HasSubstr("power, air and a firm seat"));
  EXPECT_THAT(first("31").text, HasSubstr("Update the program"));
  EXPECT_EQ(first("94").command, "sudo nvidia-smi --gpu-reset");
  EXPECT_THAT(first("793").command, HasSubstr("dmesg"));
}

TEST(Explain, TheNearestErrorIsGuessedAndCalledAGuess) {
  const auto found =
      explain("fine\nAttributeError: torchaudio, a module without the attribute AudioMetaData\n",
              builtin_knowledge());
  ASSERT_THAT(ids(found), testing::SizeIs(1));
  EXPECT_TRUE(found[0].guess);
  EXPECT_LT(found[0].sureness, 1);
  EXPECT_GE(found[0].sureness, 0.5);
  EXPECT_EQ(found[0].line, 2U);
}

TEST(Explain, AnErrorOfCudaThatIsKnownOfOneProgramIsFoundInAnother) {
  EXPECT_THAT(ids_of("parallel_for failed: cudaErrorNoKernelImageForDevice: no kernel image is "
                     "available for execution on the device"),
              ElementsAre("E02"));
  EXPECT_THAT(ids_of("[E:onnxruntime] Failed to load library libonnxruntime_providers_cuda.so with "
                     "error: libcufft.so.12: cannot open shared object file: No such file\n"
                     "[W:onnxruntime] Failed to create CUDAExecutionProvider. Require cuDNN 9.*"),
              ElementsAre("E42", "E44"));
}

TEST(Explain, OfALogThatIsTooLongTheEndIsReadAndLinesAreStillCounted) {
  std::string log = "device kernel image is invalid\n";
  log += std::string(kMostLogBytes, '\n');
  log += "cuInit err: 999";
  const auto found = explain(log, builtin_knowledge());
  ASSERT_THAT(ids(found), ElementsAre("E19"));
  EXPECT_EQ(found[0].line, kMostLogBytes + 2);
}

TEST(Explain, HardTextsTakeTimeInProportion) {
  // Each begins a pattern again and again and never ends it.
  for (const char* piece :
       {"nvml", "ONNXRuntimeError", "Unable to load any of", "Could not load library libcu",
        "libonnxruntime_providers_cuda.so with error: lib", "\x1b[",
        "a: cannot open shared object file "}) {
    std::string log;
    while (log.size() < (size_t{1} << 20)) {
      log += piece;
    }
    EXPECT_LE(explain(log, builtin_knowledge()).size(), 2U) << piece;
  }
}

TEST(LogText, IsNeverLongerThanTheLogAndHasItsLines) {
  EXPECT_EQ(plain_log("a\r\n\r\n \tb \x1b]0;title\x07"
                      "c\n"),
            "a\n\nb c\n");
  EXPECT_EQ(plain_log("\x1b[1;31mred\x1b[0m \x1b[K!"), "red !");
  EXPECT_EQ(plain_log("\x1b["), "");
  EXPECT_EQ(plain_log("web-1 | 2026-11-24 07:19:09,5 up"), "up");
  EXPECT_EQ(plain_log("[2026-11-24 07:19:09] up"), "up");
  EXPECT_EQ(plain_log("a b | c"), "a b | c");
}

TEST(LogText, ALongLineIsCutAroundItsPlace) {
  const std::string text = std::string(500, 'a') + "X" + std::string(500, 'b');
  const std::string line = printable_line(text, 500, 100);
  EXPECT_EQ(line.size(), 100U);
  EXPECT_EQ(line.find('X'), 25U);
  EXPECT_EQ(printable_line("one\nt\xffwo\nthree", 5, 100), "t?wo");
}

// What a warning of PyTorch's is about, is said by its numbers alone.
TEST(Explain, AWarningOfACapabilityIsReadByItsNumbers) {
  const auto range = [](const char* card, const char* least, const char* most) {
    return ids_of(
        fmt::format("Found GPU0 NVIDIA Card which is of cuda capability {}.\n"
                    "    Minimum and Maximum cuda capability supported by this "
                    "version of PyTorch is\n    ({}) - ({})\n",
                    card, least, most));
  };
  EXPECT_THAT(range("6.1", "7.0", "12.0"), ElementsAre("E04"));
  EXPECT_THAT(range("12.1", "8.0", "12.0"), ElementsAre("E153"));
  EXPECT_THAT(range("12.0", "5.0", "9.0"), ElementsAre("E01"));
  EXPECT_THAT(range("8.9", "8.9", "9.0"), ElementsAre("E153"));
  EXPECT_THAT(range("8.9", "7.5", "9.0"), ElementsAre("E04"));  // 8.x may be among what is between
  EXPECT_THAT(range("8.99", "7.5", "9.0"), ElementsAre("E04"));
  const auto list = [](const char* card, const char* codes) {
    return ids_of(fmt::format(
        "NVIDIA Card with CUDA capability sm_{} is not compatible with the current PyTorch "
        "installation.\nThe current PyTorch install supports CUDA capabilities {}.\n",
        card, codes));
  };
  EXPECT_THAT(list("120", "sm_50 sm_60 sm_90"), ElementsAre("E01"));
  EXPECT_THAT(list("121", "sm_80 sm_90 sm_100 sm_120"), ElementsAre("E153"));
  EXPECT_THAT(list("61", "sm_75 sm_80 sm_120"), ElementsAre("E04"));
  EXPECT_THAT(list("110", "sm_75 sm_120"), ElementsAre("E01"));
}

}  // namespace mynah::doctor
