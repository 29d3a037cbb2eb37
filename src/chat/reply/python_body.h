// Calls written in Python: [f(a=1, b="x"), g()], or f(a=1) alone; Llama's f.call(a=1).
#pragma once

#include <string>
#include <string_view>

#include "chat/reply/call_body.h"
#include "chat/reply/python_literal.h"

namespace mynah {

class PythonBody : public CallBody {
 public:
  explicit PythonBody(const CallContext& context) : context_(context) {}

  [[nodiscard]] BodyStep take(std::string_view stream, bool last) override;

  [[nodiscard]] std::string_view held() const override { return held_; }

 private:
  enum class Place { Between, Name, BeforeArgument, Argument };
  enum class Verdict { Taken, Again, Done, Before, Broken };

  Verdict next(char byte);
  Verdict between(char byte);
  Verdict name(char byte);
  Verdict argument(char byte);
  bool end_argument();

  CallContext context_;
  Place place_ = Place::Between;
  std::string held_;
  bool in_list_ = false;
  bool any_ = false;
  bool printed_ = false;  // the call stands in print(..), as Gemma's code has it
  std::string name_;
  size_t arguments_ = 0;  // of this call
  std::string text_;      // of the argument
  PythonScan scan_;
};

}  // namespace mynah
