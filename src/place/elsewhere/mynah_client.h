// MynahClient: what is asked of a mynah elsewhere, over a connection that is kept.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "place/elsewhere/frames.h"
#include "place/elsewhere/mynah_facts.h"
#include "place/terms/another_mynah.h"
#include "store/http_client.h"

namespace mynah::place {

// Routes of `mynah serve` for other mynahs.
inline constexpr std::string_view kFactsRoute = "/v1/elsewhere";
inline constexpr std::string_view kWindowsRoute = "/v1/elsewhere/windows";
inline constexpr std::string_view kProbeRoute = "/v1/elsewhere/probe";
inline constexpr std::string_view kVoiceRoute = "/v1/elsewhere/voice";
inline constexpr std::string_view kClauseRoute = "/v1/elsewhere/clause";

// The SHA-256 of the key that is sent; "": none is.
[[nodiscard]] std::string key_digest(const AnotherMynah& mynah);

// One thread at a time. Errors are Device, to be read behind the other's name ("cannot be reached:
// ..."); Cancelled once stop is requested.
class MynahClient {
 public:
  explicit MynahClient(AnotherMynah mynah);

  // Who it is and what it has.
  [[nodiscard]] Result<MynahFacts> facts(const std::stop_token& stop);

  // Asks for something with the bytes of its values. `on_result` takes what comes of it; `on_sign`
  // is called with each sign of life, and may throw. Where the other is busy it waits a moment, and
  // asks once more.
  using ResultTaker = std::function<Status(std::span<const std::byte> bytes)>;
  Status ask(std::string_view route, std::span<const std::byte> body, const ResultTaker& on_result,
             const std::function<void()>& on_sign, const std::stop_token& stop);

  [[nodiscard]] const AnotherMynah& mynah() const { return mynah_; }

 private:
  Result<HttpAnswer> send(HttpQuestion question, const HttpBodyHandler& on_body,
                          const std::stop_token& stop);

  AnotherMynah mynah_;
  std::unique_ptr<HttpClient> http_;  // null: nothing was asked yet
};

}  // namespace mynah::place
