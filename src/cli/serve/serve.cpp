#include "cli/serve/serve.h"

#include <optional>
#include <stop_token>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "chat/choice_ranges.h"
#include "cli/models/surroundings.h"
#include "cli/placement/engine_fields.h"
#include "cli/serve/hangup.h"
#include "cli/serve/keys.h"
#include "cli/serve/lan.h"
#include "cli/serve/service_manager.h"
#include "server/net/activation.h"

namespace mynah::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKeysVariable = "MYNAH_API_KEYS";

// A path that stands before others: "/x".
Status check_base_path(std::string& path) {
  while (path.ends_with('/')) {
    path.pop_back();
  }
  if (!path.empty() && !path.starts_with('/')) {
    return fail(ErrorCode::Usage,
                fmt::format("--base-path: wanted a path such as /mynah, found '{}'", path));
  }
  return {};
}

// Sockets that a service manager opened: those called "wyoming" are for its clients.
Status take_passed_sockets(const Environment& environment, server::ServerOptions& options) {
  MYNAH_TRY(const auto sockets, server::passed_sockets(environment));
  for (const server::PassedSocket& socket : sockets) {
    (socket.name.contains("wyoming") ? options.wyoming_passed : options.network.passed)
        .push_back(socket.fd);
  }
  if (!sockets.empty() && options.wyoming_passed.empty()) {
    options.wyoming_port = 0;
  }
  return {};
}

// What it does since the first signal to stop.
std::string stopping_text(size_t requests) {
  const std::string first = requests == 0 ? std::string("stopping, once what is under way is done")
                            : requests == 1 ? std::string("finishing one request")
                                            : fmt::format("finishing {} requests", requests);
  return first + "; nobody new is taken; a second signal (Ctrl-C) ends it at once";
}

}  // namespace

void ServeCommand::fields(Fields& fields) {
  fields.option("host", "ADDRESS", options_.network.host,
                "Where to listen: an address, a name, or the path of a Unix socket. Others than "
                "this machine are let in by 0.0.0.0, and with a key.");
  fields.option("port", "N", options_.network.port, "The port to listen on; 0: any that is free.")
      .shorter('p');
  fields.option("wyoming-port", "N", options_.wyoming_port,
                "The port for clients of the Wyoming protocol, such as Home Assistant; 0: none.");
  fields.flag("wyoming-endpointing", options_.wyoming_endpointing,
              "Find here where somebody is done speaking, and answer clients of Wyoming then; else "
              "they say.");
  fields.names("wyoming-allow", "RANGE", options_.wyoming_allow,
               "Addresses besides this machine whose clients of Wyoming are let in, such as "
               "192.168.0.0/16: they show no key.");
  fields.flag("open", options_.open,
              "Let other machines ask without a key: everybody who reaches this one.");
  fields
      .option("key-file", "FILE", options_.keys.file,
              "The keys that clients may have, as mynah keys keeps them, which must be there; "
              "empty: keys.json in mynah's configuration folder, where there is one.")
      .completes(Complete::Files);
  fields
      .option("tls-cert", "FILE", options_.network.tls.certificate,
              "Speak HTTPS with this certificate (PEM, its chain behind it); needs --tls-key.")
      .completes(Complete::Files);
  fields.option("tls-key", "FILE", options_.network.tls.key, "The certificate's key (PEM).")
      .completes(Complete::Files);
  fields.flag("lan", lan_,
              "Let devices of this network in: HTTPS with a certificate of its own, a key, and a "
              "link and QR code for them.");
  fields.names("cors", "ORIGIN", options_.gate.cors,
               "Pages of other sites that may ask, such as https://talk.example.");
  fields.names("host-name", "NAME", options_.gate.names,
               "Names by which clients know this server, besides its own and its addresses.");
  fields.names("alias", "NAME=MODEL", aliases_,
               "What is meant by a model's name that clients use.");
  fields.flag("strict-models", options_.service.strict,
              "Refuse models that are not here; else the default is taken, which the answer "
              "names.");
  fields.flag("share-texts", options_.service.share_texts,
              "Hear a recording once that is sent again while it is heard, or within ten minutes; "
              "--no-share-texts hears it each time.");
  fields.flag("quiet", quiet_, "No line a request.").shorter('q');
  fields
      .option("access-log", "PATH", access_log_,
              "Where the line of each request goes in place of standard error; opened anew at "
              "SIGHUP.")
      .completes(Complete::Files);
  fields.option("base-path", "PATH", options_.base_path,
                "A path that a proxy puts before all others, such as /mynah.");
  jobs_.declare(fields);
  fields.section("Models and devices");
  fields
      .option("model", "NAME", options_.service.model,
              "The model that hears where a request names none that is here; auto: the newest.")
      .shorter('m')
      .completes(Complete::Models);
  vad_model_field(fields, options_.service.vad_model);
  fields
      .option("voice-model", "NAME", options_.service.voice_model,
              "The model that speaks; auto: whichever has the voice.")
      .completes(Complete::Models);
  fields
      .option("lexicon", "FILE", options_.service.lexicon,
              "Your own words, to hear and to say: lines of word, tab, phonemes (Kokoro's or IPA).")
      .completes(Complete::Files);
  fields
      .option("voice", "NAME", options_.service.voice,
              "The voice where a request names none that is here; empty: the best.")
      .completes(Complete::Voices);
  fields
      .option("chat-model", "NAME", options_.service.chat_model,
              "The language model where a request names none that is here; auto: the newest.")
      .completes(Complete::Models);
  fields
      .option("chat-context", "N", options_.service.chat_context,
              "Tokens that a conversation may have; 0: as many as its model was trained for; none: "
              "8192, or fewer where memory is short.")
      .within(choice::kTokens.least, choice::kTokens.most);
  fields
      .option("embedding-model", "NAME", options_.service.embedding_model,
              "The model that makes vectors where a request names none that is here; auto: the "
              "newest.")
      .completes(Complete::Models);
  engine::PlacementWish& placement = options_.service.placement;
  device_field(fields, placement.device, std::string(kDeviceHelp));
  layers_field(fields, placement);
  limit_fields(fields, placement);
  arithmetic_fields(fields, placement);
}

