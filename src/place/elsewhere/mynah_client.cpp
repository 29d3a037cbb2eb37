#include "place/elsewhere/mynah_client.h"

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "place/terms/plain_text.h"
#include "place/wire/wire_types.h"
#include "store/sha256.h"

namespace mynah::place {
namespace {

using std::chrono::milliseconds;

constexpr size_t kLongestReason = 500;
constexpr size_t kMostFacts = size_t{4} << 20;
// Longer than who is told "busy" is to wait where somebody waits for a text.
constexpr milliseconds kMostWait{1000};

std::unexpected<Error> refuse(std::string why) {
  return fail(ErrorCode::Device, std::move(why));
}

Result<std::string> read_key(const std::string& path) {
  std::ifstream file(path);
  std::string key;
  std::getline(file, key);
  key = std::string(trimmed(key, kAsciiSpace));
  if (key.empty()) {
    return refuse(fmt::format("cannot be asked: there is no key in its key file {}", path));
  }
  return key;
}

// What an answer says that is none of frames: OpenAI's error object.
std::string message_in(const std::string& text) {
  const auto told = nlohmann::json::parse(text, nullptr, false);
  const bool has = told.is_object() && told.contains("error") && told["error"].is_object() &&
                   told["error"].contains("message") && told["error"]["message"].is_string();
  return has ? made_plain(told["error"]["message"].get<std::string>(), kLongestReason)
             : std::string();
}

std::unexpected<Error> refusal_of(const HttpAnswer& answer) {
  const std::string message = message_in(answer.text);
  const std::string told = message.empty() ? std::string() : ": " + message;
  switch (answer.head.status) {
    case 401:
    case 403:
      return refuse(
          fmt::format("does not take the key (?key-file=FILE; it wants the right to hear "
                      "or speak){}",
                      told));
    case 404:
      return refuse(message.contains("model")
                        ? "refuses: " + message
                        : "is no mynah that computes for others, or an old one" + told);
    case 409:
      return refuse("refuses" + told);
    case 429:
      return refuse("is busy" + told);
    default:
      return refuse(fmt::format("answers with status {}{}", answer.head.status, told));
  }
}

milliseconds wait_of(const HttpAnswer& answer) {
  const std::string text = answer.head.header("retry-after-ms");
  int64_t wait_ms = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), wait_ms);
  const bool told = !text.empty() && error == std::errc() && end == text.data() + text.size();
  return std::clamp(milliseconds(told ? wait_ms : kMostWait.count()), milliseconds(1), kMostWait);
}

void wait_for(milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, time, [] { return false; });
}

HttpOptions options_of(const AnotherMynah& mynah) {
  HttpOptions options;
  options.ca_file = mynah.ca_file;
  options.fingerprint = mynah.fingerprint;
  options.connect_timeout = milliseconds(2000);
  // Signs of life come four times a second; what is behind this is a watchdog's, who knows how long
  // it should take.
  options.stall_timeout = milliseconds(20000);
  return options;
}

}  // namespace

std::string key_digest(const AnotherMynah& mynah) {
  const auto key = mynah.key_file.empty() ? Result<std::string>() : read_key(mynah.key_file);
  return key && !key->empty() ? sha256_hex(std::as_bytes(std::span(*key))) : std::string();
}

MynahClient::MynahClient(AnotherMynah mynah) : mynah_(std::move(mynah)) {}

Result<HttpAnswer> MynahClient::send(HttpQuestion question, const HttpBodyHandler& on_body,
                                     const std::stop_token& stop) {
  question.headers.emplace_back(kProtocolHeader, std::to_string(kMynahProtocol));
  if (!mynah_.key_file.empty()) {
    MYNAH_TRY(const std::string key, read_key(mynah_.key_file));
    question.headers.emplace_back("Authorization", "Bearer " + key);
  }
  if (http_ == nullptr) {
    const auto url = parse_url(mynah_.address());
    if (!url) {
      return refuse("cannot be asked: " + url.error().message);
    }
    http_ = std::make_unique<HttpClient>(*url, options_of(mynah_));
  }
  auto answer = http_->ask(question, on_body, stop);
  if (!answer) {
    const ErrorCode code = answer.error().code;
    if (code == ErrorCode::Cancelled) {
      return answer;
    }
    const std::string why = made_plain(answer.error().message, kLongestReason);
    return refuse(code == ErrorCode::Environment ? fmt::format("cannot be reached: {}", why)
                  : code == ErrorCode::Io        ? fmt::format("left in the middle: {}", why)
                                                 : fmt::format("failed: {}", why));
  }
  const std::string theirs = answer->head.header(ascii_lower(kProtocolHeader));
  if (answer->head.status == 200 && theirs != std::to_string(kMynahProtocol)) {
    return refuse(fmt::format("speaks protocol {}, and this mynah {}: use the same version of both",
                              theirs.empty() ? "none" : made_plain(theirs, kLongestReason),
                              kMynahProtocol));
  }
  return answer;
}

Result<MynahFacts> MynahClient::facts(const std::stop_token& stop) {
  std::string text;
  const auto on_body = [&text](std::span<const std::byte> piece) -> Status {
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return text.size() <= kMostFacts ? Status{}
                                     : fail(ErrorCode::InvalidInput, "it tells too much");
  };
  MYNAH_TRY(const HttpAnswer answer,
            send({.target = std::string(kFactsRoute), .headers = {}, .type = {}, .body = {}},
                 on_body, stop));
  if (answer.head.status != 200) {
    return refusal_of(answer);
  }
  auto facts = parse_facts(text);
  if (!facts) {
    return refuse("cannot be used: " + facts.error().message);
  }
  return facts;
}

Status MynahClient::ask(std::string_view route, std::span<const std::byte> body,
                        const ResultTaker& on_result, const std::function<void()>& on_sign,
                        const std::stop_token& stop) {
  constexpr int kTries = 2;
  for (int tries = 1;; ++tries) {
    Status refused;
    FrameReader reader([&](FrameKind kind, std::span<const std::byte> bytes) -> Status {
      on_sign();
      Error error;
      if (kind == FrameKind::Refused) {
        if (!read_wire(bytes, error)) {
          return fail(ErrorCode::InvalidInput, "it refuses in bytes that are no reason");
        }
        refused = refuse("failed: " + made_plain(error.message, kLongestReason));
      }
      return kind == FrameKind::Result ? on_result(bytes) : Status{};
    });
    on_sign();
    MYNAH_TRY(
        const HttpAnswer answer,
        send(
            {.target = std::string(route),
             .headers = {},
             .type = std::string(kFramesType),
             .body = body,
             .repeatable = true},
            [&reader](std::span<const std::byte> piece) { return reader.take(piece); }, stop));
    if (answer.head.status == 429 && tries < kTries) {
      wait_for(wait_of(answer), stop);
      continue;
    }
    if (answer.head.status != 200) {
      return refusal_of(answer);
    }
    MYNAH_TRY_STATUS(refused);
    return reader.is_over() ? Status{} : Status(refuse("failed: its answer has no end"));
  }
}

}  // namespace mynah::place
