// One question to the loader of Linux.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "doctor/binaries/loader.h"

namespace mynah::doctor {

// Goes through a process's libraries in the order in which ld.so loads them.
class ElfQuestion {
 public:
  ElfQuestion(Loader& loader, const LoaderQuestion& question);

  Result<LoaderAnswer> answer();

 private:
  // A library of the process.
  struct Node {
    Loader::Library* library = nullptr;
    std::string path;  // as it was found, links not followed: $ORIGIN is its folder
    std::string real;
    size_t loader = 0;  // index of the node that wanted it first; its own: nobody
    bool of_system = false;
  };

  // Where a name leads.
  struct Found {
    std::string real;  // empty: nowhere
    std::string path;
    std::string via;
    // The first folder on the way that leads into another machine or the current directory.
    std::string dead_path;
  };

  void add_node(Loader::Library* library, std::string path, std::string real, size_t wanted_by,
                std::string_view via);
  void want(const std::string& name, Want kind, size_t by, bool guessed);
  void want_needed_from(size_t first_node);
  void want_opened(size_t node);
  Found search(const std::string& name, size_t by);
  bool search_rpaths(const std::string& name, size_t by, Found& found);
  bool search_folders(std::string_view list, std::string_view separators, std::string_view via,
                      const std::string& name, const Node& of, Found& found);
  bool try_path(const std::string& path, std::string_view via, Found& found);
  std::vector<std::string> elsewhere(const std::string& name);
  std::vector<std::string> lacks(size_t by, const std::string& name, const std::string& real);
  void drop_guesses_met_otherwise();
  [[nodiscard]] bool is_endless() const;

  Loader& loader_;
  const LoaderQuestion& question_;
  std::string lib_;  // what $LIB stands for
  std::string_view platform_;
  Node program_;  // without a library where it is not known
  std::vector<Node> nodes_;
  std::unordered_map<std::string, Found> known_;     // by name and SONAME
  std::unordered_map<std::string, size_t> node_of_;  // by real path
  std::unordered_map<std::string, size_t> want_of_;  // by name: index of its first want
  size_t tries_ = 0;
  LoaderAnswer answer_;
};

}  // namespace mynah::doctor
