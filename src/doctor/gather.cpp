#include "doctor/gather.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "doctor/machine/machine_gather.h"
#include "doctor/machine/toolkit_gather.h"
#include "doctor/python/python_environments.h"
#include "doctor/recipes/recipes.h"
#include "doctor/tree.h"
#include "formats/byte_reader.h"

namespace mynah::doctor {

namespace {

namespace fs = std::filesystem;

std::string here() {
  std::error_code error;
  const fs::path path = fs::current_path(error);
  return error ? std::string() : path.string();
}

// Whether a place is a file from which environments are made, and no wheel.
bool is_recipe(const fs::path& place) {
  std::error_code error;
  return fs::is_regular_file(place, error) && place.extension() != ".whl";
}

class FactGatherer {
 public:
  FactGatherer(const GatherRequest& request, const Knowledge& knowledge)
      : request_(request), knowledge_(knowledge) {
    look_.variables = request.variables;
    look_.here = here();
  }

  Result<Facts> run() {
    if (request_.other) {
      facts_.machine = request_.other->machine;
    } else {
      facts_.machine = gather_machine({.root = {},
                                       .variables = request_.variables,
                                       .devices = request_.devices,
                                       .nvml = request_.nvml},
                                      knowledge_);
      say_unread_log();
    }
    if (request_.places.empty()) {
      look_.everything = true;
      MYNAH_TRY_STATUS(add_environments());
      // Those of this very folder: what lies below it, in a home or a folder of many projects, is
      // looked at where it is named.
      if (!look_.here.empty()) {
        gather_recipes_of(look_.here, facts_);
      }
      add_toolkits({.root = {}, .variables = request_.variables, .prefixes = prefixes()});
    }
    std::set<fs::path> seen;
    for (const fs::path& place : request_.places) {
      std::error_code error;
      const fs::path real = fs::weakly_canonical(place, error);
      if (seen.insert(error ? place : real).second) {
        MYNAH_TRY_STATUS(add_place(place));
      }
    }
    return std::move(facts_);
  }

 private:
  Status add_environments() {
    MYNAH_TRY(std::vector<PythonEnvironment> found,
              gather_environments(look_, knowledge_, facts_.skipped));
    const bool whole_tree =
        !look_.places.empty() && is_image_tree(Tree("", facts_.skipped),
                                               fs::weakly_canonical(look_.places.front()).string());
    if (request_.other && request_.other->own_libraries && !whole_tree) {
      doubt_libraries(found);
    }
    std::ranges::move(found, std::back_inserter(facts_.environments));
    return {};
  }

  // The loader was asked here, and not where this is meant for.
  static void doubt_libraries(std::vector<PythonEnvironment>& environments) {
    for (PythonEnvironment& environment : environments) {
      for (Framework& framework : environment.frameworks) {
        if (std::ranges::any_of(framework.wants, [](const LibraryWant& want) {
              return want.found.empty() && !want.guessed;
            })) {
          framework.unverified.emplace_back(kOtherLoader);
        }
      }
    }
  }

  // Where there is a card of NVIDIA's, what the kernel's log would tell of it is missed.
  void say_unread_log() {
    const Machine& machine = facts_.machine;
    const bool nvidia =
        !machine.driver.empty() ||
        std::ranges::find(machine.cards, "10de", &Card::vendor) != machine.cards.end();
    if (machine.kernel_log_unread && nvidia) {
      facts_.skipped.push_back(
          "the kernel's log: it may not be read, and systemd's journal is not; "
          "`journalctl -k -b | mynah doctor explain -` says what is in it");
    }
  }

  size_t add_recipes(const fs::path& place) { return gather_recipes(std::span(&place, 1), facts_); }

  void add_toolkits(const ToolkitSearch& search) {
    std::ranges::move(gather_toolkits(search), std::back_inserter(facts_.toolkits));
  }

