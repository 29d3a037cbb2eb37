#include "doctor/machine/toolkit_rules.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/machine/machine_rule_parts.h"
#include "doctor/machine/toolkit_remedies.h"
#include "doctor/shell_word.h"
#include "doctor/versions.h"

namespace mynah::doctor {
namespace {

// Why a toolkit refuses a compiler, in a clause; empty: it takes it, or nothing is known.
std::string why_refused(const Toolkit& toolkit, const std::string& compiler) {
  const int gcc = number_of(compiler, "gcc");
  const int clang = number_of(compiler, "clang");
  const int msvc = number_of(compiler, "_MSC_VER");
  if (gcc > 0 && toolkit.gcc_most > 0 && gcc > toolkit.gcc_most) {
    return fmt::format("it takes gcc up to {}", toolkit.gcc_most);
  }
  if (clang > 0 && toolkit.clang_most > 0 && clang > toolkit.clang_most) {
    return fmt::format("it takes clang up to {}", toolkit.clang_most);
  }
  if (msvc > 0 && toolkit.msvc_most > 0 &&
      (msvc > toolkit.msvc_most || msvc < toolkit.msvc_least)) {
    return toolkit.msvc_least == 0
               ? fmt::format("it takes _MSC_VER up to {}", toolkit.msvc_most)
               : fmt::format("it takes _MSC_VER {} to {}", toolkit.msvc_least, toolkit.msvc_most);
  }
  return {};
}

// The version whose compilers no longer know an architecture; 0.0: none is known.
Cuda dropped_in(const Architecture& architecture) {
  const auto dropped =
      architecture.dropped_in ? cuda_of(architecture.dropped_in->value) : std::nullopt;
  return dropped.value_or(Cuda{});
}

class ToolkitJudge {
 public:
  ToolkitJudge(Diagnosis& diagnosis, const Toolkit& toolkit)
      : diagnosis_(diagnosis),
        machine_(diagnosis.facts.machine),
        toolkit_(toolkit),
        cuda_(cuda_of(toolkit.version)) {}

  void run() {
    const size_t before = diagnosis_.report.findings.size();
    judge_headers();
    judge_compiler();
    judge_studio();
    for (const Card* const card : nvidia_cards(machine_)) {
      if (!card->compute_capability.empty() && cuda_) {
        judge_card(*card);
      }
    }
    judge_driver_of_programs();
    if (diagnosis_.report.findings.size() == before) {
      say_good();
    }
  }

 private:
  [[nodiscard]] std::string label() const {
    return fmt::format("CUDA {} in {}", toolkit_.version.empty() ? "toolkit" : toolkit_.version,
                       toolkit_.path);
  }

  // Whether a build would take this one.
  [[nodiscard]] bool is_used() const {
    return toolkit_.on_path || toolkit_.named || diagnosis_.facts.toolkits.size() == 1;
  }

  [[nodiscard]] Level fail_if_used() const { return is_used() ? Level::Fail : Level::Warning; }

  [[nodiscard]] Finding about(std::string_view rule) const {
    Finding finding;
    finding.rule = rule;
    finding.subject = label();
    return finding;
  }

  void add(Finding finding) { diagnosis_.report.findings.push_back(std::move(finding)); }

  [[nodiscard]] bool lacks(std::string_view header) const {
    const auto known = toolkit_.headers.find(std::string(header));
    return known != toolkit_.headers.end() && !known->second;
  }

  // Everything that a build would stop at, one after the other, at once.
  void judge_headers() {
    if (lacks("cuda_runtime.h")) {
      Finding finding = about("toolkit runtime headers");
      finding.level = fail_if_used();
      finding.text = fmt::format(
          "{} has no cuda_runtime.h, which nvcc includes in every file: nothing can be compiled.",
          label());
      finding.error = "fatal error: cuda_runtime.h: No such file or directory";
      finding.evidence.push_back({.text = "no cuda_runtime.h", .where = toolkit_.path});
      finding.remedies.push_back(
          install_part(machine_, toolkit_, "cudart", "cuda-cudart-dev", "the runtime's headers"));
      add(std::move(finding));
    }
    judge_cpp_headers();
    if (lacks("cublas_v2.h")) {
      Finding finding = about("toolkit cublas headers");
      finding.level = Level::Warning;
      finding.text = fmt::format(
          "{} has no cublas_v2.h: builds of llama.cpp, whisper.cpp or CTranslate2 stop there.",
          label());
      finding.error = "fatal error: cublas_v2.h: No such file or directory";
      finding.evidence.push_back({.text = "no cublas_v2.h", .where = toolkit_.path});
      finding.remedies.push_back(
          install_part(machine_, toolkit_, "cublas_dev", "libcublas-dev", "cuBLAS's headers"));
      add(std::move(finding));
    }
  }

