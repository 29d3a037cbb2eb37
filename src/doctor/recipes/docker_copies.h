// What COPY, ADD and bind mounts bring into an image, and where it comes from.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mynah::doctor {

class DockerCopies {
 public:
  // `dockerfile`: its path; what it copies is named from the folder that it stands in.
  explicit DockerCopies(std::string dockerfile) : dockerfile_(std::move(dockerfile)) {}

  // A file or folder `source` that is `target` in the image. Beyond some hundreds nothing is kept.
  void add(const std::string& source, const std::string& target);

  // Where a path inside the image was copied from; none: nothing that was copied is known to hold
  // it.
  [[nodiscard]] std::optional<std::string> copied_from(std::string_view path) const;

  // Where a path inside the image comes from: what was copied last under that name, a folder that
  // was copied and may hold it, or the same name beside the Dockerfile.
  [[nodiscard]] std::string place_of(std::string_view path) const;

  // Whether a repository is the one that the Dockerfile stands in: a folder that it is in has that
  // name, or begins with it, as an archive of a branch does.
  [[nodiscard]] bool is_own(std::string_view repository) const;

 private:
  struct Copy {
    std::string source;
    std::string target;
  };

  std::string dockerfile_;
  std::vector<Copy> copies_;
};

}  // namespace mynah::doctor
