// Job: a recording that a client left here to be heard, and what became of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace mynah::jobs {

// Values stand in journals.
enum class JobState : uint8_t { Queued = 0, Running = 1, Done = 2, Failed = 3, Cancelled = 4 };

inline constexpr std::array kJobStates = {JobState::Queued, JobState::Running, JobState::Done,
                                          JobState::Failed, JobState::Cancelled};

// "queued".
[[nodiscard]] std::string_view name(JobState state);

// Whether nothing more becomes of it.
[[nodiscard]] constexpr bool has_ended(JobState state) {
  return state == JobState::Done || state == JobState::Failed || state == JobState::Cancelled;
}

// What a client asks for.
struct JobRequest {
  std::string owner;       // the name of its key
  std::string parameters;  // JSON, of whoever hears it
  std::string webhook;     // who is told of its end: a URL; "": nobody
  bool webhook_text = false;
};

// How far it was heard. It is not kept: what was interrupted is heard from its beginning.
struct JobProgress {
  double heard_s = 0;
  std::optional<double> length_s;  // of the recording
  std::string text;                // so far
};

// One of the ways in which a result is written.
struct Rendition {
  std::string format;  // "srt"
  std::string type;    // "text/plain; charset=utf-8"
  std::string text;
};

struct JobResult {
  std::string text;
  double length_s = 0;
  std::string model;
  std::string device;
  std::vector<Rendition> renditions;
};

// None: nobody is to be told, or there is no end to tell of yet.
enum class WebhookState : uint8_t { None = 0, Pending = 1, Delivered = 2, GivenUp = 3 };

// "pending".
[[nodiscard]] std::string_view name(WebhookState state);

// Times are milliseconds since 1970 by the store's clock; 0: not yet.
struct Job {
  int64_t number = 0;  // in the order in which they came
  std::string id;
  JobRequest request;
  JobState state = JobState::Queued;
  int attempts = 0;  // how often it was begun
  int64_t created_ms = 0;
  int64_t started_ms = 0;
  int64_t ended_ms = 0;
  int64_t expires_ms = 0;
  std::optional<Error> error;  // of one that failed
  JobProgress progress;        // of one that is done: all of it
  std::string model;           // that heard it
  std::string device;
  WebhookState webhook_state = WebhookState::None;
  int webhook_tries = 0;
  std::string webhook_error;  // of the last try
};

}  // namespace mynah::jobs
