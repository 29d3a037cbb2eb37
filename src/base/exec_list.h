// What exec(3) wants of arguments and of an environment.
#pragma once

#include <string>
#include <vector>

namespace mynah {

// The null-ended list of C strings; they live as long as the strings do.
[[nodiscard]] inline std::vector<char*> exec_list(std::vector<std::string>& strings) {
  std::vector<char*> list;
  list.reserve(strings.size() + 1);
  for (std::string& text : strings) {
    list.push_back(text.data());
  }
  list.push_back(nullptr);
  return list;
}

}  // namespace mynah
