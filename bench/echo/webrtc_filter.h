// The filter that lost: webrtc-audio-processing 0.3, what browsers had before AEC3.
#pragma once

#include <memory>

#include "audio/echo/echo_filter.h"

namespace mynah::bench {

// Its canceller, delay-agnostic and with its long filter, its suppressor at the middle level, its
// high pass and a little noise suppression. It gives nothing before its suppressor: `cleaned` is
// `quieted`.
std::unique_ptr<echo::EchoFilter> make_webrtc_filter();

}  // namespace mynah::bench
