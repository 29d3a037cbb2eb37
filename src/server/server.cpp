#include "server/server.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "server/access/addresses.h"
#include "server/compat/asr_webservice.h"
#include "server/compat/ollama.h"
#include "server/compat/whisper_cpp.h"
#include "server/http/errors.h"
#include "server/net/activation.h"
#include "server/wyoming/session.h"

namespace mynah::server {
namespace {

Result<std::vector<AddressRange>> parse_ranges(const std::vector<std::string>& texts) {
  std::vector<AddressRange> ranges;
  for (const std::string& text : texts) {
    auto range = AddressRange::parse(text);
    if (!range) {
      return fail(ErrorCode::Usage, "--wyoming-allow: " + range.error().message);
    }
    ranges.push_back(*range);
  }
  return ranges;
}

// In the words of the interface that was asked.
Response tell_error(const RequestHead& head, const Error& error) {
  if (head.path == "/inference" || head.path == "/load") {
    return whisper_cpp_error(error);
  }
  if (head.path == "/asr" || head.path == "/detect-language") {
    return asr_error(error);
  }
  if (head.path.starts_with("/api/")) {
    return ollama_error(error);
  }
  return openai_error(error);
}

void count(const RequestHead& head, const Served& served, Metrics& metrics) {
  metrics.count_request(head.route, served);
  if (head.work == nullptr) {
    return;
  }
  if (const auto waited = head.work->waited()) {
    metrics.count_waited(head.work->does(), std::chrono::duration<double>(*waited).count());
  }
}

}  // namespace

Result<std::unique_ptr<Server>> Server::create(ServerOptions options,
                                               engine::Surroundings surroundings) {
  std::string host = options.network.host;
  for (const int fd : options.network.passed) {
    host = is_this_machine(host) ? host_of(fd) : host;
  }
  std::unique_ptr<Server> server(new Server());
  const std::string key_file = options.keys.must_be_there ? options.keys.file : std::string();
  MYNAH_TRY(server->keys_, KeyRing::open(std::move(options.keys)));
  if (!is_this_machine(host) && server->keys_->empty() && !options.open) {
    return fail(ErrorCode::Usage,
                "--host " + host +
                    " lets other machines ask: wanted a key that they must have (mynah keys add "
                    "NAME makes one), or --open where everybody who reaches this machine may");
  }
  options.gate.names.push_back(host);
  if (!key_file.empty() && server->keys_->empty()) {
    surroundings.note(
        {.code = "no-keys",
         .text =
             fmt::format("{} has no key: every program that reaches this server may ask", key_file),
         .remedy = fmt::format("'mynah keys add NAME --key-file {}' makes one", key_file)});
  }
  const auto tell = [note = surroundings.tell](const std::string& text) {
    if (note) {
      note({.code = "jobs", .text = text, .remedy = {}});
    }
  };
  MYNAH_TRY(server->service_, Service::create(std::move(options.service), std::move(surroundings)));
  Service& service = *server->service_;
  MYNAH_TRY(server->jobs_, JobService::create(options.jobs, service, options.media_program, tell));
  server->make_turns(options);
  server->make_router(options);
  server->encrypted_ = options.network.tls.any();
  MYNAH_TRY(server->network_, Network::listen(std::move(options.network), *server->router_));
  if (options.wyoming_port != 0 || !options.wyoming_passed.empty()) {
    MYNAH_TRY_STATUS(server->listen_for_wyoming(options, host));
  }
  service.metrics().watch([counted = server->network_.get()](Exposition& to) {
    const NetworkCounts counts = counted->counts();
    to.gauge("mynah_connections", "Clients that are connected.");
    to.sample(static_cast<double>(counts.connections));
    to.gauge("mynah_request_threads", "Threads that are at work for requests.");
    to.sample(static_cast<double>(counts.requests));
  });
  return server;
}

void Server::make_turns(ServerOptions& options) {
  turns_.emplace(TurnPlaces{.board = service_->board(),
                            .keys = *keys_,
                            .log = [metrics = &service_->metrics(), log = std::move(options.log)](
                                       const RequestHead& head, const Served& served) {
                              count(head, served, *metrics);
                              if (log) {
                                log(head, served);
                              }
                            }});
}

void Server::make_router(ServerOptions& options) {
  router_ = std::make_unique<Router>(all_routes({.service = *service_,
                                                 .jobs = *jobs_,
                                                 .secrets = secrets_,
                                                 .turns = *turns_,
                                                 .media_program = options.media_program,
                                                 .framed = !options.base_path.empty()}),
                                     Gate(std::move(options.gate), *keys_, secrets_, tell_error),
                                     tell_error);
  router_->set_base_path(std::move(options.base_path));
  router_->show_on(service_->board());
  router_->retry_after([asked = service_.get()] { return asked->estimated_wait(); });
  router_->log_to(turns_->log);
}

Status Server::listen_for_wyoming(const ServerOptions& options, const std::string& host) {
  // Whoever speaks Wyoming shows no key: its address must do.
  MYNAH_TRY(auto allowed, parse_ranges(options.wyoming_allow));
  const bool wide = options.open && !is_this_machine(host);
  const std::string wyoming_host = wide ? host : allowed.empty() ? "127.0.0.1" : "0.0.0.0";
  const Network::Admits admits = [wide, allowed = std::move(allowed)](const std::string& peer) {
    return wide || is_this_machine(peer) ||
           std::ranges::any_of(allowed,
                               [&peer](const AddressRange& range) { return range.contains(peer); });
  };
  // Files are looked into now: clients ask what is here, and wait a second for it at most.
  static_cast<void>(service_->hearing_models());
  const auto make = wyoming_sessions(*service_, *turns_, options.wyoming_endpointing);
  if (!options.wyoming_passed.empty()) {
    return network_->listen_also(options.wyoming_passed, make, admits);
  }
  MYNAH_TRY_STATUS(network_->listen_also(wyoming_host, options.wyoming_port, make, admits));
  if (!is_this_machine(wyoming_host)) {
    announcement_ = Announcement::of_wyoming(options.wyoming_port);
  }
  return {};
}

Status Server::reload() {
  MYNAH_TRY_STATUS(keys_->reload());
  return network_->reload();
}

std::vector<std::string> Server::addresses() const {
  std::vector<std::string> all = network_->addresses();
  for (std::string& address : all) {
    address.insert(0, address.starts_with('/') ? "unix:" : encrypted_ ? "https://" : "http://");
  }
  for (const std::string& address : network_->other_addresses()) {
    all.push_back("tcp://" + address);  // as Wyoming's programs name theirs
  }
  return all;
}

void Server::run(const std::stop_token& stop) {
  const std::stop_callback on_stop(stop, [this] {
    jobs_->stop();
    network_->stop();
  });
  network_->run();
}

}  // namespace mynah::server
