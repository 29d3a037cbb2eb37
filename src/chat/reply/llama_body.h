// What Llama 3 writes behind its <|python_tag|>: a call in JSON, f.call(a="x"), or Python code,
// which is a call of the interpreter.
#pragma once

#include <memory>
#include <string_view>

#include "chat/reply/call_body.h"

namespace mynah {

class LlamaBody : public CallBody {
 public:
  explicit LlamaBody(const CallContext& context) : context_(context) {}

  [[nodiscard]] BodyStep take(std::string_view stream, bool last) override;
  [[nodiscard]] std::string_view held() const override;

 private:
  BodyStep begin(std::string_view stream, bool last);
  BodyStep code(std::string_view stream, bool last);

  CallContext context_;
  std::unique_ptr<CallBody> call_;
  bool is_code_ = false;
};

}  // namespace mynah
