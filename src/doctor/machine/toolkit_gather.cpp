#include "doctor/machine/toolkit_gather.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "doctor/binaries/loader_paths.h"
#include "doctor/machine/toolkit_compilers.h"
#include "doctor/machine/toolkit_text.h"
#include "doctor/tree.h"

namespace mynah::doctor {
namespace {

// Headers that builds stop at where a component of the toolkit was left out.
constexpr std::string_view kHeaders[] = {"cuda_runtime.h",  "cublas_v2.h", "cudnn.h",
                                         "nv/target",       "cub/cub.cuh", "thrust/version.h",
                                         "cuda/std/version"};

constexpr std::string_view kWindowsToolkits = "/Program Files/NVIDIA GPU Computing Toolkit/CUDA";

class ToolkitGatherer {
 public:
  explicit ToolkitGatherer(const ToolkitSearch& search)
      : search_(search), tree_(search.root), windows_(tree_.has("/Program Files")) {}

  std::vector<Toolkit> run() {
    const std::string first = first_on_path();
    const std::string named = named_by_variable();
    std::vector<std::string> candidates = places();
    for (const std::string& extra : {named, first}) {
      if (!extra.empty()) {
        candidates.push_back(extra);
      }
    }
    std::vector<std::string> seen;
    for (const std::string& candidate : candidates) {
      // The nvcc of /usr/bin may be a link to one of /usr/local/cuda.
      std::string path = toolkit_of(candidate + "/bin/nvcc");
      if (path.empty()) {
        path = toolkit_of(candidate + "/bin/nvcc.exe");
      }
      if (path.empty() || std::ranges::find(seen, path) != seen.end()) {
        continue;
      }
      seen.push_back(path);
      Toolkit toolkit = read(path);
      toolkit.on_path = path == first;
      toolkit.named = path == named;
      toolkits_.push_back(std::move(toolkit));
    }
    return std::move(toolkits_);
  }

 private:
  [[nodiscard]] std::string variable(const std::string& name) const {
    const auto found = search_.variables.find(name);
    return found == search_.variables.end() ? std::string() : found->second;
  }

  [[nodiscard]] std::vector<std::string> places() const {
    std::vector<std::string> places;
    const auto add_below = [&](std::string_view folder, std::string_view beginning) {
      for (const std::string& name : tree_.names(folder)) {
        if (name.starts_with(beginning)) {
          places.push_back(fmt::format("{}/{}", folder, name));
        }
      }
    };
    if (windows_) {
      add_below(kWindowsToolkits, "v");
    } else {
      add_below("/usr/local", "cuda");
      add_below("/opt", "cuda");
      places.emplace_back("/usr");
    }
    for (const std::string& prefix : search_.prefixes) {
      places.push_back(prefix);
      places.push_back(prefix + "/Library");  // conda on Windows
    }
    return places;
  }

  // The toolkit of an nvcc: two folders up, links followed. Debian's /usr/bin/nvcc is a link or a
  // script that leads into /usr/lib/nvidia-cuda-toolkit, whose headers are those of /usr.
  [[nodiscard]] std::string toolkit_of(const std::string& nvcc) const {
    const auto real = tree_.real(nvcc);
    if (!real) {
      return {};
    }
    std::string toolkit = folder_of(folder_of(*real));
    return toolkit == "/usr/lib/nvidia-cuda-toolkit" ? "/usr" : toolkit;
  }

  [[nodiscard]] std::string first_on_path() const {
    for (const std::string& folder : path_folders(variable(windows_ ? "Path" : "PATH"))) {
      for (const std::string_view name : {"/nvcc", "/nvcc.exe"}) {
        if (std::string toolkit = toolkit_of(folder + std::string(name)); !toolkit.empty()) {
          return toolkit;
        }
      }
    }
    return {};
  }

  [[nodiscard]] std::vector<std::string> path_folders(const std::string& path) const {
    std::vector<std::string> folders = split_folders(path, windows_ ? ";" : ":");
    for (std::string& folder : folders) {
      folder = as_tree_path(std::move(folder));
    }
    std::erase_if(folders, [](const std::string& folder) { return !folder.starts_with('/'); });
    return folders;
  }

  // "/Program Files/..." of "C:\Program Files\...".
  [[nodiscard]] std::string as_tree_path(std::string path) const {
    if (windows_) {
      std::ranges::replace(path, '\\', '/');
      if (path.size() > 2 && path[1] == ':') {
        path.erase(0, 2);
      }
    }
    return path;
  }

