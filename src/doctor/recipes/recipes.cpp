#include "doctor/recipes/recipes.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/mapped_file.h"
#include "doctor/characters.h"
#include "doctor/recipes/installer_settings.h"
#include "doctor/recipes/project_readers.h"
#include "doctor/recipes/recipe_formats.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/requirements_file.h"
#include "doctor/versions.h"
#include "formats/byte_reader.h"
#include "formats/text_tree.h"

namespace mynah::doctor {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMostProgramBytes = size_t{1} << 20;

constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
    {"pyproject.toml", "pyproject"},   {"setup.cfg", "setup.cfg"},
    {"setup.py", "setup.py"},          {"pipfile", "pipfile"},
    {"poetry.lock", "package lock"},   {"uv.lock", "package lock"},
    {"pdm.lock", "package lock"},      {"pylock.toml", "package lock"},
    {"pipfile.lock", "pipfile lock"},  {"conda-lock.yml", "conda lock"},
    {"conda-lock.yaml", "conda lock"}, {"dockerfile", "dockerfile"},
    {"containerfile", "dockerfile"},   {".python-version", "python version"}};

std::string_view kind_by_text(std::string_view text, const std::string& path) {
  const std::string ending = small_letters(fs::path(path).extension().string());
  if (ending == ".toml") {
    return text.find("[[package") == std::string_view::npos ? "pyproject" : "package lock";
  }
  if (ending == ".yml" || ending == ".yaml") {
    return text.find("\nservices:") != std::string_view::npos || text.starts_with("services:")
               ? "compose"
               : "conda";
  }
  if (ending == ".lock") {
    return "package lock";
  }
  if (ending == ".sh" || ending == ".bash") {
    return "script";
  }
  return text.starts_with("FROM ") || text.find("\nFROM ") != std::string_view::npos
             ? "dockerfile"
             : "requirements";
}

// ".python-version" of uv and pyenv: "3.12", "cpython-3.12.4", the first of several lines. Names of
// environments say nothing.
void read_python_version(std::string_view text, Recipe& recipe) {
  recipe.kind = "python version";
  std::string_view first = trimmed(text.substr(0, text.find('\n')));
  first.remove_prefix(first.starts_with("cpython-")   ? 8
                      : first.starts_with("cpython@") ? 8
                      : first.starts_with("python")   ? 6
                                                      : 0);
  const std::string_view version = first.substr(0, first.find_first_not_of("0123456789."));
  const auto dots = std::ranges::count(version, '.');
  if (dots > 0 && Version::parse(version)) {
    recipe.python = fmt::format("=={}{}", version, dots == 1 ? ".*" : "");
  }
}

Status read_as(std::string_view kind, std::string_view text, Recipe& recipe) {
  if (kind == "requirements") {
    read_requirements_file(text, recipe);
  } else if (kind == "setup.cfg") {
    read_setup_cfg(text, recipe);
  } else if (kind == "python version") {
    read_python_version(text, recipe);
  } else if (kind == "dockerfile" || kind == "script" || kind == "setup.py") {
    if (text.size() > kMostProgramBytes) {
      return fail(ErrorCode::Unsupported,
                  fmt::format("{}: wanted at most {} bytes of a Dockerfile or a script, found {}",
                              recipe.path, kMostProgramBytes, text.size()));
    }
    if (kind == "setup.py") {
      return read_setup_py(text, recipe);
    }
    (kind == "script" ? read_script : read_dockerfile)(text, recipe);
  } else if (kind == "pyproject" || kind == "pipfile" || kind == "package lock") {
    MYNAH_TRY(const TextTree tree, parse_toml(text, recipe.path));
    (kind == "pyproject" ? read_pyproject
     : kind == "pipfile" ? read_pipfile
                         : read_package_lock)(tree, recipe);
  } else {
    MYNAH_TRY(const TextTree tree, parse_yaml(text, recipe.path));
    (kind == "compose"        ? read_compose
     : kind == "conda"        ? read_conda_environment
     : kind == "pipfile lock" ? read_pipfile_lock
                              : read_conda_lock)(tree, recipe);
  }
  return {};
}

// "Dockerfile.gpu" is one, "dockerfile.cpp" is not.
bool is_about_dockerfiles(std::string_view name) {
  static constexpr std::array<std::string_view, 18> kEndings = {
      ".dockerignore", ".h",  ".hpp", ".c",  ".cc",   ".cpp",  ".o",   ".py",  ".js",
      ".ts",           ".go", ".rs",  ".md", ".html", ".json", ".vim", ".lua", ".txt"};
  return std::ranges::any_of(kEndings, [&](auto ending) { return name.ends_with(ending); });
}

