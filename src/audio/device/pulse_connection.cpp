#include "audio/device/pulse_connection.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace mynah {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kConnectLimit{5000};
constexpr milliseconds kAnswerLimit{2000};
constexpr milliseconds kTurn{10};

// What a server told of itself.
struct ServerFacts {
  std::string name;
  std::string source;  // the usual ones
  std::string sink;
};

std::string text_of(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

void note_server(pa_context* /*context*/, const pa_server_info* info, void* facts) {
  if (info != nullptr) {
    *static_cast<ServerFacts*>(facts) = {
        .name = fmt::format("{} {}", text_of(info->server_name), text_of(info->server_version)),
        .source = text_of(info->default_source_name),
        .sink = text_of(info->default_sink_name)};
  }
}

// A source or a sink of the server.
struct PulseEnd {
  std::string name;
  std::string title;
  bool muted = false;
  bool monitor = false;
};

void note_source(pa_context* /*context*/, const pa_source_info* info, int /*end*/, void* ends) {
  if (info != nullptr) {
    static_cast<std::vector<PulseEnd>*>(ends)->push_back(
        {.name = text_of(info->name),
         .title = text_of(info->description),
         .muted = info->mute != 0,
         .monitor = info->monitor_of_sink != PA_INVALID_INDEX});
  }
}

void note_sink(pa_context* /*context*/, const pa_sink_info* info, int /*end*/, void* ends) {
  if (info != nullptr) {
    static_cast<std::vector<PulseEnd>*>(ends)->push_back({.name = text_of(info->name),
                                                          .title = text_of(info->description),
                                                          .muted = info->mute != 0});
  }
}

}  // namespace

Result<std::unique_ptr<PulseConnection>> PulseConnection::open(
    const PulseApi& api, const std::string& server, const std::function<void()>& meanwhile) {
  std::unique_ptr<PulseConnection> connection(new PulseConnection(api));
  connection->loop_ = api.mainloop_new();
  pa_proplist* const about = api.proplist_new();
  api.proplist_sets(about, PA_PROP_APPLICATION_NAME, "mynah");
  api.proplist_sets(about, PA_PROP_APPLICATION_ICON_NAME, "audio-input-microphone");
  connection->context_ =
      api.context_new_with_proplist(api.mainloop_get_api(connection->loop_), "mynah", about);
  api.proplist_free(about);
  const auto refused = [&](const std::string& reason) {
    return fail(
        ErrorCode::Environment,
        fmt::format("no sound server answers{} ({}): start PipeWire or PulseAudio, or name a "
                    "device of ALSA's: alsa:default",
                    server.empty() ? "" : " at " + server, reason));
  };
  if (api.context_connect(connection->context_, server.empty() ? nullptr : server.c_str(),
                          PA_CONTEXT_NOAUTOSPAWN, nullptr) < 0) {
    return refused(connection->error());
  }
  const auto deadline = steady_clock::now() + kConnectLimit;
  for (;;) {
    const pa_context_state_t state = api.context_get_state(connection->context_);
    if (state == PA_CONTEXT_READY) {
      return connection;
    }
    if (!PA_CONTEXT_IS_GOOD(state)) {
      return refused(connection->error());
    }
    if (steady_clock::now() > deadline) {
      return refused(fmt::format("it said nothing for {} s", kConnectLimit.count() / 1000));
    }
    connection->serve(kTurn);
    if (meanwhile) {
      meanwhile();
    }
  }
}

PulseConnection::~PulseConnection() {
  if (context_ != nullptr) {
    api_.context_disconnect(context_);
    api_.context_unref(context_);
  }
  if (loop_ != nullptr) {
    api_.mainloop_free(loop_);
  }
}

void PulseConnection::serve(milliseconds limit) {
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(limit).count();
  if (api_.mainloop_prepare(loop_, static_cast<int>(microseconds)) >= 0 &&
      api_.mainloop_poll(loop_) >= 0) {
    api_.mainloop_dispatch(loop_);
  }
}

bool PulseConnection::alive() const {
  return PA_CONTEXT_IS_GOOD(api_.context_get_state(context_)) != 0;
}

bool PulseConnection::finish(pa_operation* operation) {
  if (operation == nullptr) {
    return false;
  }
  const auto deadline = steady_clock::now() + kAnswerLimit;
  while (api_.operation_get_state(operation) == PA_OPERATION_RUNNING && alive() &&
         steady_clock::now() < deadline) {
    serve(kTurn);
  }
  const bool done = api_.operation_get_state(operation) == PA_OPERATION_DONE;
  if (!done) {
    api_.operation_cancel(operation);  // its callback's place is about to go
  }
  api_.operation_unref(operation);
  return done;
}

std::string PulseConnection::error() const {
  return api_.strerror(api_.context_errno(context_));
}

std::string PulseConnection::server_name() {
  ServerFacts facts;
  finish(api_.context_get_server_info(context_, note_server, &facts));
  return facts.name;
}

std::vector<SoundChoice> PulseConnection::devices() {
  ServerFacts facts;
  finish(api_.context_get_server_info(context_, note_server, &facts));
  std::vector<PulseEnd> sources;
  std::vector<PulseEnd> sinks;
  finish(api_.context_get_source_info_list(context_, note_source, &sources));
  finish(api_.context_get_sink_info_list(context_, note_sink, &sinks));
  std::ranges::stable_sort(sources, {}, &PulseEnd::monitor);
  std::vector<SoundChoice> choices;
  choices.reserve(sources.size() + sinks.size());
  for (const PulseEnd& source : sources) {
    choices.push_back({.name = "pulse:" + source.name,
                       .title = source.title,
                       .microphone = true,
                       .usual = source.name == facts.source,
                       .muted = source.muted});
  }
  for (const PulseEnd& sink : sinks) {
    choices.push_back({.name = "pulse:" + sink.name,
                       .title = sink.title,
                       .loudspeaker = true,
                       .usual = sink.name == facts.sink,
                       .muted = sink.muted});
  }
  return choices;
}

}  // namespace mynah
