#include "server/http/errors.h"

#include <algorithm>
#include <array>
#include <string_view>

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
  std::string told;
  bool for_owner = error.message.contains("`mynah ") || error.message.contains("'mynah ");
  std::string_view left = error.message;
  while (true) {
    const size_t at = left.find("--");
    told += left.substr(0, at);
    if (at == std::string_view::npos) {
      break;
    }
    left.remove_prefix(at + 2);
    const size_t end = left.find_first_not_of("abcdefghijklmnopqrstuvwxyz-");
    const std::string_view option = left.substr(0, end);
    const auto field = std::ranges::find(kOptionFields, option, &OptionField::option);
    if (field != kOptionFields.end()) {
      told += field->field;
    } else {
      told += fmt::format("--{}", option);
      for_owner = for_owner || (!option.empty() && option.front() != '-');
    }
    left.remove_prefix(option.size());
  }
  if (told.contains("--raw")) {
    told += " (over HTTP: send samples with a header, as a WAV has one)";
  } else if (for_owner && !told.contains("server")) {
    told += " (options and commands are those of whoever runs the server)";
  }
  return told;
}

void set_retry_after(Response& response, std::chrono::milliseconds wait) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait);  // HTTP knows no less
  response.headers.set("Retry-After", std::to_string(seconds.count()));
  response.headers.set("retry-after-ms", std::to_string(wait.count()));
}

std::string openai_error_text(const Error& error, const std::string& param,
                              const std::string& code) {
  Json told = {{"message", client_message(error)},
               {"type", openai_type(error_status(error.code))},
               {"param", nullptr},
               {"code", nullptr}};
  if (!param.empty()) {
    told["param"] = param;
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
