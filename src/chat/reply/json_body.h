// Calls written as JSON objects: {"name": "f", "arguments": {..}}, in lists, in an outer object, or
// {"f": {..}}.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "chat/reply/call_body.h"
#include "chat/reply/json_scan.h"

namespace mynah {

class JsonBody : public CallBody {
 public:
  // `bare`: there was no marker, so that only one of the tools' names makes it a call.
  JsonBody(const CallContext& context, bool bare) : context_(context), bare_(bare) {}

  [[nodiscard]] BodyStep take(std::string_view stream, bool last) override;

  [[nodiscard]] std::string_view held() const override { return held_; }

 private:
  enum class Place { Outside, BeforeKey, Key, Colon, BeforeValue, Value };
  // Of a byte. Before: the call was whole before it.
  enum class Verdict { Taken, Again, Done, Before, Broken };

  Verdict next(char byte);
  Verdict outside(char byte);
  Verdict before_key(char byte);
  Verdict before_value(char byte);
  Verdict value(char byte);
  Verdict end_of_value();
  Verdict name_is(std::string_view name);
  Verdict end_of_object();
  void tell();

  CallContext context_;
  bool bare_;
  Place place_ = Place::Outside;
  std::string around_;  // the brackets that are open around the place
  std::string held_;
  bool any_ = false;    // a call was told
  bool begun_ = false;  // the call of this object was told
  bool told_arguments_ = false;
  std::string id_;
  std::optional<std::string> early_;  // arguments that came before the name
  JsonScan scan_;
  std::string text_;  // of the key or the value
  std::string key_;
  bool streams_ = false;  // the value's bytes are told as they come
  std::string untold_;
};

}  // namespace mynah
