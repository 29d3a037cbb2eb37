// A plan as files that pip and Docker take (stack_plan.h).
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/plans/stack_plan.h"

namespace mynah::doctor {

namespace {

// "torch==2.7.1+cu128", "onnxruntime-gpu[cuda,cudnn]==1.23.2", "tokenizers>=0.13,<1".
std::string pin(const PinnedPackage& package) {
  const bool exact =
      !package.version.empty() && package.version.front() >= '0' && package.version.front() <= '9';
  return fmt::format("{}{}{}{}", package.name,
                     package.extras.empty() ? "" : fmt::format("[{}]", package.extras),
                     exact ? "==" : "", package.version);
}

std::vector<std::string> indexes(const StackPlan& plan) {
  std::vector<std::string> found;
  for (const PinnedPackage& package : plan.packages) {
    if (!package.index.empty() && std::ranges::count(found, package.index) == 0) {
      found.push_back(package.index);
    }
  }
  return found;
}

std::vector<std::string> alone(const StackPlan& plan) {
  std::vector<std::string> found;
  for (const PinnedPackage& package : plan.packages) {
    if (package.alone) {
      found.push_back(pin(package));
    }
  }
  return found;
}

// "/usr/local/lib/python3.12/site-packages/nvidia/cublas/lib:...".
std::string library_path(const StackPlan& plan, std::string_view prefix) {
  std::vector<std::string> found;
  found.reserve(plan.library_folders.size());
  for (const std::string& folder : plan.library_folders) {
    found.push_back(fmt::format("{}/lib/python{}/site-packages/{}", prefix, plan.python, folder));
  }
  return fmt::format("{}", fmt::join(found, ":"));
}

}  // namespace

std::string requirements_text(const StackPlan& plan) {
  std::string text = fmt::format("# For Python {}.\n", plan.python);
  for (const std::string& index : indexes(plan)) {
    text += fmt::format("--extra-index-url {}\n", index);
  }
  for (const PinnedPackage& package : plan.packages) {
    if (!package.alone) {
      text += fmt::format("{}  # {}\n", pin(package), package.reason);
    }
  }
  if (!alone(plan).empty()) {
    text += fmt::format("# Then: pip install --no-deps {}\n", fmt::join(alone(plan), " "));
  }
  if (!plan.library_folders.empty()) {
    text += fmt::format("# Run with: export LD_LIBRARY_PATH=\"{}\"\n",
                        library_path(plan, "$VIRTUAL_ENV"));
  }
  for (const std::string& note : plan.notes) {
    text += fmt::format("# {}\n", note);
  }
  return text;
}

std::string dockerfile_text(const StackPlan& plan) {
  std::string text =
      "# The wheels bring CUDA, so the image needs none; run it with: docker run --gpus all\n";
  text += fmt::format("FROM python:{}-slim\n", plan.python);
  if (!plan.system_packages.empty()) {
    text += fmt::format(
        "RUN apt-get update && apt-get install -y --no-install-recommends {} \\\n"
        "    && rm -rf /var/lib/apt/lists/*\n",
        fmt::join(plan.system_packages, " "));
  }
  text += "RUN pip install --no-cache-dir";
  for (const std::string& index : indexes(plan)) {
    text += fmt::format(" \\\n    --extra-index-url {}", index);
  }
  for (const PinnedPackage& package : plan.packages) {
    if (!package.alone) {
      text += fmt::format(" \\\n    \"{}\"", pin(package));
    }
  }
  text += "\n";
  if (!alone(plan).empty()) {
    text += fmt::format("RUN pip install --no-cache-dir --no-deps \"{}\"\n",
                        fmt::join(alone(plan), "\" \""));
  }
  if (!plan.library_folders.empty()) {
    text += fmt::format("ENV LD_LIBRARY_PATH={}\n", library_path(plan, "/usr/local"));
  }
  for (const std::string& note : plan.notes) {
    text += fmt::format("# {}\n", note);
  }
  return text;
}

}  // namespace mynah::doctor
