// The streams of one device at a sound server.
#pragma once

#include <memory>
#include <string>

#include "audio/device/duplex.h"
#include "audio/device/pulse_connection.h"

namespace mynah {

// A stream under way, to or from the server. Lives on the connection's thread.
class PulseStream {
 public:
  enum class Direction { Playback, Capture };

  // Begins to make it; `device`: the server's name, empty for the usual one. A named device is kept
  // to: the stream ends with it, where one of the usual device goes to whatever the server chooses.
  PulseStream(PulseConnection& connection, Duplex& duplex, Direction direction,
              const std::string& device);
  PulseStream(const PulseStream&) = delete;
  PulseStream& operator=(const PulseStream&) = delete;
  ~PulseStream();

  // Sound flows, or would if the device were not suspended, and title() is known.
  [[nodiscard]] bool ready() const { return ready_ && known_; }

  // It could not be made or is gone; reason() has the server's words.
  [[nodiscard]] bool failed() const { return failed_; }

  [[nodiscard]] const std::string& reason() const { return reason_; }

  // Whether the device that was asked for is not there.
  [[nodiscard]] bool no_such_device() const { return no_device_; }

  // Asks where the stream stands, unless an answer is due; the duplex is told.
  void ask_time();

  // Asks for the device's title and mute, unless an answer is due; the duplex is told.
  void ask_device();

  [[nodiscard]] const std::string& title() const { return title_; }

 private:
  struct Callbacks;

  void connect(const std::string& device);
  pa_buffer_attr playback_buffer();
  // Asks for a longer buffer where this machine does not keep up with that one.
  void ran_dry();
  void state_changed();
  void fill(size_t bytes);
  void take();
  void moved();
  void suspended();
  void note_time();
  void note_device(const char* description, bool muted);
  void begin();

  PulseConnection& connection_;
  const PulseApi& api_;
  Duplex& duplex_;
  Direction direction_;
  int rate_hz_;
  int asked_ms_ = 0;  // of playback_buffer()
  pa_stream* stream_ = nullptr;
  pa_operation* time_asked_ = nullptr;
  pa_operation* device_asked_ = nullptr;
  bool ready_ = false;
  bool known_ = false;  // the device was asked for and answered
  bool failed_ = false;
  bool no_device_ = false;
  bool suspended_ = false;
  bool moved_ = false;  // its new device's title is not known yet
  std::string reason_;
  std::string title_;
};

}  // namespace mynah