// Folders that hold other people's files, or none of interest. Of those whose names begin with a
// dot a few are for images.
bool is_left_out(const fs::path& folder) {
  static constexpr std::array<std::string_view, 3> kOfImages = {".devops", ".docker",
                                                                ".devcontainer"};
  static constexpr std::array<std::string_view, 10> kNames = {
      "node_modules", "site-packages", "dist-packages", "__pycache__", "build",
      "dist",         "venv",          "env",           "target",      "third_party"};
  std::error_code error;
  const std::string name = folder.filename().string();
  const bool hidden =
      name.starts_with('.') && std::ranges::find(kOfImages, name) == kOfImages.end();
  return hidden || std::ranges::find(kNames, name) != kNames.end() ||
         fs::exists(folder / "pyvenv.cfg", error);
}

class Gatherer {
 public:
  // What the facts have already is not read again: places may include each other.
  explicit Gatherer(Facts& facts) : facts_(facts) {
    for (const Recipe& recipe : facts.recipes) {
      const bool image = recipe.kind == "dockerfile";
      seen_.insert(key_of(recipe.path, {.target = image ? recipe.target : std::string(),
                                        .arguments = recipe.arguments}));
    }
  }

  void place(const fs::path& place, int levels = kMostLevels) {
    std::error_code error;
    if (fs::is_directory(place, error)) {
      folder(place, levels);
    } else {
      file(place, "");
    }
  }

  // Recipes at the places, those that were read before among them.
  [[nodiscard]] size_t found() const { return found_; }

 private:
  static constexpr int kMostLevels = 4;
  static constexpr size_t kMostRecipes = 500;
  static constexpr size_t kMostEntries = 50'000;

  static fs::path real_path(const fs::path& path) {
    std::error_code error;
    fs::path real = fs::weakly_canonical(path, error);
    return error ? path : real;
  }

  // A Dockerfile is read once for each build.
  static std::string key_of(const fs::path& path, const ImageBuild& build) {
    std::string key = real_path(path).string() + "\n" + build.target;
    for (const auto& [name, value] : build.arguments) {
      key += fmt::format("\n{}={}", name, value);
    }
    return key;
  }

  void skip(std::string what) { facts_.skipped.push_back(std::move(what)); }

  // `levels`: of folders in it that are looked into.
  void folder(const fs::path& folder, int levels) {
    std::vector<fs::path> files;
    std::vector<fs::path> folders;
    std::error_code error;
    fs::directory_iterator entries(folder, fs::directory_options::skip_permission_denied, error);
    for (const fs::directory_iterator end; !error && entries != end; entries.increment(error)) {
      if (++entries_ > kMostEntries) {
        if (entries_ == kMostEntries + 1) {
          skip(fmt::format("{}: only the first {} files and folders were looked at for recipes",
                           folder.string(), kMostEntries));
        }
        break;
      }
      std::error_code ignored;
      const fs::file_status status = entries->symlink_status(ignored);
      if (fs::is_directory(status)) {
        folders.push_back(entries->path());
      } else if (fs::is_regular_file(status) || fs::is_symlink(status)) {
        files.push_back(entries->path());
      }
    }
    std::ranges::sort(files);
    std::ranges::sort(folders);
    for (const fs::path& path : files) {
      if (!kind_by_name(path).empty() && !is_of_project(path, files)) {
        file(path, "");
      }
    }
    for (const fs::path& path : folders) {
      if (levels > 0 && !is_left_out(path)) {
        this->folder(path, levels - 1);
      }
    }
  }

  // Whether a file is a part of the project beside it, which is read with it or stands in its
  // place.
  static bool is_of_project(const fs::path& path, std::span<const fs::path> files) {
    const fs::path name = path.filename();
    return (name == "setup.py" || name == "setup.cfg") &&
           std::ranges::find(files, path.parent_path() / "pyproject.toml") != files.end();
  }

  // A project that asks for nothing itself has its dependencies in the older files of setuptools.
  static void add_older_files(Recipe& recipe) {
    const std::string name = last_name(recipe.path);
    const bool asks = std::ranges::any_of(recipe.requirements, [](const Requirement& requirement) {
      return requirement.group.empty() && !requirement.bound && !requirement.overrides;
    });
    if (asks || (name != "pyproject.toml" && name != "setup.py")) {
      return;
    }
    std::error_code error;
    for (const std::string_view older : {"setup.py", "setup.cfg"}) {
      const std::string path = beside(recipe.path, older);
      if (older != name && fs::exists(path, error)) {
        add_include(recipe, recipe.includes, path, 0);
        std::erase_if(recipe.doubts,
                      [](const std::string& doubt) { return doubt.ends_with(kMadeWhileBuilt); });
        return;  // setup.py takes setup.cfg in itself
      }
    }
  }

