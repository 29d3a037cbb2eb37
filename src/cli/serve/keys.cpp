#include "cli/serve/keys.h"

#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/nearest_name.h"
#include "cli/serve/lan.h"

namespace mynah::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string limits_text(const server::KeyLimits& limits) {
  std::vector<std::string> all;
  if (limits.requests > 0) {
    all.push_back(fmt::format("{:g} requests a minute", limits.requests));
  }
  if (limits.audio_s > 0) {
    all.push_back(fmt::format("{:g} s of audio a minute", limits.audio_s));
  }
  if (limits.at_once > 0) {
    all.push_back(fmt::format("{} at once", limits.at_once));
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

Json described(const server::Key& key) {
  return {{"name", key.name},
          {"rights", server::names_of(key.rights)},
          {"requests_per_minute", key.limits.requests},
          {"audio_seconds_per_minute", key.limits.audio_s},
          {"at_once", key.limits.at_once},
          {"made", key.made}};
}

}  // namespace

std::string usual_key_file(const Environment& environment) {
  return environment.config_folder() + "/keys.json";
}

void KeysCommand::fields(Fields& fields) {
  fields.positional("ACTION", words_, "list (the default), add or remove, then names of keys.")
      .as_optional()
      .offering({"list", "add", "remove"});
  fields
      .option("key-file", "FILE", file_,
              "Where keys are kept; empty: keys.json in mynah's configuration folder.")
      .completes(Complete::Files);
  fields
      .list("rights", "RIGHT", rights_,
            "add: what the key is good for: hear, speak, think, jobs, models (pull, load and "
            "remove them) and admin (metrics, devices).")
      .offering(server::names_of(server::kAllRights))
      .once();
  fields
      .option("requests-per-minute", "N", limits_.requests,
              "add: so many requests a minute; 0: any number.")
      .once();
  fields
      .option("audio-per-minute", "SECONDS", limits_.audio_s,
              "add: so many seconds of audio a minute, heard and spoken; 0: any number.")
      .once();
  fields.option("at-once", "N", limits_.at_once, "add: so many requests at once; 0: any number.")
      .once();
  fields
      .option("link", "ADDRESS", link_,
              "add: the server's address, such as https://192.168.1.7:8080: a link with the key is "
              "shown, and a QR code of it.")
      .once();
}

std::string KeysCommand::details() const {
  return "Actions:\n"
         "  list             whose keys there are, never the keys\n"
         "  add NAME         makes a key and prints it, once: kept is its SHA-256\n"
         "  remove NAME ...  no longer lets those keys ask\n\n"
         "A server that runs reads the file again at SIGHUP (systemctl reload mynah), or when it\n"
         "is started again.\n";
}

Result<int> KeysCommand::run(Context& context) {
  if (file_.empty()) {
    file_ = usual_key_file(context.environment);
  }
  const std::string action = words_.empty() ? "list" : words_.front();
  if (action == "list") {
    return list(context);
  }
  if (action == "add") {
    return add(context);
  }
  if (action == "remove") {
    return remove(context);
  }
  const std::vector<std::string> actions = {"list", "add", "remove"};
  return fail(ErrorCode::Usage, fmt::format("wanted list, add or remove, found '{}'{}", action,
                                            suggestion(action, actions)));
}

Result<int> KeysCommand::list(Context& context) const {
  if (words_.size() > 1) {
    return fail(ErrorCode::Usage, fmt::format("list takes no names, found '{}'", words_[1]));
  }
  MYNAH_TRY(const std::vector<server::Key> keys, server::kept_keys(file_));
  for (const server::Key& key : keys) {
    if (context.json) {
      context.out.line(described(key).dump());
    } else {
      const std::string limits = limits_text(key.limits);
      context.out.line(fmt::format("{:<16} {} {}{}{}", key.name, key.made,
                                   fmt::join(server::names_of(key.rights), ","),
                                   limits.empty() ? "" : "; ", limits));
    }
  }
  if (keys.empty() && !context.json) {
    context.say("no keys yet: `mynah keys add NAME` makes one");
  }
  return 0;
}

Result<int> KeysCommand::add(Context& context) const {
  if (words_.size() != 2) {
    return fail(ErrorCode::Usage,
                fmt::format("add: wanted one name, such as kitchen, found {}", words_.size() - 1));
  }
  MYNAH_TRY_STATUS(check_link());
  server::Key key;
  key.name = words_[1];
  if (const Status named = server::check_key_name(key.name); !named) {
    return fail(ErrorCode::Usage, "add: " + named.error().message);
  }
  const auto rights = server::parse_rights(rights_);
  if (!rights) {
    return fail(ErrorCode::Usage, "--" + rights.error().message);
  }
  key.rights = *rights;
  key.limits = limits_;
  MYNAH_TRY(const std::string secret, server::add_key(file_, key));
  if (context.json) {
    Json json = described(key);
    json.erase("made");
    json["key"] = secret;
    if (!link_.empty()) {
      json["link"] = link_with_key(link_, secret);
    }
    context.out.line(json.dump());
  } else {
    context.out.line(secret);
    context.say(
        fmt::format("this is shown once; what is kept in {} does not tell it. A server that runs "
                    "knows it after `systemctl reload mynah`, or `kill -HUP` of its process",
                    file_));
    if (!link_.empty()) {
      const std::string link = link_with_key(link_, secret);
      context.say(fmt::format("{}\n{}", link, qr_code(link)));
    }
  }
  return 0;
}

Status KeysCommand::check_link() const {
  if (link_.empty() || link_.starts_with("https://") || link_.starts_with("http://")) {
    return {};
  }
  return fail(ErrorCode::Usage,
              fmt::format("--link: wanted the server's address, such as https://192.168.1.7:8080, "
                          "found '{}'",
                          link_));
}

Result<int> KeysCommand::remove(Context& context) const {
  if (words_.size() < 2) {
    return fail(ErrorCode::Usage, "remove: wanted the names of keys");
  }
  const std::span<const std::string> names(words_.begin() + 1, words_.end());
  MYNAH_TRY_STATUS(server::remove_keys(file_, names));
  if (context.json) {
    context.out.line(Json{{"removed", std::vector(names.begin(), names.end())}}.dump());
  }
  return 0;
}

}  // namespace mynah::cli
