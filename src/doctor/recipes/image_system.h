// Which system an image is made of, as its name says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

struct SystemOfImage {
  const ImageSystem* system = nullptr;  // null: the name does not say
  bool said = false;                    // false: it is the one that such images have by default
};

// `image`: "python:3.12-slim-bookworm", "nvidia/cuda:12.9.1-runtime-ubuntu24.04", "debian:12".
[[nodiscard]] SystemOfImage system_of_image(const std::string& image, const Knowledge& knowledge);

struct RecipeColumn;

// The Python of an image of Debian or Ubuntu, or of NVIDIA's made of them, whose commands install
// the system's own python3 and, as far as is seen, no other: "3.12". Empty: not known.
[[nodiscard]] std::string python_of_system(const RecipeColumn& column, const Knowledge& knowledge);

// The parts of a name between separators, each of which is one character: "cuda12", "runtime".
[[nodiscard]] std::vector<std::string_view> name_parts(std::string_view name,
                                                       std::string_view separators);

}  // namespace mynah::doctor
