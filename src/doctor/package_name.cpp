#include "doctor/package_name.h"

#include "doctor/characters.h"

namespace mynah::doctor {

std::string normal_name(std::string_view name) {
  std::string normal;
  for (const char c : name) {
    if (c != '-' && c != '_' && c != '.') {
      normal += small_letter(c);
    } else if (!normal.ends_with('-')) {
      normal += '-';
    }
  }
  return normal;
}

}  // namespace mynah::doctor
