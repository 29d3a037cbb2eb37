// Calls written as a name, a separator and JSON arguments: f[ARGS]{..}.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chat/reply/call_body.h"
#include "chat/reply/json_scan.h"

namespace mynah {

class NamedBody : public CallBody {
 public:
  explicit NamedBody(const CallContext& context);

  [[nodiscard]] BodyStep take(std::string_view stream, bool last) override;

  [[nodiscard]] std::string_view held() const override { return list_ ? list_->held() : held_; }

 private:
  enum class Place { Begin, Name, Id, BeforeArguments, Arguments, List };

  BodyStep step(std::string_view stream, bool last);
  BodyStep begin_call(std::string_view stream);
  BodyStep word(std::string_view stream, bool last);
  BodyStep before_arguments(std::string_view stream, bool last);
  BodyStep arguments(std::string_view stream);
  void tell_begin();

  CallContext context_;
  std::vector<std::string> stops_;  // separators, id separators, the call's end markers
  Place place_ = Place::Begin;
  std::string held_;
  std::string name_;
  std::string id_;
  JsonScan scan_;
  std::unique_ptr<CallBody> list_;  // where the call is JSON after all: Mistral's older models
};

}  // namespace mynah
