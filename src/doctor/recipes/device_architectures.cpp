#include "doctor/recipes/device_architectures.h"

#include <algorithm>
#include <string_view>

#include "doctor/characters.h"
#include "doctor/recipes/recipe_parts.h"

namespace mynah::doctor {

namespace {

constexpr size_t kMostArchitectures = 100;  // of one command

// "120a" of "sm_120a", "compute_120a", "12.0a" and "120a". Empty: it is none.
std::string architecture_of(std::string_view word) {
  for (const std::string_view prefix : {"sm_", "compute_", "lto_"}) {
    word = word.starts_with(prefix) ? word.substr(prefix.size()) : word;
  }
  std::string plain(word);
  std::erase(plain, '.');
  const size_t digits = std::min(plain.find_first_not_of("0123456789"), plain.size());
  const std::string_view suffix = std::string_view(plain).substr(digits);
  const bool is_one =
      (digits == 2 || digits == 3) && (suffix.empty() || suffix == "a" || suffix == "f");
  return is_one ? plain : std::string();
}

void add_one(const std::string& one, std::vector<std::string>& all) {
  if (!one.empty() && all.size() < kMostArchitectures && std::ranges::find(all, one) == all.end()) {
    all.push_back(one);
  }
}

// Each word of a list by `as`, which says what CMake would call it; empty: it is left as it is.
template <class As>
void add_list(std::string_view list, As as, std::vector<std::string>& all) {
  while (!list.empty()) {
    const size_t end = std::min(list.find_first_of("; ,"), list.size());
    const std::string_view word = list.substr(0, end);
    const std::string one = as(word);
    add_one(one.empty() ? std::string(word) : one, all);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

// "120a-real": CMake's own words.
std::string of_cmake(std::string_view word) {
  const size_t dash = std::min(word.find('-'), word.size());
  const std::string one = architecture_of(word.substr(0, dash));
  return one.empty() ? one : one + std::string(word.substr(dash));
}

// "12.0a+PTX": without "+PTX" machine code alone.
std::string of_torch(std::string_view word) {
  const size_t plus = std::min(word.find('+'), word.size());
  const std::string one = architecture_of(word.substr(0, plus));
  return one.empty() || plus < word.size() ? one : one + "-real";
}

// What stands behind the last of CMake's words for them.
void add_of_cmake(const std::vector<std::string>& words, std::vector<std::string>& all) {
  for (const std::string& word : words) {
    for (const std::string_view name : {"-DCMAKE_CUDA_ARCHITECTURES", "CMAKE_CUDA_ARCHITECTURES"}) {
      const size_t equals = word.find('=');
      if (equals != std::string::npos && word.substr(0, word.find_first_of(":=")) == name) {
        all.clear();  // the last one counts
        add_list(std::string_view(word).substr(equals + 1), of_cmake, all);
      }
    }
  }
}

// "-gencode arch=compute_120,code=sm_120", whose code alone is kept, and "-arch=sm_120", which
// keeps PTX, too.
void add_of_nvcc(const std::vector<std::string>& words, std::vector<std::string>& all) {
  for (const std::string& word : words) {
    const size_t code = word.find("code=");
    std::string_view rest = word;
    rest.remove_prefix(code == std::string::npos ? 0 : code);
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, rest.find_first_of(",=[]"));
      const std::string one = architecture_of(part);
      if (part.starts_with("compute_")) {
        add_one(one + "-virtual", all);
      } else if (part.starts_with("sm_")) {
        add_one(code == std::string::npos ? one : one + "-real", all);
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
  add_list(value("CUDAARCHS"), of_cmake, all);
  if (program != "cmake") {
    add_of_cmake(words_of(value("CMAKE_ARGS")), all);
    add_list(value("TORCH_CUDA_ARCH_LIST"), of_torch, all);
  }
  add_of_cmake(command.words, all);
  return all;
}

}  // namespace mynah::doctor
