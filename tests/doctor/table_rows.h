// Tables of tests/doctor/data that tools write from what reference programs say.
#pragma once

#include <fstream>
#include <string>
#include <vector>

namespace mynah::doctor {

// Rows of a table as cells, without lines of comments.
inline std::vector<std::vector<std::string>> rows_of(const std::string& file) {
  std::ifstream in(std::string(MYNAH_SOURCE_DIR) + "/tests/doctor/data/" + file);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) {
      continue;
    }
    std::vector<std::string>& cells = rows.emplace_back();
    size_t begin = 0;
    for (size_t tab = line.find('\t'); tab != std::string::npos; tab = line.find('\t', begin)) {
      cells.push_back(line.substr(begin, tab - begin));
      begin = tab + 1;
    }
    cells.push_back(line.substr(begin));
  }
  return rows;
}

}  // namespace mynah::doctor
