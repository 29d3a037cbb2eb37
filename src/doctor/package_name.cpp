#include "doctor/package_name.h"

namespace mynah::doctor {

std::string normalised_package(std::string_view name) {
  std::string normalised;
  bool in_run = false;
  for (const char c : name) {
    const bool separates = c == '-' || c == '_' || c == '.';
    if (separates && !in_run) {
      normalised += '-';
    } else if (!separates) {
      normalised += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    in_run = separates;
  }
  return normalised;
}

}  // namespace mynah::doctor
