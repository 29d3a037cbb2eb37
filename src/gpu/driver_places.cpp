#include "gpu/driver_places.h"

#include <array>

#include <fmt/format.h>

namespace mynah::gpu {
namespace {

constexpr std::array<std::string_view, 9> kUsualFolders = {
    "/usr/lib/wsl/lib",                          // WSL2
    "/usr/lib64/nvidia",                         // Fedora, RHEL
    "/usr/lib64",                                // openSUSE
    "/usr/lib/x86_64-linux-gnu",                 // Debian, Ubuntu
    "/usr/lib/x86_64-linux-gnu/nvidia/current",  // Debian's alternatives
    "/usr/lib/aarch64-linux-gnu",                // Debian, Ubuntu on ARM
    "/usr/lib/aarch64-linux-gnu/nvidia",         // Jetson
    "/usr/local/nvidia/lib64",                   // containers, Kubernetes
    "/run/opengl-driver/lib",                    // NixOS
};

}  // namespace

std::vector<std::string> usual_places(std::string_view library) {
  std::vector<std::string> places = {std::string(library)};
  for (const std::string_view folder : kUsualFolders) {
    places.push_back(fmt::format("{}/{}", folder, library));
  }
  return places;
}

}  // namespace mynah::gpu