  // A file to be read, and what it is read for.
  struct Waiting {
    fs::path path;
    std::string by;
    ImageBuild build;
  };

  // Includes are followed from a list, so that loops end and long chains need no stack.
  void file(const fs::path& first, const std::string& by) {
    std::vector<Waiting> waiting = {{.path = first, .by = by, .build = {}}};
    while (!waiting.empty()) {
      const Waiting next = std::move(waiting.back());
      waiting.pop_back();
      if (!seen_.insert(key_of(next.path, next.build)).second) {
        ++found_;
        continue;
      }
      if (facts_.recipes.size() >= kMostRecipes) {
        skip(fmt::format("{}: there are more recipes than are read", next.path.string()));
        return;
      }
      auto recipe = read_recipe(next.path, next.build);
      if (!recipe) {
        skip(next.by.empty() ? recipe.error().message
                             : fmt::format("{}: {}", next.by, recipe.error().message));
        continue;
      }
      extend(*recipe);
      add_settings(*recipe);
      add_older_files(*recipe);
      follow(*recipe, waiting);
      facts_.recipes.push_back(std::move(*recipe));
      ++found_;
    }
  }

  // What a pip.conf says that goes into an image holds for all that is installed there.
  static void add_settings(Recipe& recipe) {
    const std::vector<IndexLine> indexes = recipe.indexes;
    for (const IndexLine& index : indexes) {
      const std::string settings = unread_settings(index, recipe);
      if (settings.empty()) {
        continue;
      }
      const std::string path = place_above(recipe, settings);
      const auto file = MappedFile::open(path);
      if (file && (*file)->bytes().size() <= kMostProgramBytes) {
        const std::span<const std::byte> bytes = (*file)->bytes();
        auto said = pip_settings({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
        if (said) {
          put_settings(recipe, index, *std::move(said));
        }
      }
    }
  }

  // Services that extend those of other files become what both say.
  static void extend(Recipe& recipe, int steps = 0) {
    constexpr int kMostSteps = 8;  // files that extend each other end there
    for (Service& service : recipe.services) {
      const ExtendedService extends = std::exchange(service.extends, {});
      if (extends.file.empty()) {
        continue;
      }
      Result<Recipe> other = fail(ErrorCode::Unsupported, "too many files");
      if (steps < kMostSteps) {
        other = read_recipe(extends.file);
      }
      if (other) {
        extend(*other, steps + 1);
      }
      const std::vector<Service> none;
      const std::vector<Service>& bases = other ? other->services : none;
      const auto base = std::ranges::find(bases, extends.service, &Service::name);
      if (base == bases.end()) {
        add_doubt(recipe, service.line,
                  fmt::format("{} extends {} of {}, which was not to be read",
                              in_quotes(service.name), in_quotes(extends.service), extends.file));
        continue;
      }
      const bool inherits = service.build.empty() && !base->build.empty();
      extend_service(*base, service);
      if (inherits) {
        add_include(recipe, recipe.includes, service.build, service.line);
      }
    }
  }

  static void follow(Recipe& recipe, std::vector<Waiting>& waiting) {
    std::error_code error;
    for (IncludeLine& include : recipe.include_lines) {
      const std::string before = include.path;
      include.path = place_of(recipe, include.path);
      // A lock that is not there is made of the project.
      if (!include.made_of.empty() && !include.edited && !fs::exists(include.path, error)) {
        include.path = place_of(recipe, include.made_of);
        std::ranges::replace(recipe.includes, before, include.path);
      }
    }
    for (std::vector<std::string>* list : {&recipe.includes, &recipe.constraints}) {
      for (std::string& include : *list) {
        if (is_address(include)) {
          continue;
        }
        include = place_of(recipe, include);
        const auto line = std::ranges::find(recipe.include_lines, include, &IncludeLine::path);
        // What commands of an image make need not be there.
        const bool made = line != recipe.include_lines.end() && line->edited;
        if (!made || fs::exists(include, error)) {
          waiting.push_back({.path = include, .by = recipe.path, .build = {}});
        }
      }
    }
    for (const Service& service : recipe.services) {
      if (!service.target.empty() || !service.arguments.empty()) {
        waiting.push_back({.path = service.build,
                           .by = recipe.path,
                           .build = {.target = service.target, .arguments = service.arguments}});
      }
    }
  }

  // Where a file lies that is named; a project without a pyproject.toml is one of setuptools.
  static std::string place_of(const Recipe& recipe, const std::string& include) {
    std::error_code error;
    std::string place = place_above(recipe, include);
    if (last_name(include) != "pyproject.toml" || fs::exists(place, error)) {
      return place;
    }
    for (const std::string_view older : {"setup.py", "setup.cfg"}) {
      if (std::string other = place_above(recipe, beside(include, older));
          fs::exists(other, error)) {
        return other;
      }
    }
    return place;
  }

  // An image is often built from a folder above its Dockerfile, and a script runs where its project
  // is, above its own folder.
  static std::string place_above(const Recipe& recipe, const std::string& include) {
    constexpr int kMostAbove = 3;  // "services/speech/docker/Dockerfile"
    std::error_code error;
    if ((recipe.kind != "dockerfile" && recipe.kind != "script") || fs::exists(include, error)) {
      return include;
    }
    fs::path folder = fs::path(recipe.path).parent_path();
    const fs::path inside = fs::path(include).lexically_relative(folder);
    for (int i = 0; i < kMostAbove; ++i) {
      folder = folder / "..";
      if (const fs::path above = (folder / inside).lexically_normal(); fs::exists(above, error)) {
        return above.string();
      }
    }
    return include;
  }

  Facts& facts_;
  std::set<std::string> seen_;
  size_t entries_ = 0;
  size_t found_ = 0;
};

}  // namespace

std::string_view kind_by_name(const fs::path& path) {
  const std::string name = small_letters(path.filename().string());
  for (const auto& [known, kind] : kKinds) {
    if (name == known) {
      return kind;
    }
  }
  const bool yaml = name.ends_with(".yml") || name.ends_with(".yaml");
  if ((name.starts_with("dockerfile.") || name.starts_with("containerfile.")) &&
      !is_about_dockerfiles(name)) {
    return "dockerfile";
  }
  if (name.ends_with(".dockerfile")) {
    return "dockerfile";
  }
  if (name.starts_with("pylock.") && name.ends_with(".toml")) {
    return "package lock";
  }
  if (yaml && (name.starts_with("docker-compose") || name.starts_with("compose"))) {
    return "compose";
  }
  if (yaml && (name.starts_with("environment") || name.starts_with("conda"))) {
    return "conda";
  }
  const bool text = name.ends_with(".txt") || name.ends_with(".in");
  const std::string folder = small_letters(path.parent_path().filename().string());
  if (text && (name.find("requirements") != std::string::npos || name.starts_with("constraints") ||
               folder == "requirements")) {
    return "requirements";
  }
  return {};
}

Result<Recipe> parse_recipe(std::string_view text, const std::string& path,
                            const ImageBuild& build) {
  if (text.size() > kMostRecipeBytes) {
    return fail(ErrorCode::Unsupported, fmt::format("{}: wanted at most {} bytes, found {}", path,
                                                    kMostRecipeBytes, text.size()));
  }
  Recipe recipe;
  recipe.path = path;
  recipe.target = build.target;
  recipe.arguments = build.arguments;
  const std::string_view named = kind_by_name(path);
  // What PowerShell writes is read as well.
  const bool utf16 = text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
  if (!utf16 && text.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted a recipe (requirements, pyproject.toml, a lock file, "
                            "environment.yml, Dockerfile, compose.yaml), found bytes that are no "
                            "text",
                            path));
  }
  MYNAH_TRY_STATUS(read_as(named.empty() ? kind_by_text(text, path) : named, text, recipe));
  return recipe;
}

Result<Recipe> read_recipe(const fs::path& path, const ImageBuild& build) {
  MYNAH_TRY(const auto file, MappedFile::open(path.string()));
  const std::span<const std::byte> bytes = file->bytes();
  auto recipe = parse_recipe({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                             path.string(), build);
  if (recipe) {
    doubt_settings_beside(*recipe);
  }
  return recipe;
}

size_t gather_recipes(std::span<const fs::path> places, Facts& facts) {
  Gatherer gatherer(facts);
  for (const fs::path& place : places) {
    gatherer.place(place);
  }
  add_project_readings(facts);
  doubt_settings_around(facts);
  return gatherer.found();
}

void gather_recipes_of(const fs::path& folder, Facts& facts) {
  Gatherer(facts).place(folder, 0);
  add_project_readings(facts);
  doubt_settings_around(facts);
}

}  // namespace mynah::doctor
