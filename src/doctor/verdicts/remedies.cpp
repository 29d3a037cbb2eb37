#include "doctor/verdicts/remedies.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "doctor/verdicts/healer.h"
#include "doctor/verdicts/known_framework.h"
#include "doctor/verdicts/newer_drivers.h"

namespace mynah::doctor {

Healer::Healer(const Framework& framework, const Judged& judged, const Card& card,
               const Machine& machine, const PythonEnvironment& environment,
               const Knowledge& knowledge)
    : framework_(framework),
      judged_(judged),
      card_(card),
      machine_(machine),
      environment_(environment),
      knowledge_(knowledge),
      target_(target_of(card, machine, knowledge)) {}

std::vector<Remedy> Healer::heal() {
  switch (judged_.cause) {
    case Cause::CardHidden:
      words("unset CUDA_VISIBLE_DEVICES", "Show the card to CUDA again.");
      break;
    case Cause::CompilerOff:
      words("unset CUDA_DISABLE_PTX_JIT CUDA_DISABLE_JIT", "Let the driver compile PTX again.");
      break;
    case Cause::LibraryMissing:
    case Cause::LibraryMisfit:
    case Cause::LibraryOnTheWay:
      libraries();
      break;
    case Cause::Overwritten:
      install_again();
      break;
    case Cause::ProcessorBuild:
    case Cause::OtherBuild:
      if (framework_.name == "torch") {
        versions(Reason::Version);
      }
      break;
    case Cause::ProcessorTooOld:
      compile_again();
      break;
    case Cause::DriverTooOld:
      versions(Reason::Version);
      newer_driver();
      break;
    case Cause::PtxTooNew:
    case Cause::Packed:
      newer_driver();
      versions(Reason::Version);
      break;
    case Cause::CardDropped:
      last_driver();
      break;
    case Cause::CudnnCode:
      pin_cudnn();
      versions(Reason::Card);
      alternatives();
      break;
    case Cause::NoCode:
    case Cause::CublasCode:
    case Cause::CudaTooOld:
      versions(Reason::Card);
      if (judged_.cause == Cause::NoCode) {
        alternatives();
      }
      break;
    default:
      break;
  }
  return std::move(remedies_);
}

void Healer::words(std::string command, std::string text) {
  remedies_.push_back({std::move(command), std::move(text), ""});
}

bool Healer::propose(const Change& change, std::string command, std::string text) {
  const Judged after = judge_change(change, card_, machine_, environment_, knowledge_);
  if (!mends(after)) {
    return false;
  }
  if (after.cause == Cause::CompiledByDriver) {
    text += " Its code for this card is compiled by the driver at the first use.";
  }
  const auto same = std::ranges::find(remedies_, command, &Remedy::command);
  if (same == remedies_.end()) {
    remedies_.push_back({std::move(command), std::move(text),
                         cost_of(change, card_, machine_, environment_, knowledge_)});
  }
  return true;
}

void Healer::versions(Reason reason) {
  if (framework_.name == "torch") {
    torch_versions();
  } else if (framework_.name == "onnxruntime") {
    onnxruntime_versions("", "Take the ONNX Runtime that has code for this card.");
  } else if (framework_.name == "ctranslate2") {
    ctranslate2_versions("Take the CTranslate2 that runs on this card with this driver.");
  } else if (framework_.name == "llama-cpp-python" && reason == Reason::Card) {
    compile_for_card();
  }
}

std::vector<std::string> Healer::drivers() const {
  std::vector<std::string> drivers = {""};
  const Architecture* architecture = knowledge_.architecture(capability_text(target_.capability));
  if (architecture != nullptr && architecture->last_driver &&
      target_.branch > cuda_number(architecture->last_driver->value + ".0") / 100) {
    drivers.push_back(architecture->last_driver->value);
  }
  return drivers;
}

void Healer::add_package(Change& change, std::string_view name, std::string_view version) {
  Package& package = change.packages.emplace_back();
  package.name = name;
  package.version = version;
}

void Healer::compile_for_card() {
  Change change{.framework = framework_, .packages = {}, .driver = ""};
  DeviceImage image;
  image.architecture = target_.capability;
  change.framework.code = {{.file = "libggml-cuda.so", .units = {{1, {image}}}}};
  const Architecture* architecture = knowledge_.architecture(capability_text(target_.capability));
  propose(change,
          fmt::format("CMAKE_ARGS=\"-DGGML_CUDA=on -DCMAKE_CUDA_ARCHITECTURES={}\" {} "
                      "--force-reinstall --no-binary llama-cpp-python llama-cpp-python=={}",
                      target_.capability, install_command(environment_), public_version()),
          fmt::format("Compile it for this card, which takes the toolkit of CUDA {} or later.",
                      architecture != nullptr ? architecture->first_toolkit.value : "of the card"));
}

void Healer::compile_again() {
  if (framework_.name == "llama-cpp-python") {
    words(fmt::format("CMAKE_ARGS=\"-DGGML_CUDA=on\" {} --force-reinstall --no-binary "
                      "llama-cpp-python llama-cpp-python=={}",
                      install_command(environment_), public_version()),
          "Compile it on this machine, for the processor that it has.");
  }
}

std::string Healer::public_version() const {
  const auto version = Version::parse(framework_.version);
  return version ? version->public_part().text() : framework_.version;
}

void Healer::newer_driver() {
  for (const NewerDriver& driver : newer_drivers(machine_, knowledge_)) {
    const Change change{.framework = framework_, .packages = {}, .driver = driver.version};
    if (propose(change, "", fmt::format("Install NVIDIA's driver {}.", driver.words))) {
      return;
    }
  }
}

void Healer::last_driver() {
  const Architecture* architecture = knowledge_.architecture(capability_text(target_.capability));
  if (architecture == nullptr || !architecture->last_driver) {
    return;
  }
  const std::string& last = architecture->last_driver->value;
  Change change{.framework = framework_, .packages = {}, .driver = last + ".999"};
  if (!propose(
          change, "",
          fmt::format("Put NVIDIA's driver of branch {} back in, the last for this card.", last))) {
    versions(Reason::Card);
  }
}

void Healer::alternatives() {
  if (!is_too_old() || framework_.name == "llama-cpp-python") {
    return;
  }
  if (framework_.name != "ctranslate2") {
    ctranslate2_versions(
        "For Whisper, take CTranslate2 (faster-whisper), which has code for this card and wants "
        "no cuDNN.");
  } else {
    torch_instead();
  }
  if (framework_.name != "onnxruntime") {
    onnxruntime_versions("",
                         "For models in ONNX, take the ONNX Runtime that has code for this "
                         "card.");
  }
  const Framework mynah = mynah_framework();
  propose({.framework = mynah, .packages = {}, .driver = ""}, "mynah transcribe RECORDING",
          "Take mynah itself: it runs on this card with nothing but the driver.");
}

bool Healer::is_too_old() const {
  int oldest = 0;
  for (const DeviceCode* code : deciding_code(framework_)) {
    for (const DeviceUnits& units : code->units) {
      for (const DeviceImage& image : units.images) {
        oldest = oldest == 0 ? image.architecture : std::min(oldest, image.architecture);
      }
    }
  }
  return target_.capability < oldest || judged_.cause == Cause::CudnnCode ||
         judged_.cause == Cause::CardDropped;
}

std::vector<Remedy> remedies_for(const Framework& framework, const Judged& judged, const Card& card,
                                 const Machine& machine, const PythonEnvironment& environment,
                                 const Knowledge& knowledge) {
  return Healer(framework, judged, card, machine, environment, knowledge).heal();
}

}  // namespace mynah::doctor
