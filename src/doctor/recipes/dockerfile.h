// A Dockerfile cut into its instructions, as the Dockerfile reference has them: comments, the
// directive "escape", lines that go on, here-documents.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"

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

// The name and the tag of an image: "nvidia/cuda:12.9.1@sha256:..." without its digest.
[[nodiscard]] BaseImage docker_image(std::string_view name);

// What a mount brings into the image for one command.
struct DockerMount {
  std::string type = "bind";
  std::string source;
  std::string target;
  std::string from;  // a stage or an image; empty: the folder that the image is built from
};

// Reads "--mount=type=bind,source=uv.lock,target=uv.lock".
[[nodiscard]] DockerMount docker_mount(std::string_view flag);

// Arguments as words, or as a JSON list: sources and target of COPY, a command without a shell.
// `file`: what errors name.
[[nodiscard]] std::vector<std::string> docker_words(const std::string& text,
                                                    const std::string& file);

// Finds on which of an instruction's lines stands what it asks for, where it stands there as it is:
// a variable may hold it.
void find_lines(const DockerInstruction& read, std::span<Requirement> requirements);

// Whether here-documents of RUN are what a shell runs: "<<EOF" alone, or "bash <<EOF".
[[nodiscard]] bool runs_documents(std::string_view arguments);

// Whether a line holds a word of a command, not a part of a longer one.
[[nodiscard]] bool holds_word(std::string_view line, std::string_view word);

}  // namespace mynah::doctor
