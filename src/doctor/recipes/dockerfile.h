// A Dockerfile cut into its instructions, as the Dockerfile reference has them: comments, the
// directive "escape", lines that go on, here-documents.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mynah::doctor {

struct DockerInstruction {
  std::string keyword;                 // in capitals: "RUN"
  std::vector<std::string> flags;      // "--mount=type=cache,target=/x", in front of the rest
  std::string arguments;               // lines that go on are joined
  std::vector<std::string> documents;  // texts of here-documents
  uint64_t line = 0;                   // its first, from 1
  std::string_view source;             // all its lines as they stand in the text
};

// `text` must outlive what is returned.
[[nodiscard]] std::vector<DockerInstruction> docker_instructions(std::string_view text);

}  // namespace mynah::doctor
