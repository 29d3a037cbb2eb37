// PulseConnection: a sound server that is asked and listened to on one thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "audio/device/open_device.h"
#include "audio/device/pulse_library.h"
#include "base/result.h"

namespace mynah {

// A context and its main loop. Callbacks run inside serve() and finish(), on the thread that calls
// them, which is the only one.
class PulseConnection {
 public:
  // Connects to `server` (as PULSE_SERVER says it; empty: the user's own) and waits at most five
  // seconds for its answer; `meanwhile` is called every few milliseconds. No server is started.
  // Environment where none answers: what was asked, what it said, and what to do.
  static Result<std::unique_ptr<PulseConnection>> open(const PulseApi& api,
                                                       const std::string& server,
                                                       const std::function<void()>& meanwhile = {});

  PulseConnection(const PulseConnection&) = delete;
  PulseConnection& operator=(const PulseConnection&) = delete;
  ~PulseConnection();

  // Runs what is due, or waits at most `limit` for something.
  void serve(std::chrono::milliseconds limit);

  // Whether the server is still there.
  [[nodiscard]] bool alive() const;

  // Serves until the operation has ended, at most two seconds; false: it did not. Takes it over.
  bool finish(pa_operation* operation);

  // The last failure's name in words: "Connection refused".
  [[nodiscard]] std::string error() const;

  // Of its own: "pulseaudio 16.1".
  [[nodiscard]] std::string server_name();

  // Its microphones, with the monitors of loudspeakers last, then its loudspeakers.
  [[nodiscard]] std::vector<SoundChoice> devices();

  [[nodiscard]] pa_context* context() const { return context_; }

  [[nodiscard]] const PulseApi& api() const { return api_; }

 private:
  explicit PulseConnection(const PulseApi& api) : api_(api) {}

  PulseApi api_;
  pa_mainloop* loop_ = nullptr;
  pa_context* context_ = nullptr;
};

}  // namespace mynah
