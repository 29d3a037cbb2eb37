#include "cli/serve/serve.h"

#include <chrono>
#include <ctime>
#include <optional>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/models/surroundings.h"
#include "cli/placement/engine_fields.h"
#include "cli/serve/keys.h"
#include "cli/serve/lan.h"

namespace mynah::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKeysVariable = "MYNAH_API_KEYS";

// A line of the access log: never a text, a file's name or a key.
std::string log_line(const server::RequestHead& head, const server::Served& served) {
  const double ms = std::chrono::duration<double, std::milli>(served.took).count();
  return fmt::format("{:%FT%TZ} {} {} {} {} {} bytes, {:.1f} ms{}", fmt::gmtime(std::time(nullptr)),
                     head.peer.empty() ? "unix" : head.peer, head.method, head.path, served.status,
                     served.bytes, ms, served.left ? ", left" : "");
}

Json log_json(const server::RequestHead& head, const server::Served& served) {
  return {{"peer", head.peer},
          {"method", head.method},
          {"path", head.path},
          {"status", served.status},
          {"bytes", served.bytes},
          {"milliseconds", std::chrono::duration<double, std::milli>(served.took).count()},
          {"left", served.left}};
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
  fields.names("wyoming-allow", "RANGE", options_.wyoming_allow,
               "Addresses besides this machine whose clients of Wyoming are let in, such as "
               "192.168.0.0/16: they show no key.");
  fields.flag("open", options_.open,
              "Let other machines ask without a key: everybody who reaches this one.");
  fields
      .option("key-file", "FILE", options_.keys.file,
              "The keys that clients may have, as mynah keys keeps them; empty: keys.json in "
              "mynah's configuration folder, where there is one.")
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
  fields.flag("quiet", quiet_, "No line a request.").shorter('q');
  fields.section("Models and devices");
  fields
      .option("model", "NAME", options_.service.model,
              "The model that hears where a request names none that is here; auto: the newest.")
      .shorter('m')
      .completes(Complete::Models);
  fields
      .option("vad-model", "NAME", options_.service.vad_model,
              "Voice detector: one that was pulled, or builtin; auto: silero.")
      .completes(Complete::Models);
  fields
      .option("voice-model", "NAME", options_.service.voice_model,
              "The model that speaks; auto: whichever has the voice.")
      .completes(Complete::Models);
  fields
      .option("voice", "NAME", options_.service.voice,
              "The voice where a request names none that is here; empty: the best.")
      .completes(Complete::Voices);
  engine::PlacementWish& placement = options_.service.placement;
  device_field(fields, placement.device, std::string(kDeviceHelp));
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
         "it.\n\n" +
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

Result<int> ServeCommand::run(Context& context) {
  constexpr int kMostPort = 65535;
  if (options_.network.port < 0 || options_.network.port > kMostPort) {
    return fail(ErrorCode::Usage, fmt::format("--port: wanted a number from 0 to {}, found {}",
                                              kMostPort, options_.network.port));
  }
  server::ServerOptions options = options_;
  MYNAH_TRY(options.service.aliases, read_aliases());
  if (const auto keys = context.environment.get(kKeysVariable)) {
    options.keys.secrets = split_list(*keys);
  }
  if (options.keys.file.empty()) {
    options.keys.file = usual_key_file(context.environment);
  }
  std::optional<LanStart> lan;
  if (lan_) {
    MYNAH_TRY(lan, open_to_lan(context.environment, options));
  }
  const std::string certificate = options.network.tls.certificate;
  options.network.connection.limits.spool_folder = "/var/tmp";
  if (!quiet_) {
    options.log = [&context](const server::RequestHead& head, const server::Served& served) {
      OutputStream& out = context.json ? context.out : context.err;
      out.line(context.json
                   ? log_json(head, served).dump(-1, ' ', false, Json::error_handler_t::replace)
                   : log_line(head, served));
      out.flush();
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
    context.say(lan_text(*lan, server->addresses().front(), certificate));
  }
  context.out.flush();
  server->run(context.stop);
  return 0;
}

}  // namespace mynah::cli
