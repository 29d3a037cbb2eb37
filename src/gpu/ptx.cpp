#include "gpu/ptx.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "gpu/driver_api.h"

namespace mynah::gpu {
namespace {

struct PtxRow {
  int major;
  int minor;
  int cuda;
};

// NVIDIA's cuda-python, _ptx_utils.py: PTX version to CUDA driver. CUDA 12.6 brought no new one.
constexpr std::array kPtx = {
    PtxRow{7, 0, 11000}, PtxRow{7, 1, 11010}, PtxRow{7, 2, 11020}, PtxRow{7, 3, 11030},
    PtxRow{7, 4, 11040}, PtxRow{7, 5, 11050}, PtxRow{7, 6, 11060}, PtxRow{7, 7, 11070},
    PtxRow{7, 8, 11080}, PtxRow{8, 0, 12000}, PtxRow{8, 1, 12010}, PtxRow{8, 2, 12020},
    PtxRow{8, 3, 12030}, PtxRow{8, 4, 12040}, PtxRow{8, 5, 12050}, PtxRow{8, 6, 12070},
    PtxRow{8, 7, 12080}, PtxRow{8, 8, 12090}, PtxRow{9, 0, 13000}, PtxRow{9, 1, 13010},
};

struct BranchRow {
  int cuda;
  int branch;
};

// CUDA Toolkit Release Notes, "CUDA Toolkit and Corresponding Driver Versions" (13.4); 12.7 was
// only ever a driver's.
constexpr std::array kBranches = {
    BranchRow{11000, 450}, BranchRow{11010, 455}, BranchRow{11020, 460}, BranchRow{11030, 465},
    BranchRow{11040, 470}, BranchRow{11050, 495}, BranchRow{11060, 510}, BranchRow{11070, 515},
    BranchRow{11080, 520}, BranchRow{12000, 525}, BranchRow{12010, 530}, BranchRow{12020, 535},
    BranchRow{12030, 545}, BranchRow{12040, 550}, BranchRow{12050, 555}, BranchRow{12060, 560},
    BranchRow{12070, 565}, BranchRow{12080, 570}, BranchRow{12090, 575}, BranchRow{13000, 580},
    BranchRow{13010, 590}, BranchRow{13020, 595}, BranchRow{13030, 610}, BranchRow{13040, 615},
};

}  // namespace

std::optional<int> driver_for_ptx(PtxVersion version) {
  if (version.major < kPtx.front().major) {
    return kOldestDriver;
  }
  const auto* const row = std::ranges::find_if(kPtx, [&](const PtxRow& known) {
    return known.major == version.major && known.minor == version.minor;
  });
  return row == kPtx.end() ? std::nullopt : std::optional(row->cuda);
}

std::string cuda_version_name(int cuda_version) {
  return fmt::format("{}.{}", cuda_version / 1000, cuda_version % 1000 / 10);
}

std::string driver_branch(int cuda_version) {
  // The last digit is not used for versions, but a driver may set it.
  const int release = cuda_version / 10 * 10;
  const auto* const row = std::ranges::find(kBranches, release, &BranchRow::cuda);
  return row == kBranches.end() ? std::string() : fmt::format("R{}", row->branch);
}

std::string driver_name(int cuda_version) {
  const std::string branch = driver_branch(cuda_version);
  const std::string cuda = "CUDA " + cuda_version_name(cuda_version);
  return branch.empty() ? cuda : fmt::format("{} ({})", branch, cuda);
}

std::string needs_driver(int needed, int present) {
  return fmt::format("needs driver {} or newer; this is {}", driver_name(needed),
                     driver_name(present));
}

}  // namespace mynah::gpu
