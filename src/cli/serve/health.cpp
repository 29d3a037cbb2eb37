#include "cli/serve/health.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "store/http.h"

namespace mynah::cli {
namespace {

constexpr int kOk = 200;

// Why it is not healthy; "": it is.
std::string fault_of(const Result<HttpResponse>& answer) {
  if (!answer) {
    return answer.error().message;
  }
  if (answer->status == kOk) {
    return {};
  }
  const std::string reason = answer->header("x-mynah-reason");
  return reason.empty() ? fmt::format("it answers {}", answer->status) : reason;
}

}  // namespace

void HealthCommand::fields(Fields& fields) {
  fields.option("url", "ADDRESS", url_, "The server's address, with its base path.");
  fields
      .option("ca-file", "PATH", ca_file_,
              "Certificates to trust besides the system's, of a server with its own.")
      .completes(Complete::Files);
  fields.flag("ready", ready_,
              "Also whether models compute, or could be opened where none is: what keeps a load "
              "balancer from sending requests.");
}

std::string HealthCommand::details() const {
  return "The exit code is 0 where the server is healthy, else 1, as HEALTHCHECK of a container\n"
         "wants it. No key is needed, and asking keeps no model loaded.\n";
}

Result<int> HealthCommand::run(Context& context) {
  while (url_.ends_with('/')) {
    url_.pop_back();
  }
  const std::string url = url_ + (ready_ ? "/health/ready" : "/health/live");
  HttpOptions options;
  options.ca_file = ca_file_;
  options.max_redirects = 0;
  HttpRequest request;
  request.url = url;
  const auto answer = http_get(
      request, options, [](const HttpResponse& /*head*/) { return Status(); },
      [](std::span<const std::byte> /*piece*/) { return Status(); }, context.stop);
  const std::string fault = fault_of(answer);
  if (context.json) {
    context.out.line(nlohmann::ordered_json{
        {"url", url},
        {"healthy", fault.empty()},
        {"status", answer ? nlohmann::ordered_json(answer->status) : nullptr},
        {"reason", fault.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(fault)}}
                         .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else if (fault.empty()) {
    context.out.line("healthy");
  } else {
    context.say(fmt::format("{}: {}", url, fault));
  }
  return fault.empty() ? 0 : 1;
}

}  // namespace mynah::cli
