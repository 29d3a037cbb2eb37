// Several recipes side by side: what each pins, where they differ, and the smallest set of edits
// that makes them agree.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

struct AlignmentColumn {
  std::string name;  // "asr (compose.yml)", "requirements.txt"
  std::string path;  // of the recipe
};

// What a column says of a package or an image.
struct AlignmentCell {
  std::string written;   // "==2.5.1"; empty: nobody wrote it down
  std::string resolved;  // what it comes to: "2.5.1+cu124", "4.0 to 4.8.1"; empty: nothing
  std::string where;     // "path:line"
  bool drifts = false;   // another version comes on another day
  bool conflict = false;

  [[nodiscard]] bool empty() const { return written.empty() && resolved.empty(); }
};

struct AlignmentRow {
  std::string name;                  // "torch", "base image", "cuDNN", "python"
  std::vector<AlignmentCell> cells;  // one for each column
  bool conflict = false;             // between columns, or within one
  std::string why;                   // of the conflict or the drift, a sentence
  bool differs = false;              // between images, which need not agree
};

// A change of one line.
struct AlignmentEdit {
  std::string file;
  uint64_t line = 0;  // 0: a new line
  std::string from;   // what stands there; empty: a new line
  std::string to;
  std::string why;
  std::string row = {};   // of the matrix, that it is for: "torch"
  bool literal = true;    // false: `from` does not stand on that line as it is
  bool of_image = false;  // FROM of a Dockerfile, or the image of a service
  bool refused = false;   // of a lock: its project refuses `to`, too
  // Of a lock: the condition of what its project says of the package, which stays.
  std::string marker = {};
  // Of an index of a lock: what is to come from it, "torch==2.8.0", though its version stays.
  std::vector<std::string> pins = {};
  // Of an index of a project: who installs it (project_readers.h); empty: nobody is named.
  std::string program = {};

  bool operator==(const AlignmentEdit&) const = default;
};

// The oldest driver that a package of a column works with on a card.
struct AlignmentDriver {
  std::string column;
  std::string package;  // "torch 2.5.1+cu124"
  std::string card;
  std::string driver;  // "525.60.13", "570"; empty: none, there is no code for the card
  std::string why;
  bool verified = false;
};

struct Alignment {
  std::vector<AlignmentColumn> columns;
  std::vector<AlignmentRow> rows;  // those that say something, in the order of what decides most
  // What makes all columns agree: on `target`, the fewest lines changed, and among such what is
  // pinned already or nearest to it.
  std::vector<AlignmentEdit> edits;
  std::string target;  // "torch 2.5.1+cu124"; empty: nothing has to agree
  std::vector<AlignmentDriver> drivers;

  [[nodiscard]] bool has_conflict() const;
};

[[nodiscard]] Alignment align(const Facts& facts, const Knowledge& knowledge);

// One line for a shell that makes an edit, and changes nothing else of the file; empty where none
// does, as in a lock, or where a variable holds what is to be changed.
[[nodiscard]] std::string edit_command(const AlignmentEdit& edit);

// The same in words: "requirements.txt:3 is to read torch==2.5.1, not torch==2.1.2: why".
[[nodiscard]] std::string edit_text(const AlignmentEdit& edit);

}  // namespace mynah::doctor
