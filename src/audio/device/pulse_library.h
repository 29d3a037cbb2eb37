// libpulse, opened at run time: PulseAudio's client library, which PipeWire serves too.
#pragma once

#include <memory>

#include <pulse/pulseaudio.h>

#include "base/result.h"

namespace mynah {

// FUNCTION(name) for each function pa_name that mynah calls; all are in libpulse since 0.9.16.
#define MYNAH_PULSE_FUNCTIONS(FUNCTION)     \
  FUNCTION(context_connect)                 \
  FUNCTION(context_disconnect)              \
  FUNCTION(context_errno)                   \
  FUNCTION(context_get_server_info)         \
  FUNCTION(context_get_sink_info_by_name)   \
  FUNCTION(context_get_sink_info_list)      \
  FUNCTION(context_get_source_info_by_name) \
  FUNCTION(context_get_source_info_list)    \
  FUNCTION(context_get_state)               \
  FUNCTION(context_new_with_proplist)       \
  FUNCTION(context_set_subscribe_callback)  \
  FUNCTION(context_subscribe)               \
  FUNCTION(context_unref)                   \
  FUNCTION(mainloop_dispatch)               \
  FUNCTION(mainloop_free)                   \
  FUNCTION(mainloop_get_api)                \
  FUNCTION(mainloop_new)                    \
  FUNCTION(mainloop_poll)                   \
  FUNCTION(mainloop_prepare)                \
  FUNCTION(operation_cancel)                \
  FUNCTION(operation_get_state)             \
  FUNCTION(operation_unref)                 \
  FUNCTION(proplist_free)                   \
  FUNCTION(proplist_new)                    \
  FUNCTION(proplist_sets)                   \
  FUNCTION(stream_connect_playback)         \
  FUNCTION(stream_connect_record)           \
  FUNCTION(stream_disconnect)               \
  FUNCTION(stream_drop)                     \
  FUNCTION(stream_get_device_name)          \
  FUNCTION(stream_get_state)                \
  FUNCTION(stream_get_timing_info)          \
  FUNCTION(stream_is_suspended)             \
  FUNCTION(stream_new_with_proplist)        \
  FUNCTION(stream_peek)                     \
  FUNCTION(stream_readable_size)            \
  FUNCTION(stream_set_buffer_attr)          \
  FUNCTION(stream_set_moved_callback)       \
  FUNCTION(stream_set_overflow_callback)    \
  FUNCTION(stream_set_read_callback)        \
  FUNCTION(stream_set_state_callback)       \
  FUNCTION(stream_set_suspended_callback)   \
  FUNCTION(stream_set_underflow_callback)   \
  FUNCTION(stream_set_write_callback)       \
  FUNCTION(stream_unref)                    \
  FUNCTION(stream_update_timing_info)       \
  FUNCTION(stream_write)                    \
  FUNCTION(strerror)

// Its functions, none null.
struct PulseApi {
#define MYNAH_PULSE_POINTER(name) decltype(&::pa_##name) name = nullptr;
  MYNAH_PULSE_FUNCTIONS(MYNAH_PULSE_POINTER)
#undef MYNAH_PULSE_POINTER
};

// Opens libpulse.so.0, which is never closed again: it leaves data of its own with threads.
// Environment where it is missing or cannot be used: what was looked for, and what to install.
Result<PulseApi> open_pulse_library();

}  // namespace mynah
