// What stands between the markers of a call, read as it comes: one class a shape of calls.
#pragma once

#include <memory>
#include <string_view>

#include "chat/reply/reply_format.h"
#include "chat/reply/reply_writer.h"
#include "chat/reply/tool_schemas.h"

namespace mynah {

struct BodyStep {
  enum class State {
    More,    // the call goes on
    Done,    // it is whole; what was not taken stands behind it
    Broken,  // it is not as its format wants it from the first byte that was not taken
  };
  size_t taken = 0;  // bytes of the stream
  State state = State::More;
};

class CallBody {
 public:
  CallBody() = default;
  CallBody(const CallBody&) = delete;
  CallBody& operator=(const CallBody&) = delete;
  virtual ~CallBody() = default;

  // Reads on. `stream` (reply_markers.h) begins where the last one was taken to. With `last`
  // nothing follows it. Any cut of a stream is read the same.
  [[nodiscard]] virtual BodyStep take(std::string_view stream, bool last) = 0;

  // What was taken and belongs to no call that was begun.
  [[nodiscard]] virtual std::string_view held() const { return {}; }
};

// Takes step after step of a stream, until one ends the call, or takes nothing and leaves the body
// in the place where it was.
template <class Place, class Step>
[[nodiscard]] BodyStep take_steps(std::string_view stream, const Place& place, const Step& step) {
  BodyStep whole;
  while (true) {
    const Place before = place;
    const BodyStep one = step(stream.substr(whole.taken));
    whole.taken += one.taken;
    whole.state = one.state;
    if (one.state != BodyStep::State::More || (place == before && one.taken == 0)) {
      return whole;
    }
  }
}

// What bodies are made with; it outlives them.
struct CallContext {
  const CallFormat& format;
  const ToolSchemas& tools;
  ReplyWriter& writer;
};

// The body behind the format's begin marker.
[[nodiscard]] std::unique_ptr<CallBody> make_call_body(const CallContext& context);

// A JSON object where no marker stood: a call only if it names one of the tools.
[[nodiscard]] std::unique_ptr<CallBody> make_bare_call_body(const CallContext& context);

}  // namespace mynah
