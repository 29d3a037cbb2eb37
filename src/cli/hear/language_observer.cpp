#include "cli/hear/language_observer.h"

#include <fmt/format.h>

#include "cli/command/error_json.h"

namespace mynah::cli {

void LanguageObserver::on_done(size_t job, const Result<Transcript>& result) {
  if (job + 1 == names_.size()) {
    last_look_.take();
  }
  if (!result) {
    failures_.push_back(result.error().code);
    context_.say_of(names_[job], result.error().message);
  }
  if (context_.json) {
    nlohmann::ordered_json json = {{"file", names_[job]}};
    if (result) {
      json["language"] = result->language;
      json["language_probability"] = result->language_probability;
    } else {
      json["error"] = error_json(result.error());
    }
    json["placement"] = placement_json(placer_);
    context_.out.line(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else if (result) {
    context_.out.line(fmt::format("{}: {} (p = {:.2f})", names_[job], result->language,
                                  result->language_probability));
  }
}

int LanguageObserver::finish() {
  const Status& right = last_look_.take();
  if (!right) {
    context_.say(right.error().message);
  }
  if (context_.stop.stop_requested()) {
    return context_.stopped_exit_code();
  }
  return right ? exit_code_of(failures_, names_.size()) : exit_code(right.error().code);
}

}  // namespace mynah::cli
