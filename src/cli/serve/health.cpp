#include "cli/serve/health.h"

#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "store/http.h"

namespace mynah::cli {
namespace {

constexpr int kOk = 200;

constexpr std::string_view kLocal = "unix:";

// Why it is not healthy, to be read behind its address; "": it is.
std::string fault_of(const Result<HttpResponse>& answer, const std::string& asked) {
  if (!answer) {
    const std::string doing = fmt::format("GET {}: ", asked);
    const std::string& message = answer.error().message;
    return message.starts_with(doing) ? message.substr(doing.size()) : message;
  }
  if (answer->status == kOk) {
    return {};
  }
  const std::string reason = answer->header("x-mynah-reason");
  return reason.empty() ? fmt::format("it answers {}", answer->status) : reason;
}

}  // namespace

void HealthCommand::fields(Fields& fields) {
  fields.option("url", "ADDRESS", url_,
                "The server's address, with its base path; unix:/PATH of a Unix socket.");
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
  const std::string_view route = ready_ ? "/health/ready" : "/health/live";
  const std::string url = fmt::format("{}{}", url_, route);
  HttpOptions options;
  HttpRequest request;
  request.url = url;
  if (url_.starts_with(kLocal)) {
    options.local_socket = url_.substr(kLocal.size());
    request.url = fmt::format("http://localhost{}", route);
  }
  options.ca_file = ca_file_;
  options.max_redirects = 0;
  const auto answer = http_get(
      request, options, [](const HttpResponse& /*head*/) { return Status(); },
      [](std::span<const std::byte> /*piece*/) { return Status(); }, context.stop);
  const std::string fault = fault_of(answer, request.url);
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
    context.say(fmt::format("{}: {}", options.local_socket.empty() ? url : url_, fault));
  }
  return fault.empty() ? 0 : 1;
}

}  // namespace mynah::cli