  // Environments of conda may have a toolkit in them.
  [[nodiscard]] std::vector<std::string> prefixes() const {
    std::vector<std::string> found;
    for (const PythonEnvironment& environment : facts_.environments) {
      if (environment.kind == "conda") {
        found.push_back(environment.path);
      }
    }
    return found;
  }

  // A place that is a toolkit itself, or a tree in which toolkits lie where they do.
  void add_toolkits_at(const fs::path& place) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(place, error);
    if (fs::exists(real / "bin" / "nvcc", error)) {
      const std::vector<Toolkit> found = gather_toolkits(
          {.root = {}, .variables = request_.variables, .prefixes = {real.string()}});
      std::ranges::copy_if(found, std::back_inserter(facts_.toolkits),
                           [&](const Toolkit& toolkit) { return toolkit.path == real.string(); });
      return;
    }
    if (fs::exists(real / "Program Files", error) || fs::exists(real / "usr", error)) {
      // What is set here says nothing about there.
      add_toolkits({.root = real.string(), .variables = {}, .prefixes = {}});
    }
  }

  // A place may be several things at once: a project has recipes, and its environment in it.
  Status add_place(const fs::path& place) {
    std::error_code error;
    if (!fs::exists(place, error)) {
      return fail(ErrorCode::NotFound, in_quotes(place.string()) + ": there is no such place");
    }
    if (!fs::is_directory(place, error) && !fs::is_regular_file(place, error)) {
      return fail(ErrorCode::InvalidInput,
                  in_quotes(place.string()) +
                      ": wanted a folder or a file, found a pipe, a socket or "
                      "a device");
    }
    const size_t recipes = facts_.recipes.size();
    const size_t skipped = facts_.skipped.size();
    if (is_recipe(place)) {
      add_recipes(place);
      if (facts_.recipes.size() == recipes && facts_.skipped.size() > skipped) {
        return fail(ErrorCode::InvalidInput, facts_.skipped.back());
      }
      return {};
    }
    const size_t toolkits = facts_.toolkits.size();
    add_toolkits_at(place);
    look_.places = {place};
    const Status environments = add_environments();
    if (environments && is_environment(place)) {
      return {};
    }
    size_t found_recipes = 0;
    if (facts_.toolkits.size() == toolkits) {
      found_recipes = add_recipes(place);
    }
    if (environments || found_recipes > 0 || facts_.toolkits.size() > toolkits) {
      return {};
    }
    if (facts_.skipped.size() > skipped) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: found nothing to judge, and not all was read: {}",
                              in_quotes(place.string()), facts_.skipped[skipped]));
    }
    return fail(ErrorCode::NotFound,
                fmt::format("{}: found nothing to look at: no Python environment (pyvenv.cfg, "
                            "conda-meta, site-packages, .venv, *.dist-info), no wheel, no recipe "
                            "(requirements.txt, pyproject.toml, lock files, environment.yml, "
                            "Dockerfile, compose.yaml), no CUDA toolkit",
                            in_quotes(place.string())));
  }

  // Whether a place is an environment, or in one: then files in it that look like recipes are parts
  // of packages.
  [[nodiscard]] bool is_environment(const fs::path& place) {
    std::error_code error;
    const std::string real = fs::weakly_canonical(place, error).string();
    if (is_image_tree(Tree("", facts_.skipped), real)) {
      return true;
    }
    return std::ranges::any_of(facts_.environments, [&](const PythonEnvironment& environment) {
      std::error_code ignored;
      const std::string prefix = fs::weakly_canonical(environment.path, ignored).string();
      return real == prefix || real.starts_with(prefix + "/");
    });
  }

  const GatherRequest& request_;
  const Knowledge& knowledge_;
  Look look_;
  Facts facts_;
};

}  // namespace

Result<Facts> gather_facts(const GatherRequest& request, const Knowledge& knowledge) {
  return FactGatherer(request, knowledge).run();
}

}  // namespace mynah::doctor
