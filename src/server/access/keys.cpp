#include "server/access/keys.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/atomic_file.h"
#include "base/nearest_name.h"
#include "server/http/json_text.h"
#include "store/files.h"
#include "store/json_fields.h"
#include "store/sha256.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

std::unexpected<Error> wrong(const std::string& what) {
  return fail(ErrorCode::InvalidInput, "not a file of keys: " + what);
}

// A limit of a key's; 0 where there is none.
Result<double> limit_of(const Json& limits, const char* name) {
  const auto found = limits.find(name);
  if (found == limits.end()) {
    return 0.0;
  }
  constexpr double kMost = 1e9;
  const double value = found->is_number() ? found->get<double>() : -1.0;
  if (!(value >= 0) || value > kMost) {
    return wrong(
        fmt::format("{}: wanted a number from 0 to {:.0f}, found {}", name, kMost, found->dump()));
  }
  return value;
}

Result<Key> parse_key(const Json& json) {
  Key key;
  key.name = text_field(json, "name");
  key.digest = text_field(json, "sha256");
  key.made = text_field(json, "made");
  MYNAH_TRY_STATUS(check_key_name(key.name));
  if (!is_sha256(key.digest)) {
    return wrong(
        fmt::format("{}: wanted sha256 of 64 small hexadecimal digits, found none", key.name));
  }
  if (const auto rights = json.find("rights"); rights != json.end()) {
    std::vector<std::string> names;
    for (const Json& name : *rights) {
      names.push_back(name.is_string() ? name.get<std::string>() : name.dump());
    }
    MYNAH_TRY(key.rights, parse_rights(names));
  }
  if (const auto limits = json.find("limits"); limits != json.end()) {
    if (!limits->is_object()) {
      return wrong(fmt::format("{}: wanted an object as limits", key.name));
    }
    MYNAH_TRY(key.limits.requests, limit_of(*limits, "requests_per_minute"));
    MYNAH_TRY(key.limits.audio_s, limit_of(*limits, "audio_seconds_per_minute"));
    MYNAH_TRY(const double at_once, limit_of(*limits, "at_once"));
    key.limits.at_once = static_cast<uint32_t>(at_once);
  }
  return key;
}

// Two processes that change a file of keys at once would lose one's.
Result<FileLock> lock_of(const std::string& path) {
  MYNAH_TRY_STATUS(make_folders(std::filesystem::path(path).parent_path().string()));
  return FileLock::take(path + ".lock");
}

}  // namespace

Result<RandomBytes> random_bytes() {
  RandomBytes random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    return fail(ErrorCode::Environment,
                fmt::format("the system gives no random numbers: {}", std::strerror(errno)));
  }
  return random;
}

Result<std::string> random_letters() {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz234567";  // RFC 4648, section 6
  MYNAH_TRY(const RandomBytes random, random_bytes());
  std::string letters;
  for (const std::byte byte : random) {
    letters += kLetters[std::to_integer<size_t>(byte) % kLetters.size()];
  }
  return letters;
}

Result<std::string> new_key() {
  MYNAH_TRY(const std::string letters, random_letters());
  return "mynah-" + letters;
}

std::string digest_of_key(std::string_view key) {
  return sha256_hex(std::as_bytes(std::span(key)));
}

Result<Rights> parse_rights(std::span<const std::string> names) {
  Rights rights;
  for (const std::string& name : names) {
    const auto* const found =
        std::ranges::find(kRightNames, name, &std::pair<std::string_view, Right>::first);
    if (found == kRightNames.end()) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("rights: wanted {}, found '{}'",
                              fmt::join(names_of(kAllRights), ", "), name));
    }
    rights.add(found->second);
  }
  return rights;
}

std::vector<std::string> names_of(Rights rights) {
  std::vector<std::string> names;
  for (const auto& [name, right] : kRightNames) {
    if (rights.has(right)) {
      names.emplace_back(name);
    }
  }
  return names;
}

Status check_key_name(std::string_view name) {
  constexpr size_t kMost = 64;
  const auto may_stand = [](char c) {
    return is_ascii_alnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
  };
  if (name.empty() || name.size() > kMost || !std::ranges::all_of(name, may_stand) ||
      !is_ascii_alnum(static_cast<unsigned char>(name.front()))) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("a key's name: wanted up to {} letters, digits, '-', '_' and '.', "
                            "a letter or digit first, found '{}'",
                            kMost, name));
  }
  return {};
}