  void judge_cpp_headers() {
    // Thrust and CUB come with CUDA from 11 on, libcu++'s nv/target with 12 for sure.
    constexpr uint64_t kWithCub = 11;
    constexpr uint64_t kWithTarget = 12;
    if (!cuda_ || cuda_->major < kWithCub) {
      return;
    }
    std::vector<std::string_view> missing;
    for (const std::string_view header :
         {"nv/target", "cub/cub.cuh", "thrust/version.h", "cuda/std/version"}) {
      const bool own =
          cuda_->major >= kWithTarget || header.starts_with("cub") || header.starts_with("thrust");
      if (own && lacks(header)) {
        missing.push_back(header);
      }
    }
    if (missing.empty()) {
      return;
    }
    const KnownError* const known = diagnosis_.knowledge.error("E57");
    Finding finding = about("toolkit headers");
    finding.certainty = certainty_of(known);
    finding.level = finding.certainty == Certainty::Certain ? fail_if_used() : Level::Unknown;
    finding.text = fmt::format(
        "A build with CUDA {} stops at {}: the toolkit was installed without CUDA's C++ headers "
        "(libcu++, CUB, Thrust).",
        toolkit_.version, fmt::join(missing, ", then at "));
    finding.error = fmt::format("{}: No such file or directory", missing.front());
    for (const std::string_view header : missing) {
      finding.evidence.push_back(
          {.text = fmt::format("no {}", header), .where = toolkit_.path + "/include"});
    }
    finding.remedies.push_back(
        install_part(machine_, toolkit_, "thrust", "cuda-cccl", "CUDA's C++ headers"));
    finding.remedies.push_back(
        {.command = {},
         .text = "Or use mynah, which holds its kernels and needs no toolkit, where the build was "
                 "for speech",
         .cost = {}});
    if (const std::string wanted = newest_first_toolkit(); !wanted.empty()) {
      finding.remedies.push_back(
          {.command = {},
           .text =
               fmt::format("Or install CUDA {} or newer, with all components: a card here needs "
                           "it anyway",
                           wanted),
           .cost = "what is built with this version has to be built anew"});
    }
    add(std::move(finding));
  }

  // The toolkit that a card of this machine needs, where this one is older; empty: none.
  [[nodiscard]] std::string newest_first_toolkit() const {
    std::optional<Cuda> newest;
    for (const Card* const card : nvidia_cards(machine_)) {
      const Architecture* const architecture =
          diagnosis_.knowledge.architecture(card->compute_capability);
      const auto first =
          architecture != nullptr ? cuda_of(architecture->first_toolkit.value) : std::nullopt;
      if (first && cuda_ && *first > *cuda_ && (!newest || *first > *newest)) {
        newest = first;
      }
    }
    return newest ? newest->text() : std::string();
  }

  void judge_compiler() {
    const std::string reason = why_refused(toolkit_, toolkit_.host_compiler);
    if (reason.empty()) {
      return;
    }
    const auto fits = std::ranges::find_if(toolkit_.other_compilers, [&](const std::string& other) {
      const std::string_view kind = std::string_view(other).substr(0, other.find(' '));
      return toolkit_.host_compiler.starts_with(kind) && why_refused(toolkit_, other).empty();
    });
    const KnownError* const known = diagnosis_.knowledge.error("E56");
    Finding finding = about("host compiler");
    finding.certainty = certainty_of(known);
    // Where another compiler would do, builds may be told to take it.
    finding.level = fits != toolkit_.other_compilers.end()    ? Level::Warning
                    : finding.certainty == Certainty::Certain ? fail_if_used()
                                                              : Level::Unknown;
    finding.text = fmt::format("nvcc of CUDA {} refuses {}: {}.", toolkit_.version,
                               toolkit_.host_compiler, reason);
    finding.error = toolkit_.host_compiler.starts_with("_MSC")
                        ? "#error: -- unsupported Microsoft Visual Studio version!"
                    : toolkit_.host_compiler.starts_with("clang")
                        ? "#error -- unsupported clang version!"
                        : fmt::format(
                              "#error -- unsupported GNU version! gcc versions later than {} "
                              "are not supported!",
                              toolkit_.gcc_most);
    finding.evidence.push_back(
        {.text = reason, .where = toolkit_.path + "/include/crt/host_config.h"});
    finding.evidence.push_back({.text = toolkit_.host_compiler, .where = "the compiler on PATH"});
    finding.remedies.push_back(other_compiler(
        machine_, toolkit_, fits == toolkit_.other_compilers.end() ? std::string() : *fits));
    finding.remedies.push_back({.command = {},
                                .text = "Or install a newer CUDA toolkit",
                                .cost = "what is built with it may want a newer driver"});
    add(std::move(finding));
  }

