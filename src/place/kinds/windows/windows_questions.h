// What a mynah asks another of windows: the fields, and what of them can be answered at all. It
// comes over a network: nothing of it is believed.
#pragma once

#include <string>
#include <vector>

#include "place/kinds/windows/windows_wire.h"
#include "speech/hearing.h"
#include "speech/recognizer_options.h"

namespace mynah::place {

// kWindowsRoute -> for each task a HeardAnswer, in the order in which they are heard. Without tasks
// the model is opened, and nothing is heard.
struct WindowsQuestion {
  std::string digest;  // of the model
  bool draft = false;  // a draft of each will do
  bool urgent = false;
  DecodingOptions options;
  std::vector<WindowTask> tasks;  // whose samples lie in the question's bytes
};

struct HeardAnswer {
  uint32_t task = 0;
  HeardWindow heard;
  WindowTimings spent;
};

// kProbeRoute -> Probe, of the model's own sound. That is sent along and not heard, so that what is
// timed is what a request takes.
struct ProbeQuestion {
  std::string digest;
  std::vector<float> sound;
};

template <class Archive>
void wire(Archive& a, WindowsQuestion& v) {
  a(v.digest, v.draft, v.urgent, v.options, v.tasks);
}

template <class Archive>
void wire(Archive& a, HeardAnswer& v) {
  a(v.task, v.heard, v.spent);
}

template <class Archive>
void wire(Archive& a, ProbeQuestion& v) {
  a(v.digest, v.sound);
}

// The most tasks of a question, and the most bytes of their samples: what a server takes of a body,
// with room for the rest.
inline constexpr size_t kMostTasks = 64;
inline constexpr size_t kMostSampleBytes = size_t{14} << 20;

// Refused: what a model of these facts cannot be asked, or nobody would ask of it. The options are
// for its header to check besides.
[[nodiscard]] Status check_question(const WindowsQuestion& question, const HearingFacts& facts);

}  // namespace mynah::place
