#include "doctor/verdicts/known_framework.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "doctor/verdicts/coverage.h"

namespace mynah::doctor {

namespace {

// "12.6" of "cu126": all but the last digit are the major version.
std::string cuda_of_tag(std::string_view tag) {
  if (!tag.starts_with("cu") || tag.size() < 4) {
    return "";
  }
  const std::string_view digits = tag.substr(2);
  return fmt::format("{}.{}", digits.substr(0, digits.size() - 1), digits.back());
}

// An image of "9.0", "9.0a" or "10.0f".
DeviceImage image_of(std::string_view capability, bool ptx, std::string_view language, bool zstd) {
  DeviceImage image;
  image.ptx = ptx;
  if (capability.ends_with('a') || capability.ends_with('f')) {
    image.variant = capability.back();
    capability.remove_suffix(1);
  }
  image.architecture = capability_number(capability);
  image.ptx_version = ptx ? language : "";
  image.zstd = zstd;
  return image;
}

// All architectures in one unit: that is how compilers are asked for them.
DeviceCode code_of(std::string_view file, const std::vector<std::string>& architectures,
                   const std::vector<std::string>& ptx, std::string_view language, bool zstd) {
  DeviceUnits units;
  units.count = 1;
  for (const std::string& capability : architectures) {
    units.images.push_back(image_of(capability, false, "", zstd));
  }
  for (const std::string& capability : ptx) {
    units.images.push_back(image_of(capability, true, language, zstd));
  }
  return {.file = std::string(file), .units = {units}};
}

void want(Framework& framework, std::string library, Want kind, const std::string& by,
          System system, const Knowledge& knowledge) {
  if (system == System::Windows) {
    const auto named = knowledge.libraries_named(library);
    if (named.empty() || named.front()->dll.empty()) {
      return;
    }
    library = named.front()->dll;
  }
  LibraryWant& wanted = framework.wants.emplace_back();
  wanted.library = std::move(library);
  wanted.want = kind;
  wanted.by = by;
}

void doubt(Framework& framework, const Source& fact, const char* what) {
  if (!fact.verified) {
    framework.unverified.emplace_back(what);
  }
}

Framework on_processor(Framework framework, const Note* note) {
  framework.cuda = "";
  framework.source = note != nullptr ? note->source : "its name";
  return framework;
}

std::optional<Framework> known_torch(Framework framework, const Version& version, System system,
                                     const Knowledge& knowledge) {
  const std::string local = version.local_text();
  if (local == "cpu") {
    return on_processor(std::move(framework), nullptr);  // its name says it
  }
  if (local.empty() && system == System::Windows) {
    return on_processor(std::move(framework), knowledge.note("torch on Windows"));
  }
  const TorchRelease* release = knowledge.torch_release(version);
  const TorchVariant* variant = knowledge.torch_variant(version);
  if (release == nullptr || variant == nullptr) {
    return std::nullopt;
  }
  framework.cuda = cuda_of_tag(variant->cuda);
  framework.cudnn = variant->cudnn;
  framework.source =
      variant->source.empty() ? "the knowledge base, which names no source" : variant->source;
  const bool guessed_variant = local.empty() && !release->default_variant.verified;
  if (!variant->verified || guessed_variant) {
    framework.unverified = {"code", "cudnn", "libraries"};
  }
  const std::string file = system == System::Windows ? "torch_cuda.dll" : "libtorch_cuda.so";
  if (!variant->architectures.empty()) {
    std::vector<std::string> architectures = variant->architectures;
    if (system == System::Windows) {
      architectures.insert(architectures.end(), variant->windows_extra.begin(),
                           variant->windows_extra.end());
    }
    const CudaToolkit* toolkit = knowledge.toolkit(*framework.cuda);
    const bool zstd = variant->compression && variant->compression->value == "zstd";
    if (zstd) {
      doubt(framework, *variant->compression, "compression");
    }
    // Whether Windows wheels hold the same PTX was not read.
    if (toolkit == nullptr || !toolkit->ptx_verified || system == System::Windows) {
      framework.unverified.emplace_back("ptx");
    }
    framework.code = {
        code_of(file, architectures, variant->ptx, toolkit != nullptr ? toolkit->ptx : "", zstd)};
  }
  const int major = cuda_number(*framework.cuda) / 100;
  const bool old_cudnn = variant->cudnn.starts_with("8.");
  for (const char* name : {"cudart", "cublas", "cublasLt", old_cudnn ? "cudnn8" : "cudnn9"}) {
    if (const Library* library = knowledge.library(name, major)) {
      want(framework, library->soname, Want::Needed, file, system, knowledge);
    }
  }
  return framework;
}

// What is known of the code of a wheel.
void add_code(Framework& framework, const Version& version, System system,
              const Knowledge& knowledge) {
  const WheelCode* wheel = knowledge.wheel(framework.package, version, system);
  if (wheel == nullptr) {
    return;
  }
  framework.code = {code_of(wheel->file, wheel->architectures, wheel->ptx, wheel->ptx_isa,
                            wheel->compression == "zstd")};
  doubt(framework, *wheel, "code");
  if (!wheel->cuda.empty()) {
    framework.cuda = wheel->cuda;
  }
}

std::optional<Framework> known_onnxruntime(Framework framework, const Version& version,
                                           System system, const Knowledge& knowledge) {
  if (framework.package == "onnxruntime") {
    return on_processor(std::move(framework), knowledge.note("onnxruntime twice"));
  }
  const OnnxRuntimeRelease* release = knowledge.onnxruntime_release(version);
  if (release == nullptr) {
    return std::nullopt;
  }
  framework.cuda =
      release->built_with.empty() ? std::to_string(release->cuda_major) : release->built_with;
  framework.cudnn = std::to_string(release->cudnn_major);
  framework.source = release->source.empty() ? "the knowledge base" : release->source;
  doubt(framework, *release, "libraries");
  doubt(framework, *release, "cudnn");
  const bool windows = system == System::Windows;
  const std::string file =
      windows ? "onnxruntime_providers_cuda.dll" : "libonnxruntime_providers_cuda.so";
  for (const std::string& library : windows ? release->dlls : release->libraries) {
    want(framework, library, Want::Needed, file, System::Linux, knowledge);
  }
  add_code(framework, version, system, knowledge);
  return framework;
}

std::optional<Framework> known_ctranslate2(Framework framework, const Version& version,
                                           System system, const Knowledge& knowledge) {
  const CTranslate2Release* release = knowledge.ctranslate2_release(version);
  if (release == nullptr) {
    return std::nullopt;
  }
  framework.cuda =
      release->built_with.empty() ? std::to_string(release->cuda_major) : release->built_with;
  framework.cudnn = release->cudnn_major == 0 ? "" : std::to_string(release->cudnn_major);
  framework.source = release->source.empty() ? "the knowledge base" : release->source;
  doubt(framework, *release, "libraries");
  doubt(framework, *release, "cudnn");
  for (const std::string& library : release->opens) {
    want(framework, library, Want::Opened, "libctranslate2.so", system, knowledge);
  }
  add_code(framework, version, system, knowledge);
  return framework;
}

std::optional<Framework> known_llama(Framework framework, const Version& version, System system,
                                     const Knowledge& knowledge) {
  const std::string local = version.local_text();
  for (const LlamaWheels& wheels : knowledge.llama_wheels) {
    if (wheels.cuda != local || !wheels.exists) {
      continue;
    }
    framework.cuda = cuda_of_tag(local);
    framework.source = wheels.source;
    doubt(framework, wheels, "libraries");
    for (const std::string& library : wheels.needs) {
      want(framework, library, Want::Needed, "libggml-cuda.so", system, knowledge);
    }
    return framework;
  }
  return std::nullopt;
}

}  // namespace

Framework unknown_framework(std::string_view name, const Version& version) {
  Framework framework;
  framework.name = name == "onnxruntime-gpu" ? "onnxruntime" : name;
  framework.package = name;
  framework.version = version.text();
  return framework;
}

namespace {

std::optional<Framework> framework_of(std::string_view name, const Version& version, System system,
                                      const Knowledge& knowledge) {
  Framework framework = unknown_framework(name, version);
  if (name == "torch") {
    return known_torch(std::move(framework), version, system, knowledge);
  }
  if (name == "onnxruntime" || name == "onnxruntime-gpu") {
    return known_onnxruntime(std::move(framework), version, system, knowledge);
  }
  if (name == "ctranslate2") {
    return known_ctranslate2(std::move(framework), version, system, knowledge);
  }
  if (name == "llama-cpp-python") {
    return known_llama(std::move(framework), version, system, knowledge);
  }
  if (const WheelCode* wheel = knowledge.wheel(name, version, system)) {
    framework.source = wheel->source;
    add_code(framework, version, system, knowledge);
    return framework;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Framework> known_framework(std::string_view name, const Version& version,
                                         System system, const Knowledge& knowledge) {
  // What is known of NVIDIA's libraries is known of their minor versions.
  const Listing listing =
      name.starts_with("nvidia-") ? Listing::NotKnown : knowledge.listing_of(name, version);
  if (listing == Listing::Missing || version.is_prerelease()) {
    return std::nullopt;
  }
  auto framework = framework_of(name, version, system, knowledge);
  if (framework && listing == Listing::Newer) {
    framework->unverified = {"code", "cudnn", "libraries", "ptx"};
  }
  return framework;
}

void install(PythonEnvironment& environment, std::string_view name, const std::string& version,
             const Knowledge& knowledge) {
  std::erase_if(environment.packages, [&](const Package& other) { return other.name == name; });
  std::erase_if(environment.frameworks,
                [&](const Framework& other) { return other.package == name; });
  Package& package = environment.packages.emplace_back();
  package.name = name;
  package.version = version;
  const auto parsed = Version::parse(version);
  auto framework =
      parsed ? known_framework(name, *parsed, environment.system, knowledge) : std::nullopt;
  if (framework) {
    environment.frameworks.push_back(*std::move(framework));
  }
}

Framework mynah_framework() {
  Framework framework;
  framework.name = kMynah;
  framework.package = kMynah;
  // Its programs are of PTX 6.0 to 7.0; all of them run from CUDA 11.0 on, whose language is 7.0.
  framework.cuda = "11.0";
  framework.source = "docs/cuda.md";
  framework.code = {code_of("mynah", {}, {"6.0", "6.1", "7.5", "8.0"}, "7.0", false)};
  return framework;
}

}  // namespace mynah::doctor
