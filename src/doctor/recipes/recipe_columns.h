// What recipes make, side by side: each requirements file, project, image or service that stands
// for an environment of its own, with all that it takes in, and what each asks of a package.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"
#include "doctor/recipes/markers.h"
#include "doctor/versions.h"

namespace mynah::doctor {

// One requirement, seen from the environment that it is installed into.
struct Asked {
  const Requirement* requirement = nullptr;
  const Recipe* recipe = nullptr;    // that it stands in
  Truth holds = Truth::Yes;          // its marker; those that do not hold are left out
  bool bound = false;                // a constraint: it brings nothing
  const InstallStep* how = nullptr;  // the command of an image that installs it; null: of none

  // Whether what it asks for comes with it: an installer may be told to leave that out.
  [[nodiscard]] bool brings_needs() const { return how == nullptr || !how->alone; }
};

// What an image has of a package for a while: a later command puts another in its place.
struct Replaced {
  Asked first;
  Asked last;
  bool meant = false;  // it is told to, or removes the first
};

// What all that bounds a package says of it; none: nothing does. An override is all there is to
// say.
struct Bounds {
  SpecifierSet range;
  bool overrides = false;
};

// The first CUDA of nvidia/cuda's images whose tags name cuDNN without its version
// ("12.4.1-cudnn-"): those all hold cuDNN 9. The last with cuDNN 8 are of 12.2 and say "-cudnn8-".
inline constexpr std::string_view kFirstCudaOfPlainCudnn = "12.4";

// What an image's name says of itself.
struct ImageFacts {
  std::string cuda;     // "12.9.1"; empty: nothing
  int cudnn_major = 0;  // 0: not said
  bool cudnn = false;   // whether it is said to have one
  std::string torch;    // "2.5.1+cu124", of PyTorch's own images; empty: none
  // It has a torch, and which one it does not say: rocm/pytorch, nvcr.io/nvidia/pytorch.
  bool unnamed_torch = false;
};

[[nodiscard]] ImageFacts image_facts(std::string_view image, std::string_view tag);

struct RecipeColumn {
  std::string name;  // "asr (compose.yml)", "requirements.txt"
  const Recipe* root = nullptr;
  const Service* service = nullptr;        // none: the recipe stands for itself
  std::vector<const Recipe*> recipes;      // the root and all that it takes in
  std::vector<const Recipe*> constraints;  // that bound it
  std::string image;                       // as written, "nvidia/cuda:12.9.1-runtime"
  std::string image_where;                 // "path:line"
  ImageFacts image_says;
  std::string python;         // "3.11"; empty: not known, or several
  std::string other_machine;  // what a file's name says it is for: "mps", "rocm"; empty: nothing
  std::string processor = "x86_64";  // as markers call it
  // A project of which nobody says what of it is installed: this one extra or group, beside what it
  // always asks for. Empty: what is said, or nothing more.
  std::string group;
  std::string base;         // the name of the same column without it
  std::string environment;  // of an image: "/opt/venv"; empty: its own
  std::string image_torch;  // of image_says, as long as no command puts another in its place
  // What is asked for, and in an image what of that is there in the end.
  std::map<std::string, std::vector<Asked>> packages;
  // What commands of an image install, and is not there in the end: replaced, removed, or of a
  // stage that is only built. It can fail the build all the same.
  std::vector<Asked> passing;
  std::vector<Replaced> replaced;

  // Whether it is an image: an environment apart, which need not agree with others.
  [[nodiscard]] bool is_image() const { return service != nullptr || root->kind == "dockerfile"; }

  // The Dockerfile that it is built from; null: there is none.
  [[nodiscard]] const Recipe* dockerfile() const;

  // Whether somebody asks for it, not only bounds it.
  [[nodiscard]] bool asks_for(std::string_view package) const;

  // Whether the image's torch is there, of which nobody knows the version, and no command is told
  // to put another in its place: installers leave alone what would do.
  [[nodiscard]] bool keeps_unnamed_torch() const;

  // What constraints and overrides say of a package, whoever asks for it.
  [[nodiscard]] Bounds bounds_of(std::string_view package) const;
};

// Environments in the order of their recipes; an image that has several has a column for each.
// Extras and groups are part of those whose commands name them; of a project whose extras nobody
// names, each that brings a framework is a column of its own behind the project's.
[[nodiscard]] std::vector<RecipeColumn> recipe_columns(const Facts& facts,
                                                       const Knowledge& knowledge);

// The Python that the commands of an image name for the environment of a column, all the same one:
// "3.12". Empty: not all of them do.
[[nodiscard]] std::string python_of_commands(const RecipeColumn& column);

// The system that a column's programs run on: images are of Linux.
[[nodiscard]] System system_of(const RecipeColumn& column, const Machine& machine);

// What a column's words for a package come to.
struct Resolved {
  const Asked* by = nullptr;       // that decides; null: nobody asks
  std::optional<Version> version;  // with its local part where an index says it; none: a range
  SpecifierSet range;              // of all that is said
  bool locked = false;
  bool sure = true;  // false: a marker or one of several indexes decides
  // Pins of which something that is not known decides, an extra for example; then `version` is
  // none.
  std::vector<Version> several;
};

[[nodiscard]] Resolved resolve(const RecipeColumn& column, std::string_view package);

// "cu124" of "https://download.pytorch.org/whl/cu124": what an index of PyTorch's wheels is for.
// Empty: it is none, or for all.
[[nodiscard]] std::string variant_of_index(std::string_view url);

// "12.4" of "cu124"; empty: it is for no CUDA.
[[nodiscard]] std::string cuda_of_variant(std::string_view variant);

// "path:line", or the path alone where the line is not known.
[[nodiscard]] std::string place_text(const std::string& path, uint64_t line);

}  // namespace mynah::doctor
