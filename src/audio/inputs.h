// The recordings that a command line names: files, folders, patterns.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace mynah {

// Expands each word in the order given. A folder stands for the recordings in it and below (told by
// their extensions, sorted by path, hidden ones left out, links to folders not followed); a pattern
// with * ? [abc] {a,b} or **/ (any folders) that names no file itself, for what it matches, in the
// order of a shell; anything else, "-" too, for itself. A word that stands for nothing is an error
// in its place, so that the others can go on.
std::vector<Result<std::string>> expand_inputs(std::span<const std::string> words);

// Whether the name ends as recordings do (wav, mp3, m4a, mkv ...), in either case.
bool has_audio_extension(const std::string& path);

}  // namespace mynah
