#include "server/jobs/job_request.h"

#include <nlohmann/json.hpp>

#include "server/http/json_text.h"

namespace mynah::server {

std::string job_parameters(Task task, const std::string& file_name, const Body& body) {
  nlohmann::ordered_json kept = {{"task", task == Task::Translate ? "translate" : "transcribe"},
                                 {"file", file_name},
                                 {"fields", nlohmann::ordered_json::array()}};
  for (const auto& [name, value] : body.fields) {
    kept["fields"].push_back({name, value});
  }
  return json_text(kept);
}

Result<JobParameters> parse_job_parameters(const std::string& text) {
  const auto kept = parse_object(text);
  const auto wrong = fail(ErrorCode::InvalidInput, "what was asked of the job cannot be read");
  if (!kept.is_object() || !kept.contains("task") || !kept["task"].is_string() ||
      !kept.contains("file") || !kept["file"].is_string() || !kept.contains("fields") ||
      !kept["fields"].is_array()) {
    return wrong;
  }
  JobParameters parameters;
  parameters.task = kept["task"] == "translate" ? Task::Translate : Task::Transcribe;
  parameters.file_name = kept["file"];
  for (const auto& field : kept["fields"]) {
    if (!field.is_array() || field.size() != 2 || !field[0].is_string() || !field[1].is_string()) {
      return wrong;
    }
    parameters.body.fields.emplace_back(field[0], field[1]);
  }
  return parameters;
}

}  // namespace mynah::server
