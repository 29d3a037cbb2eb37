#include "server/access/client_secrets.h"

#include <utility>

namespace mynah::server {

Result<std::string> ClientSecrets::make(Grant grant) {
  MYNAH_TRY(const std::string letters, random_letters());
  std::string secret = "ek_" + letters;  // as OpenAI's begin
  const Clock::time_point now = now_();
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [now](const auto& entry) { return entry.second.until <= now; });
  constexpr size_t kMost = 4096;
  if (waiting_.size() >= kMost) {
    return fail(ErrorCode::Busy, "many client secrets wait to be used; ask again in a minute");
  }
  waiting_.emplace(digest_of_key(secret), Waiting{.grant = std::move(grant), .until = now + kLife});
  return secret;
}

std::optional<ClientSecrets::Grant> ClientSecrets::redeem(std::string_view secret) {
  const std::string digest = digest_of_key(secret);
  const std::lock_guard lock(mutex_);
  auto used = waiting_.extract(digest);
  if (used.empty() || used.mapped().until <= now_()) {
    return std::nullopt;
  }
  return std::move(used.mapped().grant);
}

}  // namespace mynah::server
