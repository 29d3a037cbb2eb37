#include "text/unicode.h"

#include <utf8proc.h>

namespace mynah {
namespace {

utf8proc_category_t category(char32_t code_point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
}

}  // namespace

bool is_letter(char32_t code_point) {
  const auto found = category(code_point);
  return found >= UTF8PROC_CATEGORY_LU && found <= UTF8PROC_CATEGORY_LO;
}

bool is_number(char32_t code_point) {
  const auto found = category(code_point);
  return found >= UTF8PROC_CATEGORY_ND && found <= UTF8PROC_CATEGORY_NO;
}

bool is_white_space(char32_t code_point) {
  // PropList.txt: the separators, and six controls.
  if ((code_point >= 0x09 && code_point <= 0x0D) || code_point == 0x85) {
    return true;
  }
  const auto found = category(code_point);
  return found >= UTF8PROC_CATEGORY_ZS && found <= UTF8PROC_CATEGORY_ZP;
}

bool is_python_space(char32_t code_point) {
  return (code_point >= 0x1C && code_point <= 0x1F) || is_white_space(code_point);
}

}  // namespace mynah
