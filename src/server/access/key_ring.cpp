#include "server/access/key_ring.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace mynah::server {
namespace {

using std::chrono::milliseconds;

constexpr double kMinute_s = 60;
constexpr milliseconds kSoon{1000};  // until one of those under way may be over

constexpr double kLeastAudio_s = 1;  // that may be asked for once a share has flowed back

// Until so much of what flows back in a minute is there.
milliseconds until_refilled(double wanted, double a_minute) {
  constexpr double kRounding_ms = 1e-3;  // of sums of shares
  return milliseconds(
      static_cast<int64_t>(std::ceil(1e3 * kMinute_s * wanted / a_minute - kRounding_ms)));
}

KeyRing::Full reached(const std::string& owner, std::string_view limit, milliseconds wait) {
  return {.wait = wait,
          .message = fmt::format("the key {} has {}: ask again in {:.1f} s", owner, limit,
                                 std::chrono::duration<double>(wait).count())};
}

}  // namespace

Result<std::unique_ptr<KeyRing>> KeyRing::open(KeySources sources, Now now) {
  if (sources.must_be_there) {
    const auto kept = read_keys(sources.file);
    const ErrorCode code = kept ? ErrorCode::Usage : kept.error().code;
    if (code == ErrorCode::NotFound || code == ErrorCode::Io) {
      return fail(
          ErrorCode::Environment,
          fmt::format("--key-file: {}; without it everybody could ask: `mynah keys add NAME "
                      "--key-file {}` makes one",
                      kept.error().message, sources.file));
    }
  }
  std::unique_ptr<KeyRing> ring(new KeyRing(std::move(sources), std::move(now)));
  MYNAH_TRY_STATUS(ring->reload());
  return ring;
}

Status KeyRing::reload() {
  std::vector<Key> keys;
  keys.reserve(sources_.secrets.size());
  for (size_t i = 0; i < sources_.secrets.size(); ++i) {
    keys.push_back({.name = fmt::format("environment-{}", i + 1),
                    .digest = digest_of_key(sources_.secrets[i]),
                    .limits = {},
                    .made = {}});
  }
  if (!sources_.file.empty()) {
    auto kept = read_keys(sources_.file);
    if (kept) {
      std::ranges::move(*kept, std::back_inserter(keys));
    } else if (kept.error().code != ErrorCode::NotFound) {
      return std::unexpected(std::move(kept).error());
    }
  }
  const std::lock_guard lock(mutex_);
  if (keys.empty() && !keys_.empty()) {
    return fail(
        ErrorCode::NotFound,
        fmt::format("{} has no keys any more: those that it had stay until the server ends, "
                    "as everybody could ask without any",
                    sources_.file));
  }
  keys_ = std::move(keys);
  return {};
}

bool KeyRing::empty() const {
  const std::lock_guard lock(mutex_);
  return keys_.empty();
}

std::optional<KeyRing::Owner> KeyRing::find(std::string_view key) const {
  const std::string digest = digest_of_key(key);
  const std::lock_guard lock(mutex_);
  // How long comparing digests takes says nothing of the key that one would have to find to it.
  const auto found = std::ranges::find(keys_, digest, &Key::digest);
  if (key.empty() || found == keys_.end()) {
    return std::nullopt;
  }
  return Owner{.name = found->name, .rights = found->rights};
}

void KeyRing::refill(Share& share, double a_minute, Clock::time_point now) {
  const double passed_s =
      share.seen == Clock::time_point()
          ? kMinute_s
          : std::chrono::duration<double>(now - share.seen).count();  // at first all of it
  share.left = std::min(a_minute, share.left + a_minute * passed_s / kMinute_s);
  share.seen = now;
}

KeyLimits KeyRing::limits_of(const std::string& owner) const {
  const auto key = std::ranges::find(keys_, owner, &Key::name);
  return key == keys_.end() ? KeyLimits() : key->limits;
}

std::optional<KeyRing::Full> KeyRing::begin(const std::string& owner) {
  const Clock::time_point now = now_();
  const std::lock_guard lock(mutex_);
  const KeyLimits limits = limits_of(owner);
  Usage& usage = usage_[owner];
  refill(usage.requests, limits.requests, now);
  refill(usage.audio, limits.audio_s, now);
  if (limits.at_once > 0 && usage.under_way >= limits.at_once) {
    return reached(owner, fmt::format("{} requests under way, its limit at once", limits.at_once),
                   kSoon);
  }
  if (limits.requests > 0 && usage.requests.left < 1) {
    return reached(owner, fmt::format("had its {} requests a minute", limits.requests),
                   until_refilled(1 - usage.requests.left, limits.requests));
  }
  if (limits.audio_s > 0 && usage.audio.left <= 0) {
    return reached(owner, fmt::format("had its {} seconds of audio a minute", limits.audio_s),
                   until_refilled(kLeastAudio_s - usage.audio.left, limits.audio_s));
  }
  usage.requests.left -= limits.requests > 0 ? 1 : 0;
  ++usage.under_way;
  return std::nullopt;
}

void KeyRing::end(const std::string& owner) {
  const std::lock_guard lock(mutex_);
  Usage& usage = usage_[owner];
  usage.under_way -= usage.under_way > 0 ? 1 : 0;
}

void KeyRing::spend(const std::string& owner, double audio_s) {
  const Clock::time_point now = now_();
  const std::lock_guard lock(mutex_);
  if (const double a_minute = limits_of(owner).audio_s; a_minute > 0) {
    Share& share = usage_[owner].audio;
    refill(share, a_minute, now);
    share.left -= audio_s;
  }
}

std::optional<milliseconds> KeyRing::wait_for_audio(const std::string& owner) {
  const Clock::time_point now = now_();
  const std::lock_guard lock(mutex_);
  const double a_minute = limits_of(owner).audio_s;
  if (a_minute <= 0) {
    return std::nullopt;
  }
  Share& share = usage_[owner].audio;
  refill(share, a_minute, now);
  return share.left > 0 ? std::nullopt
                        : std::optional(until_refilled(kLeastAudio_s - share.left, a_minute));
}

KeyRing::AllLeft KeyRing::left_to(const std::string& owner) {
  const Clock::time_point now = now_();
  const std::lock_guard lock(mutex_);
  const KeyLimits limits = limits_of(owner);
  Usage& usage = usage_[owner];
  const auto left = [now](Share& share, double a_minute) -> std::optional<Left> {
    if (a_minute <= 0) {
      return std::nullopt;
    }
    refill(share, a_minute, now);
    return Left{.limit = a_minute,
                .left = std::max(0.0, share.left),
                .full = until_refilled(a_minute - share.left, a_minute)};
  };
  return {.requests = left(usage.requests, limits.requests),
          .audio_s = left(usage.audio, limits.audio_s)};
}

Result<std::unique_ptr<Visit>> Visit::begin(KeyRing& keys, std::string owner) {
  if (auto full = keys.begin(owner)) {
    return fail(ErrorCode::Busy, std::move(full->message));
  }
  return std::unique_ptr<Visit>(new Visit(keys, std::move(owner)));
}

}  // namespace mynah::server