  void judge_studio() {
    if (toolkit_.visual_studio != false || !cuda_) {
      return;
    }
    Finding finding = about("visual studio integration");
    finding.level = Level::Warning;
    finding.text = fmt::format(
        "Visual Studio was not told of CUDA {}: CMake with Visual Studio's generator finds no CUDA "
        "toolset, as pip's builds of llama-cpp-python do.",
        toolkit_.version);
    finding.error = "No CUDA toolset found.";
    finding.evidence.push_back({.text = fmt::format("no CUDA {}.props", cuda_->text()),
                                .where = "MSBuild/Microsoft/VC/*/BuildCustomizations"});
    finding.remedies.push_back(
        {.command = fmt::format("set CMAKE_GENERATOR=Ninja"),
         .text = "Build with Ninja, which needs none of it, from a Visual Studio prompt",
         .cost = {}});
    constexpr uint64_t kNamesKnown = 12;
    if (cuda_->major <= kNamesKnown) {
      finding.remedies.push_back(install_part(machine_, toolkit_, "visual_studio_integration", "",
                                              "Visual Studio's integration"));
    }
    add(std::move(finding));
  }

  // Whether another toolkit here compiles for an architecture.
  [[nodiscard]] bool another_compiles(const Architecture& architecture) const {
    const auto first = cuda_of(architecture.first_toolkit.value);
    const Cuda dropped = dropped_in(architecture);
    return std::ranges::any_of(diagnosis_.facts.toolkits, [&](const Toolkit& other) {
      const auto cuda = cuda_of(other.version);
      return cuda && (!first || *cuda >= *first) && (dropped.major == 0 || *cuda < dropped);
    });
  }

  void judge_card(const Card& card) {
    const Architecture* const architecture =
        diagnosis_.knowledge.architecture(card.compute_capability);
    if (architecture == nullptr) {
      return;
    }
    std::string sm = card.compute_capability;
    std::erase(sm, '.');
    const auto first = cuda_of(architecture->first_toolkit.value);
    const Cuda dropped = dropped_in(*architecture);
    if (first && *cuda_ < *first) {
      Finding finding = about("toolkit too old for card");
      finding.card = label_of(card);
      finding.level = Level::Warning;
      finding.certainty = certainty_of(&architecture->first_toolkit);
      finding.text = fmt::format(
          "CUDA {} does not know {} (compute capability {}), which came with {}: builds for it "
          "stop, "
          "and builds for an older one run through the driver's compiler.",
          toolkit_.version, label_of(card), card.compute_capability, first->text());
      finding.error = fmt::format("nvcc fatal   : Unsupported gpu architecture 'compute_{}'", sm);
      finding.evidence.push_back(
          {.text = fmt::format("first toolkit of {}: {}", card.compute_capability, first->text()),
           .where = architecture->first_toolkit.source});
      finding.remedies.push_back(install_toolkit(machine_, toolkit_, first->text()));
      add(std::move(finding));
    }
    if (dropped.major > 0 && *cuda_ >= dropped) {
      Finding finding = about("toolkit dropped card");
      finding.card = label_of(card);
      finding.certainty = certainty_of(&*architecture->dropped_in);
      finding.level = another_compiles(*architecture)           ? Level::Warning
                      : finding.certainty == Certainty::Certain ? fail_if_used()
                                                                : Level::Unknown;
      finding.text = fmt::format(
          "CUDA {} no longer compiles for {} (compute capability {}): nothing that is built with "
          "it "
          "runs there.",
          toolkit_.version, label_of(card), card.compute_capability);
      finding.error = fmt::format("nvcc fatal   : Unsupported gpu architecture 'compute_{}'", sm);
      finding.evidence.push_back(
          {.text = fmt::format("{} was dropped in {}", card.compute_capability, dropped.text()),
           .where = architecture->dropped_in->source});
      finding.remedies.push_back(install_toolkit(machine_, toolkit_, last_before(dropped)));
      add(std::move(finding));
    }
  }

