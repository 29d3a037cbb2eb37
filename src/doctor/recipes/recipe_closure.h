// Recipes by their path, and what each takes in.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"

namespace mynah::doctor {

// A step of a recipe by its number; null: it has none.
[[nodiscard]] const InstallStep* step_of(const Recipe& recipe, uint64_t number);

// A recipe that another takes in.
struct TakenFile {
  const Recipe* recipe = nullptr;
  std::string_view program;  // that installs it (project_readers.h); empty: nobody is named
};

class RecipeFiles {
 public:
  // `facts` must outlive it.
  explicit RecipeFiles(const Facts& facts);

  // The recipe that was read from a file first; null: none.
  [[nodiscard]] const Recipe* at(const std::string& path) const;

  // The same, of a project as a program reads it.
  [[nodiscard]] const Recipe* at(const std::string& path, std::string_view program) const;

  // The Dockerfile that a service is built from, as it is for its stage and its arguments; null:
  // it is built from none, or nobody read it so.
  [[nodiscard]] const Recipe* built(const Service& service) const;

  // All that were read from a file.
  [[nodiscard]] const std::vector<const Recipe*>& all_at(const std::string& path) const;

  // A recipe and all that it takes in, each once, and the constraints that they name. Of an image,
  // what its steps install into one of its environments, and no file that its commands change
  // first.
  [[nodiscard]] std::vector<const Recipe*> closure(const Recipe& root,
                                                   const std::string& environment,
                                                   std::vector<const Recipe*>& constraints) const;

  // The same with who installs each; `program`: who installs the root.
  [[nodiscard]] std::vector<TakenFile> taken_files(const Recipe& root,
                                                   const std::string& environment,
                                                   std::vector<const Recipe*>& constraints,
                                                   std::string_view program) const;

  // Which step of an image installs a file that it takes in: the last that does, and one that
  // leaves out what the file asks for only where no other does.
  [[nodiscard]] std::map<const Recipe*, const InstallStep*> steps(
      const Recipe& image, const std::string& environment) const;

 private:
  std::map<std::string, std::vector<const Recipe*>> by_path_;
};

}  // namespace mynah::doctor
