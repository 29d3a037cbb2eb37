#include "doctor/recipes/device_architectures.h"

#include <algorithm>
#include <string_view>

#include "doctor/characters.h"
#include "doctor/recipes/recipe_parts.h"

namespace mynah::doctor {

namespace {

constexpr size_t kMostArchitectures = 100;  // of one command

// "120a" of "120a-real", "sm_120a", "compute_120a", "12.0a", "12.0a+PTX". Empty: it is none.
std::string architecture_of(std::string_view word) {
  for (const std::string_view prefix : {"sm_", "compute_", "lto_"}) {
    word = word.starts_with(prefix) ? word.substr(prefix.size()) : word;
  }
  word = word.substr(0, word.find_first_of("-+"));
  std::string plain(word);
  std::erase(plain, '.');
  const size_t digits = std::min(plain.find_first_not_of("0123456789"), plain.size());
  const std::string_view suffix = std::string_view(plain).substr(digits);
  const bool is_one =
      (digits == 2 || digits == 3) && (suffix.empty() || suffix == "a" || suffix == "f");
  return is_one ? plain : std::string();
}

void add_list(std::string_view list, std::vector<std::string>& all) {
  while (!list.empty() && all.size() < kMostArchitectures) {
    const size_t end = std::min(list.find_first_of("; ,"), list.size());
    if (std::string one = architecture_of(list.substr(0, end));
        !one.empty() && std::ranges::find(all, one) == all.end()) {
      all.push_back(std::move(one));
    }
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

// What stands behind the last of CMake's words for them.
void add_of_cmake(const std::vector<std::string>& words, std::vector<std::string>& all) {
  for (const std::string& word : words) {
    for (const std::string_view name : {"-DCMAKE_CUDA_ARCHITECTURES", "CMAKE_CUDA_ARCHITECTURES"}) {
      const size_t equals = word.find('=');
      if (equals != std::string::npos && word.substr(0, word.find_first_of(":=")) == name) {
        all.clear();  // the last one counts
        add_list(std::string_view(word).substr(equals + 1), all);
      }
    }
  }
}

// "-gencode arch=compute_120,code=sm_120", "-arch=sm_120", "-arch sm_120".
void add_of_nvcc(const std::vector<std::string>& words, std::vector<std::string>& all) {
  for (const std::string& word : words) {
    std::string_view rest = word;
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, rest.find_first_of(",=[]"));
      if (part.starts_with("sm_") || part.starts_with("compute_")) {
        add_list(part, all);
      }
      rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    }
  }
}

}  // namespace

std::vector<std::string> named_architectures(const ShellCommand& command,
                                             const std::map<std::string, std::string>& variables) {
  const auto value = [&](const char* name) -> std::string {
    for (const auto* set : {&command.variables, &variables}) {
      if (const auto found = set->find(name); found != set->end()) {
        return found->second;
      }
    }
    return {};
  };
  std::vector<std::string> all;
  const std::string program = command.words.empty() ? "" : last_name(command.words.front());
  if (program == "nvcc") {
    add_of_nvcc(command.words, all);
    return all;
  }
  // A command of CMake's reads no CMAKE_ARGS, and its own words go before CUDAARCHS.
  add_list(value("CUDAARCHS"), all);
  if (program != "cmake") {
    add_of_cmake(words_of(value("CMAKE_ARGS")), all);
    add_list(value("TORCH_CUDA_ARCH_LIST"), all);
  }
  add_of_cmake(command.words, all);
  return all;
}

}  // namespace mynah::doctor
