// Reads JSON from front to back and hands each value on as it comes: the lexicons are megabytes of
// short strings, of which no tree is wanted. RFC 8259; bytes inside strings are not looked at.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/thread_pool.h"

namespace mynah {

class JsonCursor {
 public:
  // `file` names the text in errors, which say at which byte and what was wanted. The text must
  // outlive the cursor.
  JsonCursor(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  // An object. `member` is called with each key, the cursor before its value, which it must read or
  // skip; the key is gone after that.
  Status object(FunctionRef<Status(std::string_view key)> member);
  // An array. `element` must read or skip one value.
  Status array(FunctionRef<Status()> element);
  // A string. The view is valid until the next string is read.
  Result<std::string_view> string();
  Result<double> number();
  // Takes null where it stands.
  [[nodiscard]] bool null();
  // Any value. At most kMaxDepth arrays and objects inside each other.
  Status skip();
  // Nothing but white space may follow.
  Status end();

  // The first character of the next value; '\0' where there is none.
  [[nodiscard]] char peek();

  [[nodiscard]] std::unexpected<Error> fail_here(std::string_view message) const;

 private:
  static constexpr int kMaxDepth = 64;

  void skip_white_space();
  [[nodiscard]] bool take(char c);
  Status expect(char c);
  Result<std::string_view> escaped_string();
  Result<char32_t> escaped_code_point();
  Result<char32_t> hex4();
  Status literal(std::string_view word);

  std::string_view text_;
  std::string_view file_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string unescaped_;
};

}  // namespace mynah