std::string ServeCommand::details() const {
  return "Clients of OpenAI's API are told the address with /v1 behind it.\n\n"
         "Keys that clients may have are made by mynah keys add NAME, or stand in MYNAH_API_KEYS\n"
         "with commas between them: they are never given on a command line, which every user of\n"
         "the machine can read.\n\n"
         "With --json where it listens and each request that is over are an object a line on\n"
         "standard output.\n\n"
         "The first SIGTERM or Ctrl-C lets what is under way come to its end, the second ends "
         "it.\n"
         "SIGHUP has the keys read and the log opened anew. Sockets that systemd passes are taken\n"
         "in place of --host and --port, one called wyoming in place of --wyoming-port.\n\n" +
         device_details();
}

Result<std::vector<server::Alias>> ServeCommand::read_aliases() const {
  std::vector<server::Alias> aliases;
  for (const std::string& text : aliases_) {
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
      return fail(
          ErrorCode::Usage,
          fmt::format("--alias: wanted NAME=MODEL, such as whisper-1=base, found '{}'", text));
    }
    aliases.push_back({.name = text.substr(0, equals), .model = text.substr(equals + 1)});
  }
  return aliases;
}

void ServeCommand::reload(const Context& context, server::Server& server, AccessLog& log,
                          const std::string& what) {
  tell_of_reload(context.environment);
  bool all = true;
  for (const Status& read : {server.reload(), log.reopen()}) {
    if (!read) {
      context.say(fmt::format("not read again: {}", read.error().message));
      all = false;
    }
  }
  if (all) {
    context.say(fmt::format("read again: {}", what));
  }
  tell_service_manager(context.environment, "READY=1");
}

Result<int> ServeCommand::run(Context& context) {
  constexpr int kMostPort = 65535;
  if (options_.network.port < 0 || options_.network.port > kMostPort) {
    return fail(ErrorCode::Usage, fmt::format("--port: wanted a number from 0 to {}, found {}",
                                              kMostPort, options_.network.port));
  }
  engine::ChatWish writes;
  writes.model = options_.service.chat_model;
  writes.context = options_.service.chat_context;
  if (const Status right = engine::check_context(writes, context.environment); !right) {
    return fail(right.error().code, "--chat-context: " + right.error().message);
  }
  server::ServerOptions options = options_;
  MYNAH_TRY(options.service.aliases, read_aliases());
  if (const auto keys = context.environment.get(kKeysVariable)) {
    options.keys.secrets = split_list(*keys);
  }
  options.keys.must_be_there = !options.keys.file.empty();
  if (options.keys.file.empty()) {
    options.keys.file = usual_key_file(context.environment);
  }
  std::optional<LanStart> lan;
  if (lan_) {
    MYNAH_TRY(lan, open_to_lan(context.environment, options));
  }
  const std::string certificate = options.network.tls.certificate;
  std::string read_again = "the keys of " + options.keys.file;
  if (!certificate.empty()) {
    read_again += ", the certificate " + certificate;
  }
  if (!access_log_.empty()) {
    read_again += fmt::format("; the log {} was opened anew", access_log_);
  }
  options.network.connection.limits.spool_folder = "/var/tmp";
  MYNAH_TRY(options.jobs, jobs_.read(context.environment));
  MYNAH_TRY_STATUS(check_base_path(options.base_path));
  MYNAH_TRY_STATUS(take_passed_sockets(context.environment, options));
  AccessLog log(context.json ? context.out : context.err, context.json);
  if (!access_log_.empty()) {
    MYNAH_TRY_STATUS(log.open(access_log_));
  }
  if (!quiet_ || !access_log_.empty()) {
    options.log = [&log](const server::RequestHead& head, const server::Served& served) {
      log.write(head, served);
    };
  }
  engine::Surroundings surroundings = surroundings_of(context);
  surroundings.may_pull = {};  // nobody who asks sits at this terminal
  MYNAH_TRY(const auto server, server::Server::create(std::move(options), std::move(surroundings)));
  for (const std::string& address : server->addresses()) {
    if (context.json) {
      context.out.line(Json{{"listening", address}}.dump());
    } else {
      context.say(fmt::format("listening on {}", address));
    }
  }
  if (lan && context.json) {
    context.out.line(Json{{"link", lan_link(*lan, server->addresses().front())}}.dump());
  } else if (lan) {
    const std::string reload = context.err.is_terminal()
                                   ? std::string("start this server again")
                                   : fmt::format("`kill -HUP {}`", ::getpid());
    context.say(lan_text(*lan, server->addresses().front(), certificate, reload));
  }
  context.out.flush();
  // Where a terminal is closed nobody is there any more.
  std::optional<Hangup> hangup;
  if (!context.err.is_terminal()) {
    hangup.emplace([&] { reload(context, *server, log, read_again); });
  }
  tell_service_manager(context.environment, "READY=1");
  const std::stop_callback on_stop(
      context.stop, [&context] { tell_service_manager(context.environment, "STOPPING=1"); });
  if (context.take_when_late) {
    context.take_when_late(
        [&context, &server] { context.say(stopping_text(server->under_way())); });
  }
  server->run(context.stop);
  if (context.take_when_late) {
    context.take_when_late({});
  }
  return 0;
}

}  // namespace mynah::cli