  [[nodiscard]] std::string named_by_variable() const {
    for (const char* const name : {"CUDA_HOME", "CUDA_PATH"}) {
      if (const std::string value = as_tree_path(variable(name)); !value.empty()) {
        return tree_.real(value).value_or("");
      }
    }
    return {};
  }

  // The toolkit's own folders of headers.
  [[nodiscard]] std::vector<std::string> own_folders(const std::string& path) const {
    std::vector<std::string> folders = {path + "/include"};
    for (const std::string& target : tree_.names(path + "/targets")) {
      folders.push_back(fmt::format("{}/targets/{}/include", path, target));
    }
    // CUDA 13 keeps its C++ libraries there.
    const size_t own = folders.size();
    for (size_t i = 0; i < own; ++i) {
      folders.push_back(folders[i] + "/cccl");
    }
    return folders;
  }

  // Where nvcc looks for headers: on Linux the host compiler looks into /usr, too.
  [[nodiscard]] std::vector<std::string> header_folders(std::vector<std::string> folders) const {
    if (!windows_) {
      folders.insert(folders.end(),
                     {"/usr/include", "/usr/local/include", "/usr/include/x86_64-linux-gnu",
                      "/usr/include/aarch64-linux-gnu"});
    }
    return folders;
  }

  // The first of these folders that has the header, with it; empty: none.
  [[nodiscard]] std::string find_header(const std::vector<std::string>& folders,
                                        std::string_view header) const {
    for (const std::string& folder : folders) {
      if (std::string path = fmt::format("{}/{}", folder, header); tree_.has(path)) {
        return path;
      }
    }
    return {};
  }

  [[nodiscard]] std::string version_of(const std::string& path,
                                       const std::vector<std::string>& headers) const {
    // A prefix that is shared with others (/usr) has no such files of its own.
    std::string version = version_of_json(tree_.words(path + "/version.json"));
    if (version.empty()) {
      version = version_of_text(tree_.words(path + "/version.txt"));
    }
    for (const auto& [header, name] :
         {std::pair<std::string_view, std::string_view>("cuda.h", "CUDA_VERSION"),
          {"cuda_runtime_api.h", "CUDART_VERSION"}}) {
      if (version.empty()) {
        const auto number = defined_number(tree_.words(find_header(headers, header)), name);
        version = number ? version_of_cuda_number(*number) : std::string();
      }
    }
    // "cuda-12.1", "v12.1".
    if (const std::string_view name = file_name_of(path); version.empty()) {
      const size_t digit = name.find_first_of("0123456789");
      if (digit != std::string_view::npos &&
          name.find_first_not_of("0123456789.", digit) == std::string_view::npos) {
        version = name.substr(digit);
      }
    }
    return version;
  }

  [[nodiscard]] Toolkit read(const std::string& path) const {
    Toolkit toolkit;
    toolkit.path = path;
    toolkit.system = windows_ ? System::Windows : System::Linux;
    const std::vector<std::string> own = own_folders(path);
    const std::vector<std::string> folders = header_folders(own);
    toolkit.version = version_of(path, own);
    for (const std::string_view header : kHeaders) {
      toolkit.headers.emplace(header, !find_header(folders, header).empty());
    }
    if (const auto number =
            defined_number(tree_.words(find_header(folders, "cub/version.cuh")), "CUB_VERSION")) {
      toolkit.cub_version = version_of_cub_number(*number);
    }
    const CompilerLimits limits =
        compiler_limits(tree_.words(find_header(own, "crt/host_config.h")));
    toolkit.gcc_most = limits.gcc_most;
    toolkit.clang_most = limits.clang_most;
    toolkit.msvc_least = limits.msvc_least;
    toolkit.msvc_most = limits.msvc_most;
    const HostCompilerSearch compilers(tree_, search_.variables, windows_);
    HostCompilersFound found = compilers.find(path);
    toolkit.host_compiler = std::move(found.used);
    toolkit.other_compilers = std::move(found.others);
    if (windows_) {
      toolkit.visual_studio = compilers.is_integrated(toolkit.version);
    }
    return toolkit;
  }

  const ToolkitSearch& search_;
  Tree tree_;
  bool windows_;
  std::vector<Toolkit> toolkits_;
};

}  // namespace

std::vector<Toolkit> gather_toolkits(const ToolkitSearch& search) {
  return ToolkitGatherer(search).run();
}

}  // namespace mynah::doctor
