// Environment markers, the condition behind ';' of a requirement: the specification "Dependency
// specifiers" of the Python packaging guide (PEP 508).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "doctor/facts.h"

namespace mynah::doctor {

// What a marker asks about: where a requirement would be installed.
struct MarkerEnvironment {
  System system = System::Linux;
  std::string python;               // "3.11" or "3.11.7"; empty: not known
  std::string machine = "x86_64";   // as Linux calls it; Windows' AMD64 is derived from it
  std::vector<std::string> extras;  // that are asked for, normalised; "*": all
  bool more_extras = false;         // others may be asked for, too
};

// What a marker answers. NotKnown where it asks what the environment does not say.
enum class Truth : uint8_t { No, Yes, NotKnown };

// A condition as a tree: a comparison, or several joined by "and" or by "or".
struct Marker {
  enum class Kind : uint8_t { Comparison, And, Or };

  // A variable such as python_version, or a text in quotes.
  struct Side {
    bool variable = false;
    std::string text;
  };

  Kind kind = Kind::And;  // And of none: always
  Side left;
  std::string relation;  // "==", "in", "not in"
  Side right;
  std::vector<Marker> parts;

  [[nodiscard]] static Result<Marker> parse(std::string_view text);

  [[nodiscard]] Truth holds(const MarkerEnvironment& environment) const;
};

}  // namespace mynah::doctor
