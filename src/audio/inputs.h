// The recordings that a command line names: files, folders, patterns.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace mynah {

// One thing to be heard, or why it cannot be: a folder that cannot be listed, a word that stands
// for nothing.
struct Input {
  std::string name;  // a file, "-", the folder, or the word
  Status status{};
};

// Files of a folder, and of those below it, that were not taken for recordings.
struct PassedOver {
  std::string folder;
  std::map<std::string, size_t> files;  // how many of each extension: ".pdf"; "": without one
  size_t linked_folders = 0;            // links to folders, which are not followed
};

struct Inputs {
  std::vector<Input> found;  // in the order of the words
  std::vector<PassedOver> passed_over;
};

// Which files of a folder are recordings, by their extensions.
enum class FolderTakes : uint8_t {
  Recordings,  // what says itself how it is to be read: wav, mp3, m4a, mkv ...
  Headerless   // samples alone, whose encoding the user has named: raw, pcm, ulaw ...
};

// Expands each word in the order given. A folder stands for the recordings in it and below (told by
// their extensions, in either case: recording_extensions.tsv; a .ts of text is TypeScript; sorted
// by path, hidden ones left out, links to folders not followed); a pattern with * ? [abc] {a,b} or
// **/ (any folders) that names no file itself, for what it matches, in the order of a shell;
// anything else, "-" too, for itself. A word that stands for nothing is an error in its place, and
// so is a folder that cannot be listed: the others go on.
Inputs expand_inputs(std::span<const std::string> words,
                     FolderTakes takes = FolderTakes::Recordings);

}  // namespace mynah
