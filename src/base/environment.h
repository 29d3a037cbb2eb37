// The environment of the process: variables, and the folders that follow from them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mynah {

// The environment as it was at the start: nothing below engine/ is handed it.
class Environment {
 public:
  Environment() = default;

  explicit Environment(std::map<std::string, std::string> variables)
      : variables_(std::move(variables)) {}

  // The process's own.
  static Environment of_process();

  // A variable that is set and not empty.
  [[nodiscard]] std::optional<std::string> get(const std::string& name) const;

  // Names of all variables that are set and begin so, in alphabetical order.
  [[nodiscard]] std::vector<std::string> names_with(std::string_view prefix) const;

  // Where this user keeps configuration, data, what programs leave for their next run, and what can
  // be made again, by the XDG base directory
  // specification, each with "/mynah" behind it.
  [[nodiscard]] std::string config_folder() const;
  [[nodiscard]] std::string data_folder() const;
  [[nodiscard]] std::string state_folder() const;
  [[nodiscard]] std::string cache_folder() const;

 private:
  [[nodiscard]] std::string folder(const char* variable, const char* below_home) const;

  std::map<std::string, std::string> variables_;
};

}  // namespace mynah