Result<std::vector<Key>> parse_keys(std::string_view text) {
  const Json json = parse_object(text);
  const auto rows = json.is_object() ? json.find("keys") : json.end();
  if (rows == json.end() || !rows->is_array()) {
    return wrong(R"(wanted {"keys": [...]})");
  }
  std::vector<Key> keys;
  for (const Json& row : *rows) {
    MYNAH_TRY(Key key, parse_key(row));
    if (std::ranges::find(keys, key.name, &Key::name) != keys.end()) {
      return wrong(fmt::format("two keys are called {}", key.name));
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

std::string keys_text(std::span<const Key> keys) {
  Json rows = Json::array();
  for (const Key& key : keys) {
    Json row = {{"name", key.name}, {"sha256", key.digest}, {"rights", names_of(key.rights)}};
    Json limits = Json::object();
    const auto limit = [&limits](const char* name, double value) {
      if (value > 0) {
        limits[name] = value;
      }
    };
    limit("requests_per_minute", key.limits.requests);
    limit("audio_seconds_per_minute", key.limits.audio_s);
    limit("at_once", key.limits.at_once);
    if (!limits.empty()) {
      row["limits"] = std::move(limits);
    }
    if (!key.made.empty()) {
      row["made"] = key.made;
    }
    rows.push_back(std::move(row));
  }
  return Json{{"keys", std::move(rows)}}.dump(1) + "\n";
}

Result<std::vector<Key>> read_keys(const std::string& path) {
  constexpr uint64_t kMost = 16U << 20U;
  MYNAH_TRY(const std::string text, read_text_file(path, kMost));
  auto keys = parse_keys(text);
  if (!keys) {
    return std::unexpected(std::move(keys).error().while_doing(path));
  }
  return keys;
}

Result<std::vector<Key>> kept_keys(const std::string& path) {
  auto keys = read_keys(path);
  return !keys && keys.error().code == ErrorCode::NotFound ? std::vector<Key>() : keys;
}

Status write_keys(const std::string& path, std::span<const Key> keys) {
  MYNAH_TRY_STATUS(make_folders(std::filesystem::path(path).parent_path().string()));
  MYNAH_TRY(AtomicFile file, AtomicFile::create_private(path));
  // Root makes keys for a server that runs as another: the one that its folder belongs to.
  const std::string parent = std::filesystem::path(path).parent_path().string();
  struct stat folder{};
  if (::geteuid() == 0 && ::stat(parent.empty() ? "." : parent.c_str(), &folder) == 0) {
    static_cast<void>(::fchown(file.descriptor(), folder.st_uid, folder.st_gid));
  }
  MYNAH_TRY_STATUS(file.write(keys_text(keys)));
  return file.commit();
}

Result<std::string> add_key(const std::string& path, Key key) {
  MYNAH_TRY_STATUS(check_key_name(key.name));
  MYNAH_TRY(const FileLock lock, lock_of(path));
  MYNAH_TRY(std::vector<Key> keys, kept_keys(path));
  if (std::ranges::find(keys, key.name, &Key::name) != keys.end()) {
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("there is a key {0} in {1}: `mynah keys remove {0} --key-file {1}` takes "
                    "it away",
                    key.name, path));
  }
  MYNAH_TRY(std::string secret, new_key());
  key.digest = digest_of_key(secret);
  key.made = fmt::format("{:%F}", fmt::gmtime(std::time(nullptr)));
  keys.push_back(std::move(key));
  MYNAH_TRY_STATUS(write_keys(path, keys));
  return secret;
}

Status remove_keys(const std::string& path, std::span<const std::string> names) {
  MYNAH_TRY(const FileLock lock, lock_of(path));
  MYNAH_TRY(std::vector<Key> keys, kept_keys(path));
  std::vector<std::string> known;
  std::ranges::transform(keys, std::back_inserter(known), &Key::name);
  for (const std::string& name : names) {
    if (std::erase_if(keys, [&](const Key& key) { return key.name == name; }) == 0) {
      return fail(ErrorCode::Environment,
                  fmt::format("there is no key {}{}", name, suggestion(name, known)));
    }
  }
  return write_keys(path, keys);
}

}  // namespace mynah::server