  // The newest known toolkit before a version.
  [[nodiscard]] std::string last_before(const Cuda& limit) const {
    Cuda last;
    for (const CudaToolkit& known : diagnosis_.knowledge.toolkits) {
      if (const auto cuda = cuda_of(known.cuda); cuda && *cuda < limit && *cuda > last) {
        last = *cuda;
      }
    }
    return last.text();
  }

  // Whether the driver runs what the toolkit compiles.
  void judge_driver_of_programs() {
    const auto version = Version::parse(toolkit_.version);
    const auto driver = Version::parse(machine_.driver);
    const DriverFloor* const floor =
        version && driver ? diagnosis_.knowledge.floor(*version) : nullptr;
    if (floor == nullptr) {
      return;
    }
    const std::string& least =
        machine_.system == System::Windows ? floor->windows_driver : floor->linux_driver;
    const auto wanted = Version::parse(least);
    if (!wanted || *driver >= *wanted) {
      return;
    }
    Finding finding = about("toolkit newer than driver");
    finding.level = Level::Warning;
    finding.certainty = certainty_of(floor);
    finding.text = fmt::format(
        "What is compiled with CUDA {} starts on drivers from {} on; this machine has {}.",
        toolkit_.version, least, machine_.driver);
    finding.error = "CUDA driver version is insufficient for CUDA runtime version";
    finding.evidence.push_back(
        {.text = fmt::format("least driver: {}", least), .where = floor->source});
    finding.remedies.push_back(install_driver(diagnosis_, nvidia_cards(machine_)));
    add(std::move(finding));
  }

  void say_good() {
    if (toolkit_.version.empty()) {
      return;
    }
    Finding finding = about("toolkit");
    finding.level = Level::Good;
    finding.text = fmt::format("{} has its headers{}.", label(),
                               toolkit_.host_compiler.empty()
                                   ? std::string()
                                   : fmt::format(" and takes {}", toolkit_.host_compiler));
    add(std::move(finding));
  }

  Diagnosis& diagnosis_;
  const Machine& machine_;
  const Toolkit& toolkit_;
  std::optional<Cuda> cuda_;
};

// PATH and CUDA_HOME that name different toolkits.
void judge_choice(Diagnosis& diagnosis) {
  const auto& toolkits = diagnosis.facts.toolkits;
  const auto first = std::ranges::find(toolkits, true, &Toolkit::on_path);
  const auto named = std::ranges::find(toolkits, true, &Toolkit::named);
  if (first == toolkits.end() || named == toolkits.end() || first == named) {
    return;
  }
  const KnownError* const known = diagnosis.knowledge.error("E54");
  Finding finding;
  finding.rule = "several toolkits";
  finding.level = Level::Warning;
  finding.certainty = certainty_of(known);
  finding.subject = "toolkits";
  finding.text = fmt::format(
      "CUDA_HOME names CUDA {} in {}, and the first nvcc on PATH is that of CUDA {} in {}: builds "
      "may mix the two.",
      named->version, named->path, first->version, first->path);
  finding.error = "nvcc fatal   : Unsupported gpu architecture";
  finding.evidence.push_back({.text = "named by CUDA_HOME or CUDA_PATH", .where = named->path});
  finding.evidence.push_back({.text = "first on PATH", .where = first->path});
  finding.remedies.push_back(named->system == System::Windows
                                 ? Remedy{.command = "set PATH=%CUDA_PATH%\\bin;%PATH%",
                                          .text = "Put the named one first",
                                          .cost = {}}
                                 : Remedy{.command = fmt::format("export PATH={}:\"$PATH\"",
                                                                 shell_word(named->path + "/bin")),
                                          .text = "Put the named one first",
                                          .cost = {}});
  diagnosis.report.findings.push_back(std::move(finding));
}

}  // namespace

void judge_toolkits(Diagnosis& diagnosis) {
  for (const Toolkit& toolkit : diagnosis.facts.toolkits) {
    ToolkitJudge(diagnosis, toolkit).run();
  }
  judge_choice(diagnosis);
}

}  // namespace mynah::doctor
