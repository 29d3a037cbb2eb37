// How remedies.h finds remedies.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "doctor/verdicts/coverage.h"
#include "doctor/verdicts/framework_files.h"
#include "doctor/verdicts/remedies.h"
#include "doctor/verdicts/remedy_plan.h"

namespace mynah::doctor {

// PyTorch's own indexes, one for each CUDA version.
inline constexpr std::string_view kTorchIndex = "https://download.pytorch.org/whl/";

// Looks for what mends one framework on one card.
class Healer {
 public:
  Healer(const Framework& framework, const Judged& judged, const Card& card, const Machine& machine,
         const PythonEnvironment& environment, const Knowledge& knowledge);

  std::vector<Remedy> heal();

 private:
  enum class Reason : uint8_t { Version, Card };

  struct Wheel {
    Change change;
    std::string version;
    std::string pin;  // "nvidia-cudnn-cu12<=9.10.2.21"; empty: none
    // The less the better: CUDA of another torch beside it, the driver that it wants, its CUDA.
    std::tuple<bool, bool, int, int> order;
  };

  void words(std::string command, std::string text);
  // Keeps what works.
  bool propose(const Change& change, std::string command, std::string text);

  [[nodiscard]] System system() const { return environment_.system; }

  // Another version or variant of the framework itself.
  void versions(Reason reason);
  // The release that is installed first, then newer ones, the nearest before the others.
  [[nodiscard]] std::vector<const TorchRelease*> torch_releases() const;
  [[nodiscard]] bool fits_python(const SpecifierSet& wanted) const;
  void torch_versions();
  // The driver that is there, and where the card has a last branch, that one too.
  [[nodiscard]] std::vector<std::string> drivers() const;
  bool torch_variants(const TorchRelease& release, const std::string& version,
                      const std::string& driver);
  bool torch_variant(const TorchRelease& release, const TorchVariant& variant,
                     const std::string& version, const std::string& driver);
  // Of an installed companion, the version that belongs to a torch; empty: it is not installed.
  [[nodiscard]] std::string companion_version(std::string_view name,
                                              const std::optional<Claim>& release,
                                              const std::string& torch) const;
  static void add_package(Change& change, std::string_view name, std::string_view version);
  // What an installation of a package brings, as far as its code is known: nothing where one is
  // there. `series`: the major version that is asked for ("8"); empty: any.
  void add_newest(Change& change, std::string_view package, std::string_view series) const;
  // Whether torch stands on a cuDNN of another major version, which it pins: one wheel brings both.
  [[nodiscard]] bool torch_holds_other_cudnn(std::string_view wanted) const;
  // Versions of a package whose device code is known, the newest first; the installed one, where it
  // is of them, before all.
  [[nodiscard]] std::vector<std::string> known_versions(std::string_view package) const;
  // Folders of NVIDIA's wheels that hold what a framework wants.
  [[nodiscard]] std::vector<std::string> folders_of(const Framework& framework) const;
  // The newest cuDNN that has code for the card, where a later one has none: what an installation
  // must be held at. Empty: none need be.
  [[nodiscard]] std::string cudnn_limit(const std::string& package) const;
  // ONNX Runtime that works here, with its libraries from wheels: that which is installed, else the
  // one that asks least of the driver.
  [[nodiscard]] std::optional<Wheel> onnxruntime_wheel(const std::string& driver) const;
  // Of a package that is there, whether its files are or another one's lie over them; empty: none.
  [[nodiscard]] std::string installed_version(std::string_view package) const;
  [[nodiscard]] bool other_torch(int major) const;
  [[nodiscard]] bool has_at_most(std::string_view name, std::string_view limit) const;
  bool onnxruntime_versions(std::string_view before, std::string text);
  bool ctranslate2_versions(const std::string& text);
  // Packages that bring what the loader does not find, and the line that shows it the way.
  void libraries();
  // What is installed, once the loader finds everything.
  [[nodiscard]] Framework with_libraries() const;
  bool way(const std::vector<std::string>& folders);
  void bring(const std::vector<std::string>& wheels);
  void driver_libraries();
  void misfit(const LibraryProblem& problem);
  [[nodiscard]] Framework without_misfits() const;
  // For a card that CTranslate2 has left behind: the PyTorch that is there, or else the newest that
  // has code for it.
  void torch_instead();
  // The same torch once more, whose wheel asks for all libraries that it needs.
  void torch_again();
  void install_again();
  // cuDNN that still has code for the card.
  void pin_cudnn();
  void compile_for_card();
  void compile_again();
  [[nodiscard]] std::string public_version() const;
  // A newer driver, by the first branch that the framework works with.
  void newer_driver();
  void last_driver();
  // For a card that a framework has left behind: what has not.
  void alternatives();
  // Whether the card is older than all that the framework has code for.
  [[nodiscard]] bool is_too_old() const;

  const Framework& framework_;
  const Judged& judged_;
  const Card& card_;
  const Machine& machine_;
  const PythonEnvironment& environment_;
  const Knowledge& knowledge_;
  Target target_;
  std::vector<Remedy> remedies_;
};

}  // namespace mynah::doctor
