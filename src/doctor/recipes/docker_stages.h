// Stages of a Dockerfile, and what of them is in the image of one.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "doctor/facts.h"

namespace mynah::doctor {

// Files that a stage takes from another one, or from an image: COPY --from, a mount.
struct FromStage {
  std::string stage;   // its name or number
  std::string source;  // a path in it; empty: only mounted
  std::string target;
  size_t step = 0;  // that it comes before, of the taker's own, from 0
};

struct DockerStage {
  BaseImage image;
  std::optional<size_t> parent;  // the stage that it is built on
  Recipe part;                   // what its own lines say
  std::vector<FromStage> taken;
};

// The stage that a name or number means, of those before `end`; as Docker has it, the last of a
// name, small letters or not.
[[nodiscard]] std::optional<size_t> stage_of(std::span<const DockerStage> stages, std::string name,
                                             size_t end);

// Adds to `recipe` what is in the image of a stage: its own steps behind those of the stage that it
// is built on, with environments that are copied as a whole from others. What else is installed in
// a stage that is taken from is aside. Stages that nothing needs are not built.
void compose_image(std::span<const DockerStage> stages, size_t target, Recipe& recipe);

// Moves what a command names beside its requirements: files, indexes, packages of the system, what
// it compiles, groups.
void take_lists(Recipe& one, Recipe& part);

// Adds to a stage what one of its commands does: a step where it installs or removes something,
// with all that it asks for and takes in. `edited`: files of those that are not known as they are
// read.
void add_step(Recipe& part, Recipe one, InstallStep step, const std::vector<std::string>& edited);

}  // namespace mynah::doctor
