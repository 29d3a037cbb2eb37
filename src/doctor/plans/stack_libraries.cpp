#include "doctor/plans/stack_libraries.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "doctor/plans/stack_search.h"

namespace mynah::doctor {

std::string cudnn_wheel(int cuda_major) {
  return fmt::format("nvidia-cudnn-cu{}", cuda_major);
}

std::string cublas_wheel(int cuda_major) {
  return cuda_major < 13 ? fmt::format("nvidia-cublas-cu{}", cuda_major) : "nvidia-cublas";
}

std::vector<std::vector<StackCandidate>> StackSearch::library_sets() const {
  // torch brings what it needs; without it, NVIDIA's wheels are named.
  const bool torch = std::ranges::any_of(
      chosen_, [](const Choice* choice) { return choice->candidate.name == "torch"; });
  int cudnn_major = 0;
  int cudnn_cuda = 0;
  std::vector<StackCandidate> cublas;
  for (const Choice* choice : chosen_) {
    const StackCandidate& candidate = choice->candidate;
    if (candidate.cudnn_major > 0) {
      cudnn_major = candidate.cudnn_major;
      cudnn_cuda = candidate.cuda_major;
    }
    const bool brought =
        candidate.name == "torch" || std::ranges::any_of(chosen_, [&](const Choice* other) {
          return other->candidate.name == "torch" &&
                 other->candidate.cuda_major == candidate.cuda_major;
        });
    const PackageReleases* const listed =
        knowledge_.releases_of(cublas_wheel(candidate.cuda_major));
    if (candidate.framework && !brought && listed != nullptr &&
        std::ranges::count(cublas, cublas_wheel(candidate.cuda_major), &StackCandidate::name) ==
            0) {
      // Of CUDA 12 and later any cuBLAS of the same major serves.
      for (const Version& version : listed->releases) {
        if (static_cast<int>(version.release_at(0)) == candidate.cuda_major) {
          cublas.push_back({.name = cublas_wheel(candidate.cuda_major),
                            .version = version,
                            .index = {},
                            .python = {},
                            .needs = {},
                            .cudnn = {}});
          break;
        }
      }
    }
  }
  if (torch || cudnn_major == 0) {
    return {cublas};
  }
  std::vector<std::vector<StackCandidate>> sets;
  const PackageReleases* const listed = knowledge_.releases_of(cudnn_wheel(cudnn_cuda));
  for (const Version& version : listed == nullptr ? std::vector<Version>{} : listed->releases) {
    if (static_cast<int>(version.release_at(0)) == cudnn_major &&
        knowledge_.wheel(cudnn_wheel(cudnn_cuda), version, wish_.machine.system) != nullptr) {
      sets.push_back(cublas);
      sets.back().push_back({.name = cudnn_wheel(cudnn_cuda),
                             .version = version,
                             .index = {},
                             .python = {},
                             .needs = {},
                             .cudnn = {}});
    }
  }
  return sets;
}

}  // namespace mynah::doctor
