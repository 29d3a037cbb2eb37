// Calls written as a tag a parameter: <function=f><parameter=a>1</parameter></function>.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chat/reply/call_body.h"

namespace mynah {

class TaggedBody : public CallBody {
 public:
  explicit TaggedBody(const CallContext& context);

  [[nodiscard]] BodyStep take(std::string_view stream, bool last) override;
  [[nodiscard]] std::string_view held() const override;

 private:
  enum class Place { Begin, Name, Between, ParameterName, BeforeValue, Value, Json };

  BodyStep step(std::string_view stream, bool last);
  BodyStep begin(std::string_view stream, bool last);
  BodyStep name(std::string_view stream, bool last);
  BodyStep between(std::string_view stream, bool last);
  BodyStep parameter_name(std::string_view stream, bool last);
  BodyStep before_value(std::string_view stream, bool last);
  BodyStep value(std::string_view stream, bool last);
  void begin_parameter(std::string_view written);
  void add_to_value(std::string_view stream);
  void end_value();

  CallContext context_;
  std::vector<std::string> name_stops_;
  std::vector<std::string> between_stops_;  // the parameter's begin, the function's end, other ends
  Place place_ = Place::Begin;
  std::string held_;
  std::string name_;
  std::string parameter_;
  bool any_parameter_ = false;
  bool value_open_ = false;
  bool is_text_ = false;      // the value is told as it comes
  bool forced_json_ = false;  // the tag says that it is no string
  bool at_value_begin_ = false;
  bool on_own_lines_ = false;  // a line feed at the value's beginning, and so one at its end
  bool in_cdata_ = false;
  std::string value_;
  std::string gap_;                 // what may have been the value's end
  std::unique_ptr<CallBody> json_;  // where the call is JSON after all
};

}  // namespace mynah
