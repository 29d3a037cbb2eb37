// What is asked of a job, as the journal keeps it.
#pragma once

#include <string>

#include "server/http/body.h"
#include "speech/recognizer_options.h"

namespace mynah::server {

// Of a form that transcriptions take.
[[nodiscard]] std::string job_parameters(Task task, const std::string& file_name, const Body& body);

struct JobParameters {
  Task task = Task::Transcribe;
  std::string file_name;
  Body body;  // its fields; no files
};

// InvalidInput where it is not what job_parameters() wrote.
[[nodiscard]] Result<JobParameters> parse_job_parameters(const std::string& text);

}  // namespace mynah::server
