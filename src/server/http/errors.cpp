#include "server/http/errors.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/http/json_text.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

// What of a request does not depend on what is in it may work another time.
bool may_be_tried_again(ErrorCode code) {
  return code == ErrorCode::Busy || code == ErrorCode::Io || code == ErrorCode::Device;
}

const char* openai_type(int status) {
  return status == 401   ? "authentication_error"
         : status == 403 ? "permission_error"
         : status == 429 ? "rate_limit_error"
         : status >= 500 ? "server_error"
                         : "invalid_request_error";
}

const char* openai_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::NotFound:
      return "not_found";
    case ErrorCode::Unsupported:
      return "unsupported";
    case ErrorCode::OutOfMemory:
      return "insufficient_memory";
    case ErrorCode::Device:
      return "device_failed";
    case ErrorCode::Busy:
      return "busy";
    case ErrorCode::Environment:
      return "not_available";
    default:
      return nullptr;
  }
}

// What an option of the command line is called in requests.
struct OptionField {
  std::string_view option;
  std::string_view field;
};

constexpr std::array<OptionField, 9> kOptionFields = {{{"format", "response_format"},
                                                       {"hotwords", "hotwords"},
                                                       {"initial-prompt", "prompt"},
                                                       {"lang", "language"},
                                                       {"language", "language"},
                                                       {"model", "model"},
                                                       {"speed", "speed"},
                                                       {"temperature", "temperature"},
                                                       {"voice", "voice"}}};

// What a command that lists something is as a request.
struct CommandRoute {
  std::string_view command;
  std::string_view route;
};

constexpr std::array<CommandRoute, 2> kCommandRoutes = {
    {{"mynah voices", "GET /v1/audio/voices"}, {"mynah models list --all", "GET /v1/registry"}}};

// An error's message piece by piece, in the words of requests.
class Retelling {
 public:
  // What stands between backquotes.
  void tell_command(std::string_view command) {
    const auto route = std::ranges::find_if(kCommandRoutes, [command](const CommandRoute& one) {
      return command == one.command || command.starts_with(std::string(one.command) + " --");
    });
    if (route != kCommandRoutes.end()) {
      told_ += route->route;
      return;
    }
    told_ += fmt::format("`{}`", command);
    for_owner_ = for_owner_ || command.starts_with("mynah ");
  }

  // What does not.
  void tell_prose(std::string_view left) {
    for_owner_ = for_owner_ || left.contains("'mynah ");
    while (true) {
      const size_t at = left.find("--");
      told_ += left.substr(0, at);
      if (at == std::string_view::npos) {
        return;
      }
      left.remove_prefix(at + 2);
      const std::string_view option =
          left.substr(0, left.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"));
      const auto field = std::ranges::find(kOptionFields, option, &OptionField::option);
      if (field != kOptionFields.end()) {
        told_ += field->field;
      } else {
        told_ += fmt::format("--{}", option);
        for_owner_ = for_owner_ || (!option.empty() && option.front() != '-');
      }
      left.remove_prefix(option.size());
    }
  }

  [[nodiscard]] std::string told() && {
    if (told_.contains("--raw")) {
      told_ += " (over HTTP: send samples with a header, as a WAV has one)";
    } else if (for_owner_ && !told_.contains("server")) {
      told_ += " (by whoever runs the server)";
    }
    return std::move(told_);
  }

 private:
  std::string told_;
  bool for_owner_ = false;  // something in it is no client's to do
};

// The field that a message begins with, as they do that are about one; "": none.
std::string field_of(std::string_view message) {
  const std::string_view begin = message.substr(0, message.find(": "));
  const bool known =
      begin.size() < message.size() &&
      (begin == "input" ||
       std::ranges::find(kOptionFields, begin, &OptionField::field) != kOptionFields.end());
  return known ? std::string(begin) : std::string();
}

}  // namespace

int error_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidInput:
    case ErrorCode::Unsupported:
    case ErrorCode::Usage:
      return 400;
    case ErrorCode::NotFound:
      return 404;
    case ErrorCode::Cancelled:
      return 499;
    case ErrorCode::Busy:
      return 429;
    case ErrorCode::OutOfMemory:
    case ErrorCode::Device:
    case ErrorCode::Environment:
      return 503;
    case ErrorCode::Io:
      return 500;
  }
  return 500;
}

std::string client_message(const Error& error) {
  Retelling retelling;
  std::string_view left = error.message;
  while (!left.empty()) {
    const size_t begin = left.find('`');
    retelling.tell_prose(left.substr(0, begin));
    const size_t end = begin == std::string_view::npos ? begin : left.find('`', begin + 1);
    if (end == std::string_view::npos) {
      retelling.tell_prose(begin == end ? std::string_view() : left.substr(begin));
      break;
    }
    retelling.tell_command(left.substr(begin + 1, end - begin - 1));
    left.remove_prefix(end + 1);
  }
  return std::move(retelling).told();
}

void set_retry_after(Response& response, std::chrono::milliseconds wait) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait);  // HTTP knows no less
  response.headers.set("Retry-After", std::to_string(seconds.count()));
  response.headers.set("retry-after-ms", std::to_string(wait.count()));
}

std::string openai_error_text(const Error& error, const std::string& param,
                              const std::string& code) {
  const std::string message = client_message(error);
  Json told = {{"message", message},
               {"type", openai_type(error_status(error.code))},
               {"param", nullptr},
               {"code", nullptr}};
  if (const std::string field = param.empty() ? field_of(message) : param; !field.empty()) {
    told["param"] = field;
  }
  if (!code.empty()) {
    told["code"] = code;
  } else if (const char* own = openai_code(error.code)) {
    told["code"] = own;
  }
  return json_text({{"error", told}});
}

Response openai_error(const Error& error, const std::string& param, const std::string& code) {
  Response response;
  response.status = error_status(error.code);
  response.body = openai_error_text(error, param, code) + "\n";
  if (!may_be_tried_again(error.code)) {
    response.headers.set("x-should-retry", "false");
  }
  return response;
}

}  // namespace mynah::server
