#include "chat/reply/call_body.h"

#include "base/check.h"
#include "chat/reply/gemma_body.h"
#include "chat/reply/json_body.h"
#include "chat/reply/llama_body.h"
#include "chat/reply/named_body.h"
#include "chat/reply/python_body.h"
#include "chat/reply/tagged_body.h"

namespace mynah {

std::unique_ptr<CallBody> make_call_body(const CallContext& context) {
  switch (context.format.shape) {
    case CallShape::Json:
    case CallShape::Keyed:
      return std::make_unique<JsonBody>(context, false);
    case CallShape::Named:
      return std::make_unique<NamedBody>(context);
    case CallShape::Tagged:
      return std::make_unique<TaggedBody>(context);
    case CallShape::Python:
      return std::make_unique<PythonBody>(context);
    case CallShape::Llama:
      return std::make_unique<LlamaBody>(context);
    case CallShape::Gemma:
      return std::make_unique<GemmaBody>(context);
    case CallShape::Harmony:
      break;
  }
  MYNAH_CHECK(context.format.shape != CallShape::Harmony, "channels are no markers around a call");
  return nullptr;
}

std::unique_ptr<CallBody> make_bare_call_body(const CallContext& context) {
  return std::make_unique<JsonBody>(context, true);
}

}  // namespace mynah
